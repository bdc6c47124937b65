//! The copies of the WIT that packages ship.

use std::fs;
use std::path::{Path, PathBuf};

// LOCK-12
#[test]
fn every_copy_of_the_wit_is_the_wit() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &Path| fs::read_to_string(path).expect("a text");
    let versions = ["0.2", "0.3"].map(|version| {
        let package = format!("package witlock:locks@{version}.0;");
        let text = read(&root.join(format!("wit/locks-{version}/locks.wit")));
        (package, text)
    });
    let copies = copies(&root.join("guest/sdk"));
    assert!(copies.len() >= 2, "{copies:?}");
    for copy in copies {
        let text = read(&copy);
        let version = versions
            .iter()
            .find(|(package, _)| text.starts_with(package));
        let (_, original) = version.expect("a version of the WIT");
        assert_eq!(&text, original, "{}", copy.display());
    }
}

/// Every `locks.wit` under a directory, but for what is installed there.
fn copies(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let of = |path: PathBuf| match path.is_dir() {
        true if path.ends_with("node_modules") => Vec::new(),
        true => copies(&path),
        false if path.ends_with("locks.wit") => vec![path],
        false => Vec::new(),
    };
    paths.flat_map(of).collect()
}
