//! The wasm parts, decoded.
#![allow(clippy::unwrap_used, missing_docs)]

use wasmtime::Engine;
use wasmtime::component::Component;

// The engine has no clock, no files, no randomness: nothing but what it is given.
#[test]
fn the_engine_imports_nothing() {
    let engine = Engine::default();
    let component = Component::from_file(&engine, witlock_programs::ENGINE).unwrap();
    let component = component.component_type();
    let imports: Vec<_> = component.imports(&engine).map(|(name, _)| name).collect();
    assert!(imports.is_empty(), "{imports:?}");
    let exports: Vec<_> = component.exports(&engine).map(|(name, _)| name).collect();
    assert_eq!(exports, ["witlock:engine/engine@0.1.0"]);
}
