//! What the environment may say, and what is said of what it may not.

#![allow(clippy::expect_used)] // tests

use std::collections::HashMap;
use std::fs;

use witlock_client_component::settings::{Settings, Unusable};

/// A server that there could be.
const SERVER: (&str, &str) = ("WITLOCK_CONNECT", "tcp:127.0.0.1:7411");

fn read<const N: usize>(variables: [(&str, &str); N]) -> Result<Settings, Unusable> {
    let variables = HashMap::from(variables);
    Settings::read(|name| variables.get(name).map(ToString::to_string))
}

fn refused<const N: usize>(variables: [(&str, &str); N]) -> String {
    match read(variables) {
        Ok(settings) => panic!("{} is of use", settings.address),
        Err(why) => why.to_string(),
    }
}

#[test]
fn an_address_is_enough() {
    let settings = read([SERVER, ("WITLOCK_TOKEN", "")]).expect("of use");
    assert_eq!(settings.address.as_str(), "127.0.0.1:7411");
    assert_eq!(settings.token, "");
    assert_eq!(settings.name, "client.wasm");
}

#[test]
fn hosts_are_names_and_addresses_of_both_kinds() {
    for host in ["127.0.0.1", "[::1]", "localhost", "locks.internal"] {
        let connect = format!("tcp:{host}:65535");
        let settings = read([("WITLOCK_CONNECT", &connect)]).expect("of use");
        assert_eq!(settings.address.to_string(), connect);
    }
}

#[test]
fn an_address_that_is_none_is_named() {
    let unset = "WITLOCK_CONNECT is not set; it says where the store is served: tcp:HOST:PORT";
    assert_eq!(refused([]), unset);
    assert_eq!(refused([("WITLOCK_CONNECT", "")]), unset);
    for wrong in [
        "unix:/run/witlock.sock",
        "127.0.0.1:7411",
        "tcp:127.0.0.1",
        "tcp::7411",
        "tcp:127.0.0.1:0",
        "tcp:127.0.0.1:65536",
        "tcp:127.0.0.1:locks",
        "tcp:::1:7411",
    ] {
        let why = refused([("WITLOCK_CONNECT", wrong)]);
        let told =
            format!("WITLOCK_CONNECT is {wrong:?}; here a store is reached at tcp:HOST:PORT only");
        assert_eq!(why, told);
    }
}

#[test]
fn a_token_comes_from_the_environment_or_a_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("token");
    fs::write(&file, "of the file\n").expect("written");
    let file = file.to_str().expect("UTF-8");
    let from_file = ("WITLOCK_TOKEN_FILE", file);

    let token = |settings: Result<Settings, _>| settings.expect("of use").token;
    assert_eq!(token(read([SERVER, from_file])), "of the file");
    let both = read([SERVER, from_file, ("WITLOCK_TOKEN", "of its own")]);
    assert_eq!(token(both), "of its own");

    let missing = format!("{file}s");
    let why = refused([SERVER, ("WITLOCK_TOKEN_FILE", &missing)]);
    assert!(why.contains(&missing), "{why}");
    assert!(why.contains("cannot be read"), "{why}");
}

// LOCK-12
#[test]
fn what_is_too_long_is_answered_with_its_bound() {
    assert!(read([SERVER, ("WITLOCK_TOKEN", &"t".repeat(1024))]).is_ok());
    assert_eq!(
        refused([SERVER, ("WITLOCK_TOKEN", &"t".repeat(1025))]),
        "a token has at most 1024 bytes, this one 1025"
    );
    assert!(read([SERVER, ("WITLOCK_CLIENT", &"é".repeat(64))]).is_ok());
    assert_eq!(
        refused([SERVER, ("WITLOCK_CLIENT", &"é".repeat(65))]),
        "a client's name has at most 128 bytes, that in WITLOCK_CLIENT 130"
    );
    assert_eq!(
        refused([SERVER, ("WITLOCK_CLIENT", "one\ntwo")]),
        "a client's name has no control characters, that in WITLOCK_CLIENT has '\\n'"
    );
}
