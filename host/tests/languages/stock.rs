//! Each guest composed with `locks.wasm`, under the stock wasmtime command line: twice
//! on one directory of fences.

use std::path::Path;
use std::process::Command;

use crate::guest::{CHAT, at, summaries};
use crate::guests::Place;
use crate::shelf::Shelf;

/// A stock tool, which a variable names.
fn tool(variable: &str) -> Command {
    crate::watchdog();
    let tool = std::env::var_os(variable);
    Command::new(tool.unwrap_or_else(|| panic!("{variable} names a command")))
}

pub fn writes_under_wasmtime(language: &str) {
    let place = Place::new();
    let composed = place.path("composed.wasm");
    let mut plug = tool("WITLOCK_WAC");
    plug.arg("plug").arg(summaries(language));
    plug.args(["--plug", witlock_programs::LOCKS, "-o"])
        .arg(&composed);
    assert!(plug.status().unwrap().success());

    let shelf = Shelf::new(place.path("shelf"));
    let kept = place.path("fences");
    std::fs::create_dir(&kept).unwrap();
    let fences = [1, 2].map(|number| {
        let printed = run(&composed, &kept, shelf.directory());
        assert_eq!(shelf.lines().len(), number);
        shelf.wrote_last(language, &printed)
    });
    assert!(fences[0] < fences[1], "{fences:?}");
}

/// What it prints.
fn run(composed: &Path, fences: &Path, shelf: &Path) -> String {
    let mut run = tool("WITLOCK_WASMTIME");
    run.arg("run").arg("--dir").arg(at("/witlock", fences));
    run.arg("--dir").arg(at("/shelf", shelf));
    let output = run.arg(composed).args([CHAT, "1"]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

// LOCK-02
crate::each_language!(
    "needs the guests of all languages, and the wasmtime and wac commands: .ci/run",
    crate::stock::writes_under_wasmtime
);
