//! The wasm parts, decoded.
#![allow(clippy::unwrap_used, missing_docs)]

use wasmtime::Engine;
use wasmtime::component::Component;
use witlock_programs::{
    ENGINE, HOLDER_WITH_LOCKS, HOLDER_WITH_LOCKS_0_2, LOCKS, LOCKS_0_2, TASKS_WITH_LOCKS,
};

/// What a component imports and exports.
fn surface(component: &str) -> (Vec<String>, Vec<String>) {
    let engine = Engine::default();
    let component = Component::from_file(&engine, component).unwrap();
    let component = component.component_type();
    let imports = component.imports(&engine).map(|(name, _)| name.to_owned());
    let imports = imports.collect();
    let exports = component.exports(&engine).map(|(name, _)| name.to_owned());
    (imports, exports.collect())
}

// The engine has no clock, no files, no randomness: nothing but what it is given.
#[test]
fn the_engine_imports_nothing() {
    let (imports, exports) = surface(ENGINE);
    assert!(imports.is_empty(), "{imports:?}");
    assert_eq!(exports, ["witlock:engine/engine@0.1.0"]);
}

#[test]
fn the_locks_import_wasi_alone() {
    let (imports, exports) = surface(LOCKS);
    assert!(
        imports.iter().all(|name| name.starts_with("wasi:")),
        "{imports:?}"
    );
    let of_0_3 = imports.iter().filter(|name| name.ends_with("@0.3.0"));
    assert_eq!(
        of_0_3.collect::<Vec<_>>(),
        ["wasi:clocks/monotonic-clock@0.3.0"]
    );
    assert_eq!(
        exports,
        ["witlock:locks/locks@0.3.0", "witlock:locks/locks@0.2.0"]
    );
}

#[test]
fn the_locks_of_wasi_0_2_know_no_other() {
    let (imports, exports) = surface(LOCKS_0_2);
    let is_of_0_2 = |name: &String| name.starts_with("wasi:") && name.contains("@0.2.");
    assert!(imports.iter().all(is_of_0_2), "{imports:?}");
    assert_eq!(exports, ["witlock:locks/locks@0.2.0"]);
}

#[test]
fn nothing_is_left_to_import_of_what_was_plugged() {
    for composed in [TASKS_WITH_LOCKS, HOLDER_WITH_LOCKS, HOLDER_WITH_LOCKS_0_2] {
        let (imports, exports) = surface(composed);
        let left = imports.iter().find(|name| name.starts_with("witlock:"));
        assert_eq!(left, None);
        assert!(exports.iter().any(|name| name.starts_with("wasi:cli/run@")));
    }
}
