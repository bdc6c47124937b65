//! What is true: kept by what the engine is asked and what it answers, beside the
//! server.

use std::collections::{BTreeMap, BTreeSet};

use witlock_engine::{Command, Event, LeaseId, Restore};
use witlock_session::server::ConnectionId;

/// An ask that waits, or a lease.
#[derive(Debug, Clone, Copy)]
pub struct Ask {
    pub session: u64,
    pub ask: u64,
    pub fence: Option<u64>,
    /// Asked of an engine of which the server did not know that it is new.
    pub is_stale: bool,
}

/// A command that is answered once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tag {
    Resume,
    Renew { session: u64, fence: u64 },
    Release { session: u64, fence: u64 },
    Operator(ConnectionId, u64),
}

/// A lease.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Given {
    pub session: u64,
    /// What the engine knows it by.
    pub id: LeaseId,
    /// What its holder was told: if it is restored, by an earlier engine.
    pub told: LeaseId,
}

/// An event, and whom it concerns.
#[derive(Debug)]
pub struct Noted {
    pub event: Event,
    pub ask: Option<Ask>,
}

#[derive(Debug, Default)]
pub struct Ledger {
    /// By their tickets.
    pub asks: BTreeMap<u64, Ask>,
    /// Leases that were ever given, by their fences.
    pub given: BTreeMap<u64, Given>,
    /// Leases that are to go on: what their holders name, by their tickets.
    restored: BTreeMap<u64, LeaseId>,
    /// Leases that last.
    pub held: BTreeSet<u64>,
    pub tags: BTreeMap<u64, Tag>,
    /// Sessions that are known to the new engine only.
    pub stale_sessions: BTreeSet<u64>,
}

impl Ledger {
    /// Whether a session has a lease.
    pub fn has(&self, session: u64, fence: u64) -> bool {
        self.held.contains(&fence) && self.owner(fence) == Some(session)
    }

    pub fn owner(&self, fence: u64) -> Option<u64> {
        self.given.get(&fence).map(|given| given.session)
    }

    /// What a session waits for and has.
    pub fn of(&self, session: u64) -> impl Iterator<Item = &Ask> {
        self.asks.values().filter(move |ask| ask.session == session)
    }

    /// The engine is asked for a key.
    pub fn note_hold(&mut self, command: &Command, is_stale: bool) {
        let Command::Hold(hold) = command else {
            return;
        };
        let ask = Ask {
            session: hold.session,
            ask: hold.request.expect("it has a request") as u64,
            fence: None,
            is_stale,
        };
        let other = self.asks.insert(hold.ticket, ask);
        assert!(other.is_none(), "two asks have one ticket: {other:?}");
    }

    /// The engine is asked to go on with a lease.
    pub fn note_restored(&mut self, restore: &Restore, told: LeaseId, is_stale: bool) {
        let hold = &restore.hold;
        let ask = Ask {
            session: hold.session,
            ask: hold.request.expect("it has a request") as u64,
            fence: None,
            is_stale,
        };
        self.asks.insert(hold.ticket, ask);
        self.restored.insert(hold.ticket, told);
    }

    /// The engine did something.
    pub fn note(&mut self, event: Event) -> Noted {
        let ask = match &event {
            Event::Granted(grant) => Some(self.granted(grant.ticket, grant.lease)),
            Event::Refused { ticket, .. } | Event::Superseded(ticket) => {
                self.restored.remove(ticket);
                Some(self.asks.remove(ticket).expect("an ask"))
            }
            Event::Ended { ticket, .. } => {
                let ask = self.asks.remove(ticket).expect("an ask");
                let fence = ask.fence.expect("a lease");
                assert!(self.held.remove(&fence), "it ended twice");
                Some(ask)
            }
            _ => None,
        };
        Noted { event, ask }
    }

    fn granted(&mut self, ticket: u64, lease: LeaseId) -> Ask {
        let ask = self.asks.get_mut(&ticket).expect("an ask");
        ask.fence = Some(lease.fence);
        let (session, largest) = (ask.session, self.given.last_key_value());
        let largest = largest.map_or(0, |(fence, _)| *fence);
        if self.held.insert(lease.fence) {
            let restored = self.restored.remove(&ticket);
            assert!(lease.fence > largest || restored.is_some(), "LOCK-02");
            let told = restored.unwrap_or(lease);
            let given = Given {
                session,
                id: lease,
                told,
            };
            self.given.insert(lease.fence, given);
        }
        // Asked again, it is the same.
        let given = self.given[&lease.fence];
        assert_eq!((given.session, given.id), (session, lease));
        *ask
    }

    /// The engine trapped. What it answered before may still be told.
    pub fn forget_all(&mut self) {
        self.asks.clear();
        self.held.clear();
        self.stale_sessions.clear();
        self.restored.clear();
    }
}
