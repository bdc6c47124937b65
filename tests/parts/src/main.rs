//! Puts the wasm parts into a directory: the components, and the WIT packages
//! that apps import, as text and in the binary form that registries of components
//! take (`wkg publish`). Each is validated, and its size printed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use wasmparser::{Validator, WasmFeatures};
use wit_parser::Resolve;
use witlock_programs::{CLIENT, ENGINE, LOCKS, LOCKS_0_2};

const COMPONENTS: [(&str, &str); 4] = [
    (ENGINE, "engine.wasm"),
    (LOCKS, "locks.wasm"),
    (LOCKS_0_2, "locks-0.2.wasm"),
    (CLIENT, "client.wasm"),
];

/// WIT packages, by their directories and by the files they become.
const PACKAGES: [(&str, &str); 2] = [
    ("locks-0.2", "witlock-locks-0.2.0"),
    ("locks-0.3", "witlock-locks-0.3.0"),
];

fn main() -> Result<()> {
    let directory = std::env::args_os().nth(1).map(PathBuf::from);
    let directory = directory.context("usage: witlock-parts <directory>")?;
    fs::create_dir_all(&directory)?;
    for (built, name) in COMPONENTS {
        let bytes = fs::read(built)?;
        put(&directory, name, &bytes)?;
    }
    let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit");
    for (source, name) in PACKAGES {
        let (text, binary) = package(&wit.join(source))?;
        put(&directory, &format!("{name}.wasm"), &binary)?;
        write(&directory, &format!("{name}.wit"), text.as_bytes())?;
    }
    Ok(())
}

/// A WIT package: its text, and its binary form.
fn package(source: &Path) -> Result<(String, Vec<u8>)> {
    let mut resolve = Resolve::default();
    let (package, files) = resolve.push_dir(source)?;
    let mut paths = files.paths();
    let path = paths.next().context("a package has a file")?;
    ensure!(
        paths.next().is_none(),
        "{}: more than one file",
        source.display()
    );
    let text = fs::read_to_string(path)?;
    Ok((text, wit_component::encode(&resolve, package)?))
}

/// Validates a binary and writes it.
fn put(directory: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let features = WasmFeatures::default() | WasmFeatures::CM_ASYNC;
    let mut validator = Validator::new_with_features(features);
    validator
        .validate_all(bytes)
        .with_context(|| format!("{name} is not valid"))?;
    write(directory, name, bytes)
}

fn write(directory: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = directory.join(name);
    fs::write(&path, bytes).with_context(|| path.display().to_string())?;
    println!("{:>8} bytes  {}", bytes.len(), path.display());
    Ok(())
}
