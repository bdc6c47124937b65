//! Guests in a few lines of WebAssembly text, for what needs no language.

use std::path::{Path, PathBuf};

/// A command whose `run` is this body of a core function with an i32 result: 0
/// is well.
pub fn command(body: &str) -> String {
    format!(
        r#"(component
            (core module $m (func $run (export "run") (result i32) {body}))
            (core instance $i (instantiate $m))
            {RUN})"#
    )
}

/// A command that ends with a code by `exit-with-code`.
pub fn exit_with_code(code: u8) -> String {
    format!(
        r#"(component
            (import "wasi:cli/exit@0.2.12" (instance $exit
                (export "exit-with-code" (func (param "status-code" u8)))))
            (core func $exit (canon lower (func $exit "exit-with-code")))
            (core module $m
                (import "" "exit" (func $exit (param i32)))
                (func (export "run") (result i32) (call $exit (i32.const {code})) unreachable))
            (core instance $i (instantiate $m
                (with "" (instance (export "exit" (func $exit))))))
            {RUN})"#
    )
}

/// A command that imports an interface of this name, with a function that
/// nobody has.
pub fn importing(name: &str) -> String {
    format!(
        r#"(component
            (import "{name}" (instance (export "nobodys" (func))))
            (core module $m (func (export "run") (result i32) i32.const 0))
            (core instance $i (instantiate $m))
            {RUN})"#
    )
}

/// Exports `run` of the core instance `$i`.
const RUN: &str = r#"
    (func $run (result (result)) (canon lift (core func $i "run")))
    (instance $run (export "run" (func $run)))
    (export "wasi:cli/run@0.2.0" (instance $run))"#;

/// A component that exports only this interface, without functions.
pub fn exporting(name: &str) -> String {
    format!(r#"(component (instance $i) (export "{name}" (instance $i)))"#)
}

/// Where a test keeps its files.
pub struct Place(tempfile::TempDir);

impl Place {
    pub fn new() -> Place {
        Place(tempfile::tempdir().expect("a directory"))
    }

    /// The path of a file or directory here.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The same as text, for a command line.
    pub fn text(&self, name: &str) -> String {
        text(&self.path(name))
    }

    /// A file here with these bytes; its path.
    pub fn file(&self, name: &str, bytes: &[u8]) -> String {
        std::fs::write(self.path(name), bytes).expect("writable");
        self.text(name)
    }

    /// A file here with the component of a text; its path.
    pub fn component(&self, text: &str) -> String {
        self.file("app.wasm", &assemble(text))
    }
}

/// The bytes of a component's text.
pub fn assemble(text: &str) -> Vec<u8> {
    wat::parse_str(text).expect("valid text")
}

fn text(path: &Path) -> String {
    path.to_str().expect("UTF-8").to_owned()
}
