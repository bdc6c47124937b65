//! Leases that an earlier engine gave, and that go on.

use super::{Engine, asking};
use crate::bounds::{FENCE_END, Invalid};
use crate::command::Restore;
use crate::event::{Event, Refusal};
use crate::leases::Lease;
use crate::slab::Place;
use crate::{NEVER, Request};

impl Engine {
    pub(super) fn restore(&mut self, restore: &Restore) {
        let ticket = restore.hold.ticket;
        if let Err(why) = self.give_back(restore) {
            self.events.push(Event::Refused { ticket, why });
        }
    }

    /// What an earlier engine gave was within its bounds. Where this does not look
    /// so, what tells of it is damaged, and the lease is refused.
    fn give_back(&mut self, restore: &Restore) -> Result<(), Refusal> {
        let hold = &restore.hold;
        asking::check_hold(hold)?;
        if !(1..FENCE_END).contains(&restore.fence) {
            return Err(Refusal::Invalid(Invalid::Fence(restore.fence)));
        }
        let session = self.session_of(hold)?;
        self.check_new(session, hold.request)?;
        let named = hold.key_name();
        let hash = self.keys.hash(&named);
        let found = self.keys.find(hash, &named);
        if let Some(key) = found {
            self.check_limit(key, hold)?;
            if !self.keys[key].is_free() {
                return Err(Refusal::InUse);
            }
        }
        self.check_may_hold(session)?;
        let key = found.unwrap_or_else(|| self.keys.add(hash, &named));
        let ask = self.new_ask(hold, session, key);
        self.add_lease(Lease {
            since: restore.since,
            expires: restore.expires,
            revoked: restore.revoked.unwrap_or(NEVER),
            ..Lease::new(ask, restore.fence, self.now)
        });
        Ok(())
    }

    /// A request names one ask.
    fn check_new(&self, session: Place, request: Option<Request>) -> Result<(), Refusal> {
        match request.and_then(|request| self.requests.get(&(session, request))) {
            Some(_) => Err(Refusal::Invalid(Invalid::OtherKey)),
            None => Ok(()),
        }
    }
}
