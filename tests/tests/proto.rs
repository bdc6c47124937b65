//! The messages in Rust are what the `.proto` files say. `WITLOCK_WRITE=1` writes them.

#![allow(clippy::expect_used)] // a test

use std::fs;
use std::path::Path;

/// What is generated: from which file, its package, and to where.
const ALL: [(&str, &str, &str); 2] = [
    ("witlock.proto", "witlock.v1", "src/wire/messages.rs"),
    (
        "journal.proto",
        "witlock.journal.v1",
        "src/journal/messages.rs",
    ),
];

#[test]
fn the_messages_are_those_of_the_proto() {
    let session = Path::new(env!("CARGO_MANIFEST_DIR")).join("../guest/session");
    for (proto, package, kept) in ALL {
        let generated = generate(&session, proto, package);
        let path = session.join(kept);
        if std::env::var_os("WITLOCK_WRITE").is_some() {
            fs::write(&path, &generated).expect("written");
        }
        assert!(
            fs::read_to_string(&path).unwrap_or_default() == generated,
            "guest/session/{kept} is not what {proto} gives: run this test with WITLOCK_WRITE=1"
        );
    }
}

fn generate(session: &Path, proto: &str, package: &str) -> String {
    let out = tempfile::tempdir().expect("a directory");
    let files = protox::compile([proto], [session.join("proto")]).expect("a proto");
    let mut config = prost_build::Config::new();
    // It has a token.
    config.skip_debug(["witlock.v1.Hello"]);
    let compiled = config.out_dir(out.path()).compile_fds(files);
    compiled.expect("generated");
    fs::read_to_string(out.path().join(format!("{package}.rs"))).expect("generated")
}
