//! How the users of a store reach it: in its own process, or over a connection.

use tempfile::TempDir;
use witlock::clock::ManualClock;
use witlock::{Connector, Server, Store};

use crate::face::{Need, Terms};

/// The longest ttl that there is, in ms.
const LONGEST_TTL: u32 = 3_600_000;

/// What lets in who reaches a store over TCP.
pub const TOKEN: &str = "let me in";

/// How users reach a store.
pub trait Reached: Sized {
    /// What is added to [`Users::NAME`](crate::hosted::Users::NAME).
    const NAME: &'static str;

    /// As [`Face::OFTEN`](crate::face::Face::OFTEN).
    const OFTEN: usize;

    /// How often the store has to be asked until all that was asked before is handled.
    const TURNS: usize = 1;

    /// The longest step of time, in ms, after which everyone is given a turn.
    const STEP: u64;

    /// As [`Face::cannot`](crate::face::Face::cannot).
    fn cannot(need: Need) -> Option<&'static str>;

    /// Reaches the store.
    fn reach(store: &Store, clock: &ManualClock) -> Self;

    /// The store as its users have it.
    fn store(&self) -> &Store;

    /// What a lock is opened with that a scenario opens so.
    fn terms(terms: &Terms) -> Terms;

    /// Where it is served over TCP to who knows [`TOKEN`]; none if it is not.
    fn address(&self) -> Option<&str> {
        None
    }
}

/// In its own process.
pub struct InProcess(Store);

impl Reached for InProcess {
    const NAME: &'static str = "";

    const OFTEN: usize = 10_000;

    const STEP: u64 = u64::MAX;

    fn cannot(_: Need) -> Option<&'static str> {
        None
    }

    fn reach(store: &Store, _: &ManualClock) -> Self {
        InProcess(store.clone())
    }

    fn store(&self) -> &Store {
        &self.0
    }

    fn terms(terms: &Terms) -> Terms {
        terms.clone()
    }
}

/// Over one connection, by a Unix socket.
pub struct OverConnection {
    // Dropped in this order.
    client: Store,
    _server: Server,
    _place: TempDir,
}

impl Reached for OverConnection {
    const NAME: &'static str = " over a connection";

    const OFTEN: usize = 500;

    // What was told may be answered.
    const TURNS: usize = 2;

    // Each time a lease may be renewed.
    const STEP: u64 = LONGEST_TTL as u64 / 6;

    fn cannot(need: Need) -> Option<&'static str> {
        match need {
            Need::InProcess => {
                Some("its leases have a ttl, and deadlines of their own, 1 % earlier")
            }
            Need::Crowd => {
                Some("thousands of round trips take a minute, and the bounds are the engine's")
            }
            _ => None,
        }
    }

    fn reach(store: &Store, clock: &ManualClock) -> Self {
        let place = TempDir::new().expect("a directory");
        let address = format!("unix:{}", place.path().join("socket").display());
        let server = Server::bind(store, &address).expect("a server");
        let client = Connector::new(address).clock(clock.clone()).connect();
        OverConnection {
            client: client.expect("a connection"),
            _server: server,
            _place: place,
        }
    }

    fn store(&self) -> &Store {
        &self.client
    }

    fn terms(terms: &Terms) -> Terms {
        lasting(terms)
    }
}

/// By other processes, over TCP.
pub struct Served {
    store: Store,
    server: Server,
}

impl Reached for Served {
    const NAME: &'static str = "";

    const OFTEN: usize = 500;

    // After two of them a lease is live that was renewed before.
    const STEP: u64 = LONGEST_TTL as u64 / 3;

    fn cannot(need: Need) -> Option<&'static str> {
        match need {
            Need::InProcess => Some("its leases have a ttl, and end by two clocks"),
            Need::SameClock => Some("its clock is the runtime's, which nobody turns"),
            _ => None,
        }
    }

    fn reach(store: &Store, _: &ManualClock) -> Self {
        let server = Server::builder(store).listen("tcp:127.0.0.1:0");
        Served {
            store: store.clone(),
            server: server.token(TOKEN).bind().expect("a server"),
        }
    }

    fn store(&self) -> &Store {
        &self.store
    }

    fn terms(terms: &Terms) -> Terms {
        lasting(terms)
    }

    fn address(&self) -> Option<&str> {
        self.server.addresses().first().map(String::as_str)
    }
}

/// The same, but it lasts: scenarios let time pass in which nobody gets a turn.
fn lasting(terms: &Terms) -> Terms {
    Terms {
        ttl: terms.ttl.or(Some(LONGEST_TTL)),
        ..terms.clone()
    }
}
