//! Leases that an earlier server of the store gave, and this one's engine does not
//! know. No key is given before the last of them is over, so their holders may count
//! on them until their own deadlines.

use super::Server;
use crate::Nanoseconds;
use crate::wire::Pong;
use crate::wire::ended::How;
use crate::wire::to_client::Body;

impl Server {
    /// Until this moment leases may be live that the engine does not know, and it
    /// gives no key.
    pub fn unknown_until(&mut self, moment: Nanoseconds) {
        self.unknown_until = self.unknown_until.max(moment);
    }

    /// One can't be renewed. Whether it lasts, its holder knows; so that it does not
    /// take the connection for dead, it is answered all the same.
    pub(super) fn renew_unknown(&mut self, now: Nanoseconds, session: u64, fence: u64) {
        match self.may_last(now, session, fence) {
            true => self.tell(session, Body::Pong(Pong {})),
            false => self.tell_lost(session, fence),
        }
    }

    /// One lasted until now if its holder says so: nobody else had the key.
    pub(super) fn release_unknown(&mut self, now: Nanoseconds, session: u64, fence: u64) {
        match self.may_last(now, session, fence) {
            true => self.say_ended(session, fence, How::Released),
            false => self.tell_lost(session, fence),
        }
    }

    /// Whether the lease is none of this server's, and may last.
    fn may_last(&self, now: Nanoseconds, session: u64, fence: u64) -> bool {
        let is_over = |session: &super::Session| session.endings.contains_key(&fence);
        now < self.unknown_until && !self.sessions.get(&session).is_some_and(is_over)
    }
}
