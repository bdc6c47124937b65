//! Reading a component, and saying what is wrong with a file that is none.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Result, anyhow, bail};

use crate::surface::{self, Flaw, Surface};

/// A component that exports a command, and imports only what we have.
pub struct App {
    pub bytes: Vec<u8>,
    /// Which `run` it is called by. If it exports both, by the later, as
    /// wasmtime's own command line does.
    pub run: Run,
}

/// The versions of `wasi:cli/run`.
#[derive(Clone, Copy)]
pub enum Run {
    /// Of WASI 0.2: while it waits, all of the guest stands still.
    Standing,
    /// Of WASI 0.3: an async function.
    Async,
}

/// Reads a component.
pub fn read(path: &Path) -> Result<App> {
    let bytes = fs::read(path).map_err(|error| unreadable(path, error))?;
    match check(&bytes) {
        Ok(run) => Ok(App { bytes, run }),
        Err(error) => Err(error.context(path.display().to_string())),
    }
}

fn unreadable(path: &Path, error: io::Error) -> anyhow::Error {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::NotFound => anyhow!("{path}: there is no such file"),
        io::ErrorKind::IsADirectory => anyhow!("{path}: this is a directory, not a component"),
        _ => anyhow!("{path}: cannot be read: {error}"),
    }
}

fn check(bytes: &[u8]) -> Result<Run> {
    if bytes.is_empty() {
        bail!("the file is empty");
    }
    if !bytes.starts_with(b"\0asm") && !b"\0asm".starts_with(bytes) {
        bail!(no_wasm(bytes));
    }
    let surface = surface::read(bytes).map_err(|flaw| flawed(flaw, bytes.len()))?;
    check_imports(&surface)?;
    check_exports(&surface)
}

fn no_wasm(bytes: &[u8]) -> &'static str {
    match std::str::from_utf8(bytes) {
        Ok(_) => {
            "this is text, not a component. Of WebAssembly text `wasm-tools parse` makes a component"
        }
        Err(_) => "this is not WebAssembly",
    }
}

fn flawed(flaw: Flaw, length: usize) -> anyhow::Error {
    match flaw {
        Flaw::Module => anyhow!(
            "this is a core module, not a component. Compile for a target that makes components \
             (Rust: `cargo build --target wasm32-wasip2`), or make one of it with \
             `wasm-tools component new` and its `--adapt`"
        ),
        Flaw::CutShort => anyhow!(
            "the file was cut short: it ends in the middle of a component, after {length} bytes. \
             Build or copy it again"
        ),
        Flaw::Malformed(error) => anyhow!("this is not a valid component: {error}"),
    }
}

fn check_imports(surface: &Surface) -> Result<()> {
    let imports = surface.imports.iter().map(String::as_str);
    let missing: Vec<_> = imports.filter(|name| !is_offered(name)).collect();
    if !missing.is_empty() {
        bail!(
            "it imports {}, which `witlock run` does not have. Compose it with a component that \
             does (`wac plug`)",
            list(&missing)
        );
    }
    Ok(())
}

/// The packages that the linker gets, of WASI 0.2 and, but for `wasi:io`, whose
/// streams are the component model's own since, of 0.3. An interface or a
/// function that one of them lacks is found by linking.
const OFFERED: [&str; 7] = [
    "witlock:locks",
    "wasi:cli",
    "wasi:clocks",
    "wasi:filesystem",
    "wasi:io",
    "wasi:random",
    "wasi:sockets",
];

fn is_offered(name: &str) -> bool {
    package(name).is_some_and(|(package, version)| {
        let is_known = version == "0.2" || version.starts_with("0.2.");
        OFFERED.contains(&package)
            && (is_known || (is_of_wasi_0_3(version) && package != "wasi:io"))
    })
}

fn is_of_wasi_0_3(version: &str) -> bool {
    version == "0.3" || version.starts_with("0.3.")
}

/// The package and version of `package/interface@version`.
fn package(name: &str) -> Option<(&str, &str)> {
    let (interface, version) = name.split_once('@')?;
    let (package, _) = interface.split_once('/')?;
    Some((package, version))
}

fn check_exports(surface: &Surface) -> Result<Run> {
    let runs = |version| {
        let exports = |name: &String| name.starts_with(&format!("wasi:cli/run@{version}."));
        surface.exports.iter().any(exports)
    };
    if runs("0.3") {
        return Ok(Run::Async);
    }
    if runs("0.2") {
        check_calls_of_0_2(surface)?;
        return Ok(Run::Standing);
    }
    bail!(
        "it is not a command: it exports neither wasi:cli/run@0.2 nor wasi:cli/run@0.3, {}",
        match surface.exports.as_slice() {
            [] => "and nothing else either".to_owned(),
            exports => format!("only {}", list(exports)),
        }
    )
}

/// A call of an async function out of `run@0.2`, which is none, traps.
fn check_calls_of_0_2(surface: &Surface) -> Result<()> {
    let locks = surface.imports.iter().find(|name| {
        package(name)
            .is_some_and(|(package, version)| package == "witlock:locks" && is_of_wasi_0_3(version))
    });
    if let Some(locks) = locks {
        bail!(
            "it imports {locks}, whose functions are async, but exports wasi:cli/run@0.2, out of \
             which such cannot be called: export wasi:cli/run@0.3, or import \
             witlock:locks/locks@0.2.0"
        );
    }
    Ok(())
}

fn list(names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    names.join(", ")
}
