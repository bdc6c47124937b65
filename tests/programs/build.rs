//! Builds the programs, and composes some. Each has its constant in
//! `src/lib.rs`.

#[path = "build/compose.rs"]
mod compose;
#[path = "../../host/build/wasm.rs"]
mod wasm;

use std::path::Path;

use wasm::Component;

/// These import nothing but what their worlds name.
const ENGINES: [Component; 2] = [
    component("witlock-engine-component", "engine.wasm"),
    component("witlock-trapping-engine", "trapping-engine.wasm"),
];

const GUESTS: [Component; 6] = [
    component("witlock-puppet", "puppet.wasm"),
    component("witlock-holder", "holder.wasm"),
    component("witlock-stranger", "stranger.wasm"),
    component("witlock-summaries", "summaries.wasm"),
    component("witlock-clock", "clock.wasm"),
    component("witlock-tasks", "tasks.wasm"),
];

/// What is composed with apps. Built alone: the features that its dependencies
/// have for others are none of its.
const LOCKS: [Component; 1] = [component("witlock-locks-component", "locks.wasm")];

/// The same, by a server.
const CLIENT: [Component; 1] = [component("witlock-client-component", "client.wasm")];

const SOURCES: [&str; 12] = [
    "tests/programs",
    "host/build",
    "host/examples/summaries/guest",
    "host/examples/summaries/wit",
    "guest/engine",
    "guest/session",
    "guest/components/client",
    "guest/components/engine",
    "guest/components/locks",
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
    build_for_wasi(&workspace, &GUESTS, &[])?;
    build_for_wasi(&workspace, &LOCKS, &[])?;
    build_for_wasi(&workspace, &CLIENT, &[])?;
    let sync = component("witlock-locks-component", "locks-0.2.wasm");
    build_for_wasi(&workspace, &[sync], &["--no-default-features"])?;
    let in_time = component("witlock-tasks", "tasks-in-time.wasm");
    build_for_wasi(&workspace, &[in_time], &["--features", "time"])?;
    compose::all(&wasm::variable("OUT_DIR")?)
}

fn build_for_wasi(
    workspace: &Path,
    components: &[Component],
    flags: &[&str],
) -> Result<(), String> {
    wasm::build_with(workspace, "wasm32-wasip2", components, flags)
}
