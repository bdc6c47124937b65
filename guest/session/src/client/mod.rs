//! The client's side: asks, renews what it holds, comes back after a cut, and
//! knows of a loss before the store can give the key on.
//!
//! Who drives it hands in what arrives and tells of cuts, takes out what is to be
//! sent ([`Client::outgoing`]) and what happened ([`Client::events`]), and calls
//! [`Client::tick`] at the latest at [`Client::next_deadline`].

mod asks;
mod confirming;
mod hears;
mod leases;
mod link;
mod sessions;
mod timers;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use witlock_engine::LeaseId;

pub use asks::Terms;
pub use link::Wants;

use crate::wire::refused::Why;
use crate::wire::{self, to_client, to_store};
use crate::{Nanoseconds, millis};
use asks::Ask;
use link::Link;
use sessions::Session;

/// How much longer than its own wait an ask waits for its answer, and how long a
/// release does: past it the connection is the trouble, not the line.
pub const ANSWER_WAIT: Nanoseconds = millis(5_000);

/// How often something is said where there is nothing to say, so that either side
/// notices when the other is gone.
pub const PING: Nanoseconds = millis(5_000);

/// How a lease ended, as its holder sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Its holder let it go.
    Released,
    /// Its ttl ran out unrenewed.
    Expired,
    /// Its max-hold was reached.
    Revoked,
    /// An operator broke it.
    Broken,
    /// The store closed.
    Closed,
    /// The store could not be reached until the lease's own deadline.
    Unreachable,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The server let the client in; whether as an operator.
    Welcome {
        /// Whether it may list what is held, and break leases.
        operator: bool,
    },
    /// The server refuses the client, and will again.
    Denied(String),
    /// The ask has its key.
    Granted {
        /// Which ask.
        ask: u64,
        /// What names the lease to the store.
        lease: LeaseId,
    },
    /// The ask has not got its key.
    Refused {
        /// Which ask.
        ask: u64,
        /// Why.
        why: Why,
        /// The same, for people.
        text: String,
    },
    /// The lease that came of an ask is over.
    Ended {
        /// Which ask's.
        ask: u64,
        /// How.
        how: Ending,
    },
    /// The lease lasts longer than before.
    Renewed {
        /// Which ask's.
        ask: u64,
    },
    /// A renewal was not answered, and is tried again. Said once for each time
    /// that it begins.
    Retrying {
        /// Which ask's.
        ask: u64,
    },
    /// What an operator asked is answered; none if it could not be.
    Answered {
        /// Which question.
        tag: u64,
        /// The answer.
        answer: Option<to_client::Body>,
    },
}

/// Who a client is.
#[derive(Default)]
pub struct Identity {
    /// What lets it in.
    pub token: String,
    /// What operators see beside its leases.
    pub name: String,
}

/// One client of a server: a connection, and the sessions of its holders.
pub struct Client {
    identity: Identity,
    link: Link,
    random: u64,
    sessions: BTreeMap<u64, Session>,
    last_session: u64,
    asks: BTreeMap<u64, Ask>,
    by_fence: BTreeMap<u64, u64>,
    /// When something is to be done for an ask.
    timers: BTreeSet<(Nanoseconds, u64)>,
    /// Questions of an operator's, and when they are given up.
    questions: BTreeMap<u64, Nanoseconds>,
    /// Renewals to be sent, by session.
    renewals: BTreeMap<u64, Vec<wire::Lease>>,
    out: Vec<u8>,
    events: Vec<Event>,
}

impl Client {
    /// A client that has not connected yet. `random` seeds the pauses between
    /// its attempts.
    pub fn new(identity: Identity, random: u64) -> Self {
        Client {
            identity,
            link: Link::default(),
            random: random | 1,
            sessions: BTreeMap::new(),
            last_session: 0,
            asks: BTreeMap::new(),
            by_fence: BTreeMap::new(),
            timers: BTreeSet::new(),
            questions: BTreeMap::new(),
            renewals: BTreeMap::new(),
            out: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Whether the server may know a session of this client's.
    pub fn has_sessions(&self) -> bool {
        !self.sessions.is_empty()
    }

    /// Takes out what happened, in its order.
    pub fn events(&mut self) -> Vec<Event> {
        core::mem::take(&mut self.events)
    }

    /// Takes out what is to be sent, behind what is there.
    pub fn outgoing(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.out);
    }

    /// Asks something of an operator's.
    pub fn question(&mut self, now: Nanoseconds, tag: u64, body: to_store::Body) {
        if !self.link.is_up() {
            return self.unanswered(tag);
        }
        self.questions.insert(tag, now.saturating_add(ANSWER_WAIT));
        self.say(now, 0, body);
    }

    /// When [`tick`](Client::tick) is to be called at the latest.
    pub fn next_deadline(&self) -> Option<Nanoseconds> {
        let questions = self.questions.values().min().copied();
        let timers = self.timers.first().map(|(at, _)| *at);
        let all = [self.link.next_deadline(), timers, questions];
        all.into_iter().flatten().min()
    }

    /// Does what is due.
    pub fn tick(&mut self, now: Nanoseconds) {
        self.ring(now);
        self.send_renewals(now);
        self.give_up_questions(now);
        self.forget_left(now);
        self.tick_link(now);
    }

    fn give_up_questions(&mut self, now: Nanoseconds) {
        let over = self.questions.extract_if(.., |_, at| *at <= now);
        let over: Vec<u64> = over.map(|(tag, _)| tag).collect();
        over.into_iter().for_each(|tag| self.unanswered(tag));
    }

    fn unanswered(&mut self, tag: u64) {
        let answer = None;
        self.events.push(Event::Answered { tag, answer });
    }
}
