//! The grace: before a moment no key is given, since leases from before a
//! restart may be live until then.

use super::Engine;
use crate::Nanoseconds;
use crate::deadlines::{Due, Ends};

impl Engine {
    /// No key is given before `until`, whatever was said before.
    pub(super) fn begin_grace(&mut self, until: Nanoseconds) {
        if until <= self.now {
            return self.end_grace();
        }
        if let Some(earlier) = self.grace.replace(until) {
            self.deadlines.remove(&end_at(earlier));
        }
        self.deadlines.add(end_at(until));
    }

    pub(super) fn in_grace(&self) -> bool {
        self.grace.is_some()
    }

    /// Every key may be given again: lines are served, or refused, as of when it
    /// was over; those for which there is no room are left to later.
    pub(super) fn end_grace(&mut self) {
        let Some(until) = self.grace.take() else {
            return;
        };
        self.deadlines.remove(&end_at(until));
        let moment = until.min(self.now.saturating_add(1));
        // Who stood in line wanted no fence so far.
        self.fence_wanted |= self.keys.has_unsettled() && self.fences.left() == 0;
        self.settle_unsettled(moment);
    }

    /// A command does not find a grace that is over, though this step had no room
    /// for all that was due before its end.
    pub(super) fn end_overdue_grace(&mut self) {
        if self.grace.is_some_and(|until| until <= self.now) {
            self.end_grace();
        }
    }
}

/// There is one grace, of no place.
fn end_at(at: Nanoseconds) -> Due {
    Due {
        at,
        ends: Ends::Grace,
        serial: 0,
        place: 0,
    }
}
