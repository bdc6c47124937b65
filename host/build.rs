//! Puts `engine.wasm` where the library includes it from: the one that a packaged
//! crate ships, or in the repository one built from `../guest`.

#[path = "build/wasm.rs"]
mod wasm;

use std::path::Path;

const ENGINE: wasm::Component = wasm::Component {
    package: "witlock-engine-component",
    file: "engine.wasm",
};

fn main() {
    wasm::finish(put_engine());
}

fn put_engine() -> Result<(), String> {
    let package = wasm::variable("CARGO_MANIFEST_DIR")?;
    let shipped = package.join("wasm/engine.wasm");
    let workspace = package.join("..");
    wasm::watch(["build.rs", "build"]);
    // In the repository the source is what counts: a component that packaging
    // left behind is soon an old one.
    if workspace.join("guest/components/engine").exists() {
        return build_engine(&workspace);
    }
    if shipped.exists() {
        wasm::watch([&shipped]);
        return wasm::copy(&shipped, ENGINE.file);
    }
    Err(format!(
        "{} is missing, and so is ../guest, from which it could be built",
        shipped.display()
    ))
}

fn build_engine(workspace: &Path) -> Result<(), String> {
    const SOURCES: [&str; 5] = [
        "guest/engine",
        "guest/components/engine",
        "wit/engine",
        "Cargo.toml",
        "Cargo.lock",
    ];
    wasm::watch(SOURCES.map(|source| workspace.join(source)));
    wasm::build(workspace, "wasm32-unknown-unknown", &[ENGINE])
}
