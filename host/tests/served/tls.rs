//! Connections that are sealed.

use witlock::{ConnectError, Connector, Server, Store};
use witlock_session::wire::VERSION;

use crate::raw::{Raw, hello_of};
use crate::stage::{Bystander, Stage, TOKEN, Waiter, holdings, is_free, lock};

const CHAIN: &str = include_str!("tls/server.pem");
const KEY: &str = include_str!("tls/server.key");
const ROOT: &str = include_str!("tls/root.pem");
const OTHER_ROOT: &str = include_str!("tls/other-root.pem");

/// A store that is served over TLS only, and where.
fn sealed() -> (Store, Server, String) {
    crate::common::watchdog();
    let store = Store::in_memory().unwrap();
    let server = Server::builder(&store)
        .listen("tls:127.0.0.1:0")
        .token(TOKEN)
        .admin_token(crate::stage::ADMIN_TOKEN)
        .tls(CHAIN, KEY)
        .bind()
        .unwrap();
    let address = server.addresses()[0].replace("127.0.0.1", "localhost");
    (store, server, address)
}

fn connector(address: &str) -> Connector {
    Connector::new(address).token(TOKEN).tls_roots(ROOT)
}

// LOCK-01, LOCK-12
#[test]
fn a_key_is_held_over_a_sealed_connection() {
    let (store, _server, address) = sealed();
    let client = connector(&address).name("sealed").connect().unwrap();
    let lease = lock(&client).blocking_lease("k").unwrap();
    assert!(!is_free(&store, "k"));
    let here = lock(&store);
    let waiter = Waiter::new(&here, "k");
    assert_eq!(lease.blocking_release(), Ok(()));
    assert!(waiter.answer().unwrap().fence() > lease.fence());
    // Much at once, which comes in several pieces.
    let key = |number: usize| format!("{number:01024}");
    let lease = |number| here.blocking_lease(&key(number)).unwrap();
    let held: Vec<_> = (0..256).map(lease).collect();
    let operator = connector(&address).token(crate::stage::ADMIN_TOKEN);
    let operator = operator.connect().unwrap();
    assert_eq!(holdings(&operator).len(), held.len());
    client.close();
}

// LOCK-12
#[test]
fn a_server_that_nobody_vouches_for_is_refused() {
    let (_store, _server, address) = sealed();
    let wrong = connector(&address).tls_roots(OTHER_ROOT).connect();
    assert!(
        matches!(wrong, Err(ConnectError::Unreachable { .. })),
        "{wrong:?}"
    );
    assert!(wrong.unwrap_err().to_string().contains("certificate"));
    // The certificate is for another name.
    let by_number = address.replace("localhost", "127.0.0.2");
    let wrong = connector(&by_number).connect();
    assert!(
        matches!(wrong, Err(ConnectError::Unreachable { .. })),
        "{wrong:?}"
    );
    for roots in ["", "no certificate"] {
        let none = connector(&address).tls_roots(roots).connect();
        assert!(
            matches!(none, Err(ConnectError::Certificate { .. })),
            "{none:?}"
        );
    }
    assert!(connector(&address).connect().is_ok());
}

// LOCK-12
#[test]
fn a_sealed_connection_asks_for_a_token_too() {
    let (_store, _server, address) = sealed();
    let denied = connector(&address).token("a guess").connect();
    assert!(
        matches!(denied, Err(ConnectError::Denied { .. })),
        "{denied:?}"
    );
}

// LOCK-12: who speaks openly where it is sealed, and the other way round.
#[test]
fn what_is_not_sealed_is_dropped() {
    let (_store, _server, address) = sealed();
    let client = connector(&address).connect().unwrap();
    let lease = lock(&client).blocking_lease("k").unwrap();
    let mut raw = Raw::connect(&address);
    raw.say(0, hello_of(VERSION, TOKEN));
    assert!(raw.hear().is_none());
    let open = Connector::new(address.replace("tls:", "tcp:")).token(TOKEN);
    let open = open.connect();
    assert!(
        matches!(open, Err(ConnectError::Unreachable { .. })),
        "{open:?}"
    );
    assert_eq!(lease.ended(), None);
    assert_eq!(lease.blocking_release(), Ok(()));

    let stage = Stage::new();
    let bystander = Bystander::new(&stage);
    let sealed = connector(&stage.tcp().replace("tcp:", "tls:")).connect();
    assert!(
        matches!(sealed, Err(ConnectError::Unreachable { .. })),
        "{sealed:?}"
    );
    bystander.noticed_nothing();
}
