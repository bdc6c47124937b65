//! When something is to be done for an ask: one moment each.

use super::Client;
use super::asks::Phase;
use crate::Nanoseconds;

impl Client {
    /// Sets when to look at an ask again, in place of what was set before.
    pub(super) fn set_timer(&mut self, number: u64) {
        let Some(ask) = self.asks.get_mut(&number) else {
            return;
        };
        let at = ask.next_moment();
        if ask.timer != at {
            self.timers.remove(&(ask.timer, number));
            self.timers.insert((at, number));
            ask.timer = at;
        }
    }

    /// Looks at every ask whose moment has come.
    pub(super) fn ring(&mut self, now: Nanoseconds) {
        while let Some((at, number)) = self.timers.first().copied()
            && at <= now
        {
            self.timers.remove(&(at, number));
            self.look_at(now, number);
            if let Some(ask) = self.asks.get_mut(&number) {
                // It is not among the timers now.
                ask.timer = ask.next_moment();
                self.timers.insert((ask.timer, number));
            }
        }
    }

    fn look_at(&mut self, now: Nanoseconds, number: u64) {
        match self.asks.get(&number).map(|ask| &ask.phase) {
            Some(Phase::Waiting(_)) => self.look_at_waiting(now, number),
            Some(Phase::Held(_)) => self.look_at_held(now, number),
            Some(Phase::Releasing(_)) => self.look_at_releasing(number),
            Some(Phase::Closed(_)) | None => {}
        }
    }

    /// Nothing is to be done for an ask any more.
    pub(super) fn forget(&mut self, number: u64) {
        let Some(ask) = self.asks.remove(&number) else {
            return;
        };
        self.timers.remove(&(ask.timer, number));
        if let Some(fence) = ask.phase.fence() {
            self.by_fence.remove(&fence);
        }
        if let Some(session) = self.sessions.get_mut(&ask.session) {
            session.asks.remove(&number);
        }
    }
}
