//! Sessions that left after having come back: an older connection of theirs may
//! still be read, and must not open them anew.

use super::due::Due;
use super::{HELLO_WAIT, SILENCE, Server};
use crate::Nanoseconds;

/// How long a session is known after it left. What its client had said at an older
/// connection comes before that is cut off for its silence, or for its hello.
const KNOWN: Nanoseconds = SILENCE + HELLO_WAIT;

/// How many are known at most: ten connections' sessions, some 10 MB. What is
/// left out opens anew only if its older connection is read late as well, and
/// ends with that connection.
const KNOWN_MOST: usize = 100_000;

/// What is known of a session that left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Left {
    /// The latest of its entries.
    entry: u64,
    /// Until when it is known.
    until: Nanoseconds,
}

impl Server {
    /// Remembers a session that left. One that entered once has no older
    /// connection.
    pub(super) fn remember_left(&mut self, now: Nanoseconds, id: u128, entry: u64) {
        if entry <= 1 || self.left.len() >= KNOWN_MOST {
            return;
        }
        let until = now.saturating_add(KNOWN);
        self.left.insert(id, Left { entry, until });
        self.due.add(until, Due::Left(id));
    }

    /// Whether an entry of a session that left was said before it did.
    pub(super) fn has_left(&self, id: u128, entry: u64) -> bool {
        self.left.get(&id).is_some_and(|left| entry <= left.entry)
    }

    pub(super) fn forget_left(&mut self, id: u128) {
        if let Some(left) = self.left.remove(&id) {
            self.due.remove(left.until, Due::Left(id));
        }
    }
}
