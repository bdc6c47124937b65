//! Connections by the ten thousand.

use std::time::Instant;

use rustix::process::{Resource, getrlimit, setrlimit};
use witlock::Store;
use witlock_session::wire::to_client::Body as Told;
use witlock_session::wire::to_store::Body as Said;
use witlock_session::wire::{Enter, Hold, Ping};

use crate::common::block_on;
use crate::raw::{Raw, hello};
use crate::server::Server;

const CONNECTIONS: u64 = 10_000;

/// One of them, which enters a session and asks for a key of its own.
fn connect(server: &Server, number: u64) -> Raw {
    let mut raw = Raw::connect(&server.address());
    raw.say(0, hello());
    let enter = Enter {
        id: u128::from(number + 1).to_be_bytes().to_vec(),
        entry: 1,
        ..Enter::default()
    };
    raw.say(1, Said::Enter(enter));
    let hold = Hold {
        ask: 1,
        name: "many".into(),
        key: number.to_string(),
        ttl: Some(3_600_000),
        ..Hold::default()
    };
    raw.say(1, Said::Hold(hold));
    raw
}

/// Some systems let a process have 1 024 files unless it asks for more.
fn allow_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let enough = limit.current.is_none_or(|most| most > CONNECTIONS + 100);
    assert!(
        enough,
        "this test needs {CONNECTIONS} open files: {limit:?}"
    );
}

// LOCK-01, LOCK-12
#[test]
#[ignore = "takes some ten thousand files"]
fn ten_thousand_connections_are_open_at_once() {
    allow_files();
    let server = Server::start();
    let began = Instant::now();
    let mut all: Vec<_> = (0..CONNECTIONS)
        .map(|number| connect(&server, number))
        .collect();
    for connection in &mut all {
        assert!(matches!(connection.hear(), Some(Told::Welcome(_))));
        assert!(matches!(connection.hear(), Some(Told::Granted(_))));
    }
    let made = began.elapsed();
    let store = Store::connect(&server.address()).unwrap();
    let counts = block_on(store.counts()).unwrap();
    assert_eq!((counts.leases, counts.sessions), (CONNECTIONS, CONNECTIONS));
    // Each is heard, and so is one more.
    for connection in &mut all {
        connection.say(1, Said::Ping(Ping {}));
    }
    let lock = store.lock("others").open().unwrap();
    let asked = Instant::now();
    lock.blocking_hold("k", |_| ()).unwrap();
    let held = asked.elapsed();
    for connection in &mut all {
        assert!(matches!(connection.hear(), Some(Told::Pong(_))));
    }
    println!(
        "{CONNECTIONS} connections, made and given a key each in {made:?}: the server had {} MiB; \
         a hold and its release behind {CONNECTIONS} pings took {held:?}",
        server.memory()
    );
    drop(all);
    while block_on(store.counts()).unwrap().leases > CONNECTIONS {
        std::thread::yield_now();
    }
}
