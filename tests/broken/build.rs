//! Copies the engine, breaks it, and builds it.

#[path = "breaks.rs"]
mod breaks;
#[path = "../../host/build/wasm.rs"]
mod wasm;

use std::fs;
use std::path::Path;

/// What the broken engine is made of.
const SOURCES: [&str; 4] = [
    "guest/engine",
    "guest/components/engine",
    "wit/engine",
    "Cargo.lock",
];

fn main() {
    wasm::finish(build());
}

fn build() -> Result<(), String> {
    let workspace = wasm::variable("CARGO_MANIFEST_DIR")?.join("../..");
    wasm::watch([
        "build.rs",
        "breaks.rs",
        "../../host/build",
        "../../Cargo.toml",
    ]);
    wasm::watch(SOURCES.map(|source| workspace.join(source)));
    let copy = wasm::variable("OUT_DIR")?.join("broken");
    let _ = fs::remove_dir_all(&copy);
    for source in SOURCES {
        copy_all(&workspace.join(source), &copy.join(source))?;
    }
    write_workspace(&workspace, &copy)?;
    rename(&copy)?;
    for change in breaks::ALL {
        apply(change, &copy)?;
    }
    let component = wasm::Component {
        package: "witlock-broken-component",
        file: "broken-engine.wasm",
    };
    wasm::build(&copy, "wasm32-unknown-unknown", &[component])
}

/// The workspace's own manifest, with fewer members.
fn write_workspace(workspace: &Path, copy: &Path) -> Result<(), String> {
    let manifest = read(&workspace.join("Cargo.toml"))?;
    let (before, rest) = manifest.split_once("members = [").ok_or("no members")?;
    let (_, after) = rest.split_once(']').ok_or("members without an end")?;
    let members = r#"members = ["guest/engine", "guest/components/engine"]"#;
    write(
        &copy.join("Cargo.toml"),
        &format!("{before}{members}{after}"),
    )
}

/// Cargo knows packages of a workspace by their names and their paths within it.
/// Under its own names the copy would be the engine itself, in the target directory
/// that they share.
fn rename(copy: &Path) -> Result<(), String> {
    const NAMES: [(&str, &str); 2] = [
        ("witlock-engine", "witlock-broken-engine"),
        ("witlock-engine-component", "witlock-broken-component"),
    ];
    for file in [
        "Cargo.lock",
        "guest/engine/Cargo.toml",
        "guest/components/engine/Cargo.toml",
    ] {
        let path = copy.join(file);
        let mut text = read(&path)?;
        for (name, other) in NAMES {
            text = text.replace(&format!("\"{name}\""), &format!("\"{other}\""));
        }
        let depends = "witlock-engine = { path";
        let renamed = "witlock-engine = { package = \"witlock-broken-engine\", path";
        write(&path, &text.replace(depends, renamed))?;
    }
    Ok(())
}

/// A change that fits nowhere, or in several places, is not the one that was
/// meant.
fn apply(change: &breaks::Break, copy: &Path) -> Result<(), String> {
    let path = copy.join(change.file);
    let source = read(&path)?;
    match source.matches(change.from).count() {
        1 => write(&path, &source.replace(change.from, change.to)),
        times => Err(format!(
            "tests/broken/breaks.rs: in {}, this is there {times} times, not once:\n{}",
            change.file, change.from
        )),
    }
}

fn copy_all(from: &Path, to: &Path) -> Result<(), String> {
    if from.is_file() {
        return write(to, &read(from)?);
    }
    let entries = fs::read_dir(from).map_err(|why| format!("{from:?}: {why}"))?;
    for entry in entries {
        let entry = entry.map_err(|why| format!("{from:?}: {why}"))?;
        copy_all(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|why| format!("{path:?}: {why}"))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let written =
        fs::create_dir_all(path.parent().unwrap_or(path)).and_then(|()| fs::write(path, text));
    written.map_err(|why| format!("{path:?}: {why}"))
}
