//! What is due when.

use alloc::collections::BTreeSet;

use crate::slab::Place;
use crate::{NEVER, Nanoseconds};

/// What a deadline ends. In the order in which they are handled at one moment:
/// a key that a lease lets go, or a grace, is there for a wait that runs out just
/// then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ends {
    Grace,
    Lease,
    Wait,
    Reconnect,
}

/// One deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Due {
    pub at: Nanoseconds,
    pub ends: Ends,
    /// Among those of one moment, first come, first handled.
    pub serial: u64,
    pub place: Place,
}

/// All deadlines, by their time.
#[derive(Debug)]
pub(crate) struct Deadlines {
    all: BTreeSet<Due>,
    /// When the first is, which every step asks.
    next: Nanoseconds,
}

impl Default for Deadlines {
    fn default() -> Self {
        Deadlines {
            all: BTreeSet::new(),
            next: NEVER,
        }
    }
}

impl Deadlines {
    /// What never ends costs a comparison: most leases in the store's own process
    /// are such.
    #[inline]
    pub fn add(&mut self, due: Due) {
        if due.at != NEVER {
            self.insert(due);
        }
    }

    #[inline]
    pub fn remove(&mut self, due: &Due) {
        if due.at != NEVER {
            self.take_out(due);
        }
    }

    fn insert(&mut self, due: Due) {
        self.all.insert(due);
        self.next = self.next.min(due.at);
    }

    fn take_out(&mut self, due: &Due) {
        if self.all.remove(due) && due.at == self.next {
            self.next = self.all.first().map_or(NEVER, |first| first.at);
        }
    }

    pub fn next(&self) -> Option<Nanoseconds> {
        (self.next != NEVER).then_some(self.next)
    }

    /// Whether something is due by `now`.
    pub fn is_due(&self, now: Nanoseconds) -> bool {
        // At the end of time what never comes is not due either.
        self.next <= now && self.next != NEVER
    }

    /// The earliest of those due by `now`. It stays until it is removed.
    pub fn due(&self, now: Nanoseconds) -> Option<Due> {
        match self.is_due(now) {
            true => self.all.first().copied(),
            false => None,
        }
    }
}
