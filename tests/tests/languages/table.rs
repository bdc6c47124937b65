//! The table of the documentation, made of what the guests do.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cases::CASES;
use crate::columns::COLUMNS;
use crate::stage::outcomes;

/// Set, the table is written, in place of being compared.
const WRITE: &str = "WITLOCK_WRITE_TABLE";

const BEGIN: &str = "<!-- made by tests/tests/languages: `just conformance` -->\n";
const END: &str = "<!-- until here -->\n";

pub fn check() {
    let page = page();
    let text = fs::read_to_string(&page).expect("the page");
    let (before, rest) = text.split_once(BEGIN).expect("where the table begins");
    let (table, after) = rest.split_once(END).expect("where it ends");
    let made = made();
    if std::env::var_os(WRITE).is_some() {
        let text = format!("{before}{BEGIN}{made}{END}{after}");
        fs::write(&page, text).expect("the page is written");
    } else {
        assert_eq!(table, made, "run `just conformance`");
    }
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../guest/sdk/README.md")
}

fn made() -> String {
    let outcomes = COLUMNS.map(|column| outcomes(column.id));
    let mut table = String::from("| |");
    for column in &COLUMNS {
        let _ = write!(table, " {} |", column.title);
    }
    table += "\n| --- |";
    table += &" --- |".repeat(COLUMNS.len());
    table += "\n";
    for (row, case) in CASES.iter().enumerate() {
        let _ = write!(table, "| {} |", case.says);
        for column in &outcomes {
            let cell = column[row].as_ref().map_or("**no**", |mark| mark);
            let _ = write!(table, " {cell} |");
        }
        table += "\n";
    }
    table
}
