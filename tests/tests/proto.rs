//! The messages in Rust are what the `.proto` says. `WITLOCK_WRITE=1` writes them.

#![allow(clippy::expect_used)] // a test

use std::fs;
use std::path::Path;

#[test]
fn the_messages_are_those_of_the_proto() {
    let session = Path::new(env!("CARGO_MANIFEST_DIR")).join("../guest/session");
    let kept = session.join("src/wire/messages.rs");
    let generated = generate(&session);
    if std::env::var_os("WITLOCK_WRITE").is_some() {
        fs::write(&kept, &generated).expect("written");
    }
    let kept = fs::read_to_string(&kept).unwrap_or_default();
    assert!(
        kept == generated,
        "guest/session/src/wire/messages.rs is not what its proto gives: run this test with \
         WITLOCK_WRITE=1"
    );
}

fn generate(session: &Path) -> String {
    let out = tempfile::tempdir().expect("a directory");
    let files = protox::compile(["witlock.proto"], [session.join("proto")]).expect("a proto");
    let mut config = prost_build::Config::new();
    // It has a token.
    config.skip_debug(["witlock.v1.Hello"]);
    let compiled = config.out_dir(out.path()).compile_fds(files);
    compiled.expect("generated");
    fs::read_to_string(out.path().join("witlock.v1.rs")).expect("generated")
}
