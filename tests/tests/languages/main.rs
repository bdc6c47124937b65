//! The SDKs: what each language's guest `conformance`, which `just guests` builds,
//! does in each case; and the table that the documentation has of it.

#![allow(clippy::expect_used)] // tests

mod cases;
mod columns;
mod copies;
mod stage;
mod table;

use columns::{COLUMNS, Column};

/// Runs all cases of a language, and shows each that did other than it should.
fn conforms(id: &str) {
    let wrong: Vec<String> = stage::outcomes(id)
        .iter()
        .zip(cases::CASES)
        .filter_map(|(outcome, case)| Some(format!("{}: {}", case.name, outcome.as_ref().err()?)))
        .collect();
    assert!(wrong.is_empty(), "{id}:\n{}", wrong.join("\n"));
}

macro_rules! languages {
    ($($test:ident: $id:literal),*) => {
        $(
            // LOCK-01, LOCK-02, LOCK-03, LOCK-04, LOCK-06, LOCK-07, LOCK-12
            #[test]
            #[ignore = "needs the guests of all languages: just guests"]
            fn $test() {
                conforms($id);
            }
        )*

        #[test]
        fn every_language_has_its_test() {
            let tested = [$($id),*];
            assert_eq!(tested.as_slice(), COLUMNS.map(|Column { id, .. }| id));
        }
    };
}

languages! {
    rust_conforms: "rust",
    async_rust_conforms: "rust-async",
    javascript_on_starlingmonkey_conforms: "js",
    javascript_on_quickjs_conforms: "js-qjs",
    python_conforms: "python",
    async_python_conforms: "python-async",
    go_conforms: "go"
}

// LOCK-07, LOCK-12
#[test]
#[ignore = "needs the guests of all languages: just guests"]
fn the_documentation_has_the_table_of_what_they_do() {
    table::check();
}
