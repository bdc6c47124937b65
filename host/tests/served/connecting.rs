//! Who is let in, and what is said where nobody is.

use std::io::ErrorKind;
use std::os::unix::net::UnixListener;

use witlock::{ConnectError, Connector, Store};

use crate::stage::{ADMIN_TOKEN, Stage, TOKEN, is_free};

fn unreachable(address: &str) -> ErrorKind {
    let Err(ConnectError::Unreachable { source, .. }) = Store::connect(address) else {
        panic!("{address} is reached");
    };
    source.kind()
}

// LOCK-12
#[test]
fn where_nobody_serves_the_reason_is_said() {
    let stage = Stage::new();
    assert_eq!(unreachable(&stage.socket("none")), ErrorKind::NotFound);
    let dead = stage.socket("dead");
    drop(UnixListener::bind(dead.strip_prefix("unix:").unwrap()).unwrap());
    assert_eq!(unreachable(&dead), ErrorKind::ConnectionRefused);
    let long = stage.socket(&"s".repeat(108));
    for address in ["", "here", "tcp:host", &long] {
        let refused = Store::connect(address);
        let is_none = matches!(refused, Err(ConnectError::Address { .. }));
        assert!(is_none, "{refused:?}");
    }
}

// LOCK-12: and what they gave is not shown.
#[test]
fn a_wrong_token_is_denied_and_a_right_one_is_not() {
    let stage = Stage::new();
    let by = |token: &str| Connector::new(stage.tcp()).token(token).connect();
    for token in ["", "a guess", "let me in "] {
        let Err(ConnectError::Denied { why, .. }) = by(token) else {
            panic!("{token:?} lets in");
        };
        assert!(why.contains("token"), "{why}");
        assert!(token.is_empty() || !why.contains(token), "{why}");
    }
    for token in [TOKEN, ADMIN_TOKEN] {
        assert!(is_free(&by(token).unwrap(), "k"));
    }
}

// LOCK-12: what is longer than a name may be is left out.
#[test]
fn a_long_name_is_cut() {
    let stage = Stage::new();
    let long = "é".repeat(100);
    let store = stage.client(&long);
    let _lease = crate::stage::lock(&store).blocking_lease("k").unwrap();
    let listed = crate::stage::holdings(&store);
    assert_eq!(listed[0].client.as_deref(), Some(&*"é".repeat(64)));
}
