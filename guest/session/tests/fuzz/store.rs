//! A server, the engine behind it, and connections. All that goes from one to the
//! other is looked at: each command has a message that asks for it, and each
//! message has an event that it tells of.

use std::collections::{BTreeMap, BTreeSet};

use witlock_engine::Command;
use witlock_session::journal::Journal;
use witlock_session::server::{Admission, ConnectionId, Server, Trust};
use witlock_session::wire::goodbye::Reason;
use witlock_session::wire::to_client::Body;
use witlock_session::wire::{Lease, ToClient};

use crate::ear::Ear;
use crate::engine::Driven;
use crate::runs::Tally;
use crate::said::{Known, OPERATOR_TOKEN, SESSIONS, TOKEN};

/// A session that the server knows.
#[derive(Debug)]
pub struct Session {
    pub id: Vec<u8>,
    /// Where it is.
    pub at: Option<(ConnectionId, u64)>,
    /// When it says that it said something, which answers may echo, and when that
    /// came first.
    pub sent: BTreeMap<u64, u64>,
}

pub struct Store {
    pub now: u64,
    pub server: Server,
    pub driven: Driven,
    pub ears: BTreeMap<ConnectionId, Ear>,
    /// By the engine's numbers.
    pub sessions: BTreeMap<u64, Session>,
    pub entries: [u64; SESSIONS],
    /// Where leases are listed, by their fences.
    pub places: BTreeMap<u64, u32>,
    /// What the next server will know of leases.
    pub journal: Journal,
    pub is_writable: bool,
    /// The journal may have leases that ended.
    pub may_know_more: bool,
    /// Tickets of asks that were refused since their leases could not be kept.
    pub unkept: BTreeSet<u64>,
    /// Leases that the server knows, by their fences.
    pub known: BTreeSet<u64>,
    pub ticked: u64,
    pub settled_at: u64,
    pub is_closing: bool,
    pub tally: Tally,
}

impl Store {
    pub fn new(now: u64) -> Self {
        let mut server = server();
        server.tick(now);
        Store {
            now,
            server,
            driven: Driven::new(),
            ears: BTreeMap::new(),
            sessions: BTreeMap::new(),
            entries: [0; SESSIONS],
            places: BTreeMap::new(),
            journal: Journal::default(),
            is_writable: true,
            may_know_more: false,
            unkept: BTreeSet::new(),
            known: BTreeSet::new(),
            ticked: now,
            settled_at: now,
            is_closing: false,
            tally: Tally::default(),
        }
    }

    pub fn connect(&mut self, trust: Trust) -> ConnectionId {
        let id = self.server.connected(self.now, trust);
        self.ears.insert(id, Ear::new(self.now));
        id
    }

    pub fn disconnect(&mut self, id: ConnectionId) {
        let ear = self.ears.remove(&id).expect("a connection");
        self.server.disconnected(self.now, id);
        let mut left: BTreeSet<u64> = ear.sessions.values().map(|at| at.number).collect();
        for command in self.server.commands() {
            let Command::Suspend(number) = command else {
                panic!("nobody asked for {command:?}");
            };
            assert!(left.remove(&number), "{number} was not there");
            self.session(number).at = None;
            self.driven.submitted.push(command);
        }
        assert!(left.is_empty(), "{left:?} are not suspended");
        assert!(self.collect().is_empty());
    }

    pub fn session(&mut self, number: u64) -> &mut Session {
        self.sessions.get_mut(&number).expect("a session")
    }

    /// Where a session can be told something.
    pub fn reached(&self, number: u64) -> Option<(ConnectionId, u64)> {
        let at = self.sessions.get(&number)?.at;
        at.filter(|(id, _)| !self.server.is_over(*id))
    }

    /// Takes out what is told to whoever reads.
    pub fn collect(&mut self) -> Vec<(ConnectionId, ToClient)> {
        let mut all = Vec::new();
        for id in self.server.touched() {
            if self.ears.get(&id).is_some_and(|ear| !ear.is_deaf) {
                all.extend(self.read(id).into_iter().map(|told| (id, told)));
            }
        }
        all
    }

    /// A connection reads what it is told.
    pub fn read(&mut self, id: ConnectionId) -> Vec<ToClient> {
        let mut bytes = Vec::new();
        let is_over = self.server.outgoing(id, &mut bytes);
        let ear = self.ears.get_mut(&id).expect("a connection");
        let told = ear.is_told(&bytes, is_over);
        told.iter().for_each(|told| self.note_told(told));
        told
    }

    fn note_told(&mut self, told: &ToClient) {
        match &told.body {
            Some(Body::Goodbye(goodbye)) => {
                self.tally.count(format!("goodbye {:?}", goodbye.reason()));
            }
            Some(Body::Holdings(holdings)) => {
                let items = holdings.items.iter();
                self.places.extend(items.map(|it| (it.fence, it.place)));
            }
            _ => {}
        }
    }

    /// Everything happens that is to happen now.
    pub fn settle(&mut self) {
        loop {
            if !self.driven.is_quiet(self.now) {
                self.driven.step(self.now);
            } else if self.driven.news.is_empty() {
                break;
            }
            while self.tell() {}
        }
        self.settled_at = self.now;
        self.check();
    }

    pub fn is_settled(&self) -> bool {
        self.driven.is_quiet(self.now) && self.driven.news.is_empty()
    }

    /// What somebody at a connection may know.
    pub fn known(&self, id: ConnectionId) -> Known {
        let ear = &self.ears[&id];
        let own = ear.sessions.values().flat_map(|at| &at.told);
        let lately = self.driven.ledger.given.keys().rev().take(6);
        let leases = own.chain(lately).map(|fence| {
            let lease = self.driven.ledger.given[fence].told;
            let place = self.places.get(fence).copied().unwrap_or_default();
            (Lease::from(lease), place)
        });
        let is_here = |who: &u8| {
            let mut here = ear.sessions.values().map(|at| &self.sessions[&at.number]);
            here.any(|session| session.id == [*who; 16])
        };
        Known {
            now: self.now,
            elsewhere: (0..SESSIONS as u8).filter(|who| !is_here(who)).collect(),
            owns: ear.sessions.keys().copied().collect(),
            entries: self.entries,
            leases: leases.collect(),
        }
    }

    /// What is said without being asked for: why a connection is closed.
    pub fn assert_goodbyes(told: &[(ConnectionId, ToClient)], reason: Reason) {
        for (id, told) in told {
            match &told.body {
                Some(Body::Goodbye(goodbye)) if goodbye.reason() == reason => {}
                other => panic!("{id:?} is told {other:?}"),
            }
        }
    }
}

/// One that knows nothing.
pub fn server() -> Server {
    let admission = Admission {
        token: Some(TOKEN.into()),
        operator_token: Some(OPERATOR_TOKEN.into()),
    };
    Server::new(1 << 63, admission)
}
