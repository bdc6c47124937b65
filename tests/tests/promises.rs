//! Each promise in `host/docs/promises.md` is checked by a test that names it:
//! `// LOCK-03` in a comment right above its function.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

const SOURCES: [&str; 4] = ["tests", "host/tests", "host/src", "guest"];

#[test]
fn each_promise_is_named_by_a_test() -> io::Result<()> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = fs::read_to_string(workspace.join("host/docs/promises.md"))?;
    let promises: BTreeSet<_> = text.lines().filter_map(promise).collect();
    assert!(
        promises.len() >= 10,
        "the list of promises was not understood"
    );

    let mut named = BTreeMap::new();
    for source in SOURCES {
        for file in rust_files(&workspace.join(source))? {
            note_named(&fs::read_to_string(&file)?, &file, &mut named);
        }
    }
    let kept = text.lines().filter(|line| !line.contains("*to come"));
    for promise in kept.filter_map(promise) {
        assert!(named.contains_key(&promise), "no test names {promise}");
    }
    for (name, file) in &named {
        assert!(promises.contains(name), "{file:?} names {name}, no promise");
    }
    Ok(())
}

/// The promise that a row of the table is about.
fn promise(row: &str) -> Option<String> {
    let id = row.strip_prefix("| LOCK-")?.split(' ').next()?;
    Some(format!("LOCK-{id}"))
}

/// Notes the promises that comments right above functions name.
fn note_named(source: &str, file: &Path, named: &mut BTreeMap<String, PathBuf>) {
    let mut above: Vec<&str> = Vec::new();
    for line in source.lines().map(str::trim_start) {
        if line.starts_with("// ") || line.starts_with("///") || line.starts_with("#[") {
            above.push(line);
            continue;
        }
        if line.contains("fn ") {
            let comments = above.iter().filter(|line| line.starts_with("// "));
            let names = comments.flat_map(|line| promises_in(line));
            named.extend(names.map(|name| (name, file.to_owned())));
        }
        above.clear();
    }
}

fn promises_in(comment: &str) -> impl Iterator<Item = String> {
    let words = comment.split([' ', ',', '.', ':']);
    let names = words.filter(|word| word.starts_with("LOCK-"));
    names.map(str::to_owned)
}

fn rust_files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
    Ok(found)
}
