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

/// `wasmtime run`, with a server to reach over the network.
#[must_use]
pub fn connected(address: &str, token: &str) -> Command {
    let mut run = run(None);
    run.args(["-S", "inherit-network"]);
    introduce(&mut run, address, token);
    run
}

/// Tells a component where its server is, and what lets it in.
pub fn introduce(run: &mut Command, address: &str, token: &str) {
    run.arg("--env").arg(format!("WITLOCK_CONNECT={address}"));
    // Without its value, which would stand in the argument list.
    run.args(["--env", "WITLOCK_TOKEN"]);
    run.env("WITLOCK_TOKEN", token);
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
