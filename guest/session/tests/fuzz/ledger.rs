//! What is true: kept by what the engine is asked and what it answers, beside the
//! server.

use std::collections::{BTreeMap, BTreeSet};

use witlock_engine::{Command, Event, LeaseId};
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
    /// Whose each lease is or was, and what names it, by its fence.
    pub given: BTreeMap<u64, (u64, LeaseId)>,
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
        self.given.get(&fence).map(|(session, _)| *session)
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

    /// The engine did something.
    pub fn note(&mut self, event: Event) -> Noted {
        let ask = match &event {
            Event::Granted(grant) => Some(self.granted(grant.ticket, grant.lease)),
            Event::Refused { ticket, .. } | Event::Superseded(ticket) => {
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
        let largest = self.given.last_key_value().map_or(0, |(fence, _)| *fence);
        if self.held.insert(lease.fence) {
            assert!(lease.fence > largest, "LOCK-02");
            self.given.insert(lease.fence, (ask.session, lease));
        }
        // Asked again, it is the same.
        assert_eq!(self.given[&lease.fence], (ask.session, lease));
        *ask
    }

    /// The engine trapped. What it answered before may still be told.
    pub fn forget_all(&mut self) {
        self.asks.clear();
        self.held.clear();
        self.stale_sessions.clear();
    }
}
