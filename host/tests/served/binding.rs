//! Where a store can be served, and where not.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use witlock::{BindError, Server, Store};

use crate::common::watchdog;
use crate::stage::{Stage, is_free};

fn store() -> (Store, tempfile::TempDir) {
    watchdog();
    (Store::in_memory().unwrap(), tempfile::tempdir().unwrap())
}

fn socket(dir: &tempfile::TempDir, name: &str) -> String {
    format!("unix:{}/{name}", dir.path().display())
}

// LOCK-12
#[test]
fn what_is_no_address_is_said_to_be_none() {
    let (store, dir) = store();
    let long = socket(&dir, &"s".repeat(108));
    for (address, why) in [
        ("/run/w.sock", "unix:PATH"),
        ("unix:", "no path"),
        ("tcp:localhost", "HOST:PORT"),
        (&long, "at most 10"),
    ] {
        let Err(BindError::Address { why: said, .. }) = Server::bind(&store, address) else {
            panic!("{address} is taken");
        };
        assert!(said.contains(why), "{said}");
    }
}

// LOCK-12
#[test]
fn a_file_that_is_no_socket_is_left_alone() {
    let (store, dir) = store();
    let path = dir.path().join("notes");
    fs::write(&path, "of a person").unwrap();
    let error = Server::bind(&store, &socket(&dir, "notes")).unwrap_err();
    assert!(error.to_string().contains("no socket"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "of a person");
    let missing = Server::bind(&store, &socket(&dir, "no/such/directory")).unwrap_err();
    assert!(matches!(missing, BindError::Listen { .. }), "{missing}");
}

// LOCK-12
#[test]
fn a_dead_servers_socket_is_replaced_and_a_live_ones_is_not() {
    let stage = Stage::new();
    let (other, dir) = store();
    drop(UnixListener::bind(dir.path().join("dead")).unwrap());
    let address = socket(&dir, "dead");
    let server = Server::bind(&other, &address).unwrap();
    assert!(is_free(&Store::connect(&address).unwrap(), "k"));
    server.stop();
    let in_use = Server::bind(&other, &stage.address()).unwrap_err();
    assert!(matches!(in_use, BindError::InUse { .. }), "{in_use}");
    assert!(is_free(&stage.client("A"), "k"));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp:{}", taken.local_addr().unwrap());
    let tcp = Server::builder(&other).listen(address).token("t");
    let in_use = tcp.bind().unwrap_err();
    assert!(matches!(in_use, BindError::InUse { .. }), "{in_use}");
}

// LOCK-12: nobody else's processes get in, and nothing is left.
#[test]
fn a_socket_is_its_users_own_and_gone_with_its_server() {
    let (store, dir) = store();
    let path = dir.path().join("w.sock");
    let server = Server::bind(&store, &socket(&dir, "w.sock")).unwrap();
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(server.addresses(), [socket(&dir, "w.sock")]);
    server.stop();
    assert!(!path.exists());
}

// LOCK-12: of several addresses all are listened at, or none.
#[test]
fn one_address_that_fails_fails_all() {
    let (store, dir) = store();
    let several = Server::builder(&store)
        .listen(socket(&dir, "first"))
        .listen(socket(&dir, "no/such/directory"));
    several.bind().unwrap_err();
    assert!(!dir.path().join("first").exists());
    Server::bind(&store, &socket(&dir, "first")).unwrap();
}

// LOCK-12
#[test]
fn tcp_needs_a_token_and_beyond_loopback_a_seal() {
    let (store, _dir) = store();
    let bare = Server::builder(&store).listen("tcp:127.0.0.1:0").bind();
    assert!(matches!(bare, Err(BindError::Token { .. })), "{bare:?}");
    let open = Server::builder(&store).listen("tcp:0.0.0.0:0").token("t");
    let open = open.bind();
    assert!(matches!(open, Err(BindError::Unsealed { .. })), "{open:?}");
    let bare = Server::builder(&store).listen("tls:127.0.0.1:0").token("t");
    let Err(BindError::Certificate(why)) = bare.bind() else {
        panic!("it needs no certificate");
    };
    assert!(why.contains("tls:127.0.0.1:0"), "{why}");
    for length in [0, 1_025] {
        let token = || vec![b't'; length];
        for builder in [
            Server::builder(&store).token(token()),
            Server::builder(&store).token("t").admin_token(token()),
        ] {
            let refused = builder.listen("tcp:127.0.0.1:0").bind();
            let is_length = |told: &usize| *told == length;
            assert!(
                matches!(&refused, Err(BindError::TokenLength(told)) if is_length(told)),
                "{refused:?}"
            );
        }
    }
    let longest = Server::builder(&store).token(vec![b't'; 1_024]);
    let served = longest.listen("tcp:127.0.0.1:0").bind().unwrap();
    assert!(!served.addresses()[0].ends_with(":0"));
}

// LOCK-12
#[test]
fn a_store_that_is_reached_is_not_served_on() {
    let stage = Stage::new();
    let store = stage.client("A");
    let refused = Server::bind(&store, &stage.socket("on"));
    assert!(matches!(refused, Err(BindError::NotHere)), "{refused:?}");
}

#[test]
fn a_store_has_one_server_at_a_time() {
    let (store, dir) = store();
    let server = Server::bind(&store, &socket(&dir, "one")).unwrap();
    let second = Server::bind(&store, &socket(&dir, "two")).unwrap_err();
    assert!(matches!(second, BindError::Served), "{second}");
    server.stop();
    // One that can't listen does not count either.
    Server::bind(&store, "tcp:127.0.0.1:0").unwrap_err();
    Server::bind(&store, &socket(&dir, "two")).unwrap();
}
