//! Builds the programs. Each has its constant in `src/lib.rs`.

#[path = "../../host/build/wasm.rs"]
mod wasm;

use wasm::Component;

/// These import nothing but what their worlds name.
const ENGINES: [Component; 2] = [
    component("witlock-engine-component", "engine.wasm"),
    component("witlock-trapping-engine", "trapping-engine.wasm"),
];

const GUESTS: [Component; 4] = [
    component("witlock-puppet", "puppet.wasm"),
    component("witlock-holder", "holder.wasm"),
    component("witlock-stranger", "stranger.wasm"),
    component("witlock-summaries", "summaries.wasm"),
];

const SOURCES: [&str; 9] = [
    "tests/programs",
    "host/build",
    "host/examples/summaries/guest",
    "host/examples/summaries/wit",
    "guest/engine",
    "guest/components/engine",
    "wit",
    "Cargo.toml",
    "Cargo.lock",
];

const fn component(package: &'static str, file: &'static str) -> Component {
    Component { package, file }
}

fn main() {
    wasm::finish(build_programs());
}

fn build_programs() -> Result<(), String> {
    let workspace = wasm::variable("CARGO_MANIFEST_DIR")?.join("../..");
    wasm::watch(SOURCES.map(|source| workspace.join(source)));
    wasm::build(&workspace, "wasm32-unknown-unknown", &ENGINES)?;
    wasm::build(&workspace, "wasm32-wasip2", &GUESTS)
}
