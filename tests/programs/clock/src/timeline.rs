//! A time that goes on when it is told to, and who waits for it. The tests' own
//! process has this file too, for a clock that is not a component.

use std::collections::BTreeMap;
use std::task::Waker;

/// A millisecond, in nanoseconds.
const MILLISECOND: u64 = 1_000_000;

/// A wait: until when, and which one of those.
pub type Place = (u64, u64);

/// The time, in nanoseconds.
pub struct Timeline {
    now: u64,
    last: u64,
    /// In the order in which they are due.
    waiting: BTreeMap<Place, Waker>,
}

impl Timeline {
    /// A time at which nobody waits.
    pub const fn new() -> Self {
        Timeline {
            now: 0,
            last: 0,
            waiting: BTreeMap::new(),
        }
    }

    pub fn now(&self) -> u64 {
        self.now
    }

    /// The moment so many milliseconds from now.
    pub fn after(&self, milliseconds: u64) -> u64 {
        self.now + milliseconds * MILLISECOND
    }

    /// Moves on, and wakes nobody.
    pub fn set(&mut self, now: u64) {
        self.now = now;
    }

    /// A wait of so many nanoseconds.
    pub fn place(&mut self, span: u64) -> Place {
        self.last += 1;
        (self.now.saturating_add(span), self.last)
    }

    /// Whether a wait is over; if not, the waker is woken when it is.
    pub fn is_over(&mut self, place: Place, waker: &Waker) -> bool {
        let is_over = place.0 <= self.now;
        if !is_over {
            self.waiting.insert(place, waker.clone());
        }
        is_over
    }

    /// Whoever waited is gone.
    pub fn give_up(&mut self, place: Place) {
        self.waiting.remove(&place);
    }

    /// Moves to the next moment up to `until` at which something is due, and
    /// gives who is to be woken then; none if there is no such moment.
    pub fn next(&mut self, until: u64) -> Option<Vec<Waker>> {
        let due = self.waiting.keys().next().map(|(due, _)| *due);
        let due = due.filter(|due| *due <= until)?;
        self.now = self.now.max(due);
        let later = self.waiting.split_off(&(self.now + 1, 0));
        let due = std::mem::replace(&mut self.waiting, later);
        Some(due.into_values().collect())
    }
}
