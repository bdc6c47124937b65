//! Asking the store whether a lease lasts, for holders whose clock can't tell: one
//! that stands still while its machine sleeps.

use super::Client;
use super::asks::Phase;
use crate::Nanoseconds;

impl Client {
    /// Renews the lease that came of an ask, now. The answer is told as any
    /// renewal's: as [`Renewed`](super::Event::Renewed), or as the lease's end. It
    /// is the answer to this, and not to a renewal before, once
    /// [`dated_at`](Client::dated_at) is not before this `now`.
    pub fn renew(&mut self, now: Nanoseconds, number: u64) {
        // What is overdue is lost; what is due is asked about by that.
        self.ring(now);
        let is_up = self.link.is_up();
        if let Some((session, _, held)) = self.held(number)
            && held.unanswered != Some(now)
        {
            held.unanswered = Some(now);
            let lease = held.lease;
            // Without a connection, the next one renews it at once.
            if is_up {
                self.renewals.entry(session).or_default().push(lease.into());
            }
        }
        self.send_renewals(now);
    }

    /// When the store was last known to count on the lease that came of an ask:
    /// the sending time that its latest answer echoes.
    pub fn dated_at(&self, number: u64) -> Option<Nanoseconds> {
        match &self.asks.get(&number)?.phase {
            Phase::Held(held) => Some(held.dated),
            _ => None,
        }
    }
}
