//! What is due when.

use alloc::collections::BTreeSet;

use crate::slab::Place;
use crate::{NEVER, Nanoseconds};

/// What a deadline ends. In the order in which they are handled at one moment:
/// a key that a lease lets go is there for a wait that runs out just then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ends {
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
#[derive(Debug, Default)]
pub(crate) struct Deadlines(BTreeSet<Due>);

impl Deadlines {
    pub fn add(&mut self, due: Due) {
        if due.at != NEVER {
            self.0.insert(due);
        }
    }

    pub fn remove(&mut self, due: &Due) {
        if due.at != NEVER {
            self.0.remove(due);
        }
    }

    pub fn next(&self) -> Option<Nanoseconds> {
        self.0.first().map(|due| due.at)
    }

    /// The earliest of those due by `now`. It stays until it is removed.
    pub fn due(&self, now: Nanoseconds) -> Option<Due> {
        self.0.first().copied().filter(|due| due.at <= now)
    }
}
