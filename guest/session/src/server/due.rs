//! What is to be looked at when: each thing once, so that a moment costs what is
//! due, not what there is.

use alloc::collections::BTreeSet;

use super::{ConnectionId, HELLO_WAIT, Server};
use crate::Nanoseconds;

/// After how long without a tick it is the server that was silent: its machine
/// slept, or its process was stopped.
const STOOD_STILL: Nanoseconds = HELLO_WAIT;

/// Something that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// A connection may have been silent for too long.
    Connection(ConnectionId),
    /// Nothing can be left of a session that did not come back.
    Session(u64),
    /// A session that left need not be known any more.
    Left(u128),
}

/// All that will be due.
#[derive(Debug, Default)]
pub(super) struct Deadlines(BTreeSet<(Nanoseconds, Due)>);

impl Deadlines {
    pub fn add(&mut self, at: Nanoseconds, due: Due) {
        self.0.insert((at, due));
    }

    pub fn remove(&mut self, at: Nanoseconds, due: Due) {
        self.0.remove(&(at, due));
    }

    fn take(&mut self, now: Nanoseconds) -> Option<Due> {
        let (at, due) = *self.0.first()?;
        if at > now {
            return None;
        }
        self.remove(at, due);
        Some(due)
    }
}

impl Server {
    /// Cuts off who is silent, and gives up sessions that did not come back.
    /// To be called about once a second.
    pub fn tick(&mut self, now: Nanoseconds) {
        let stood_still = now.saturating_sub(self.ticked) >= STOOD_STILL;
        self.ticked = now;
        if stood_still {
            // What clients said meanwhile may not be read yet.
            return;
        }
        while let Some(due) = self.due.take(now) {
            match due {
                Due::Connection(id) => self.check_silence(now, id),
                Due::Session(number) => self.end_session(now, number),
                Due::Left(id) => self.forget_left(id),
            }
        }
    }
}
