//! The stock tools, which `.ci/run` installs and names to the tests.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::watchdog;

/// The variable that names the wasmtime command.
pub const WASMTIME: &str = "WITLOCK_WASMTIME";

/// The variable that names the composer.
pub const WAC: &str = "WITLOCK_WAC";

/// The command that a variable names.
#[must_use]
pub fn tool(variable: &str) -> Command {
    watchdog();
    let tool = std::env::var_os(variable);
    Command::new(tool.unwrap_or_else(|| panic!("{variable} names a command")))
}

/// `wasmtime run`, with a directory for the fences if there is one.
#[must_use]
pub fn run(fences: Option<&Path>) -> Command {
    let mut run = tool(WASMTIME);
    run.args(["run", "--allow-precompiled"]);
    if let Some(fences) = fences {
        let mut directory = fences.as_os_str().to_owned();
        directory.push("::/witlock");
        run.arg("--dir").arg(directory);
    }
    run
}

/// A component compiled by wasmtime, so that not every run compiles it.
#[must_use]
pub fn compile(component: &str, into: PathBuf) -> PathBuf {
    let mut compile = tool(WASMTIME);
    compile.args(["compile", component, "-o"]);
    let status = compile.arg(&into).status().expect("wasmtime starts");
    assert!(status.success());
    into
}
