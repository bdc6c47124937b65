//! The guests `summaries` of all languages, which `just guests` builds: under `witlock
//! run`, alone and all on one key, and under the stock wasmtime command line.
#![cfg(unix)]
#![allow(clippy::unwrap_used, missing_docs)]

mod alone;
#[allow(dead_code)] // of what it can do, this is a part
#[path = "../cli/child.rs"]
mod child;
#[path = "../common/mod.rs"]
mod common;
mod guest;
#[allow(dead_code)] // of what it can do, this is a part
#[path = "../cli/guests.rs"]
mod guests;
mod late;
#[allow(dead_code)] // of what it can do, this is a part
#[path = "../cli/served.rs"]
mod served;
mod shelf;
mod stock;
mod together;

/// Ends the tests if they hang. They compile the largest components there are.
fn watchdog() {
    common::watchdog_after(std::time::Duration::from_secs(900));
}

/// A test for each language, of its guest.
macro_rules! each_language {
    ($why:literal, $test:path) => {
        crate::each_language!(
            $why, $test, rust: "rust", async_rust: "rust-async", javascript: "js",
            javascript_on_quickjs: "js-qjs", python: "python", async_python: "python-async",
            go: "go"
        );
    };
    ($why:literal, $test:path, $($name:ident: $language:literal),*) => {
        $(
            #[test]
            #[ignore = $why]
            fn $name() {
                $test($language);
            }
        )*
    };
}
pub(crate) use each_language;
