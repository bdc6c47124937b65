//! Lines and their heads: who is granted, who leaves, who waits for a fence.

use alloc::string::String;
use core::ops::Range;

use super::{Asked, Engine};
use crate::Nanoseconds;
use crate::bounds;
use crate::event::{Event, Refusal};
use crate::leases::Lease;
use crate::list::List;
use crate::slab::Place;
use crate::tickets::Ask;

impl Engine {
    /// Looks at the head of a key's line, again and again, until it stays.
    /// Every change at the head, and every lease that ends, comes through here:
    /// a key goes straight from its holder to whom it is due.
    ///
    /// An ask whose wait ran out before `moment` is gone, told or not.
    pub(super) fn settle(&mut self, key: Place, moment: Nanoseconds) {
        while self.keys[key].may_serve()
            && let Some(head) = self.tickets.head(key)
        {
            if !self.may_work() {
                return self.keys.leave_unsettled(key);
            }
            if let Some(why) = self.refusal_of_head(head, moment) {
                self.take_from_line(head, why);
            } else if self.in_grace() {
                return self.keys.leave_unsettled(key);
            } else if self.fences.left() > 0 {
                let ask = self.leave_line(head);
                self.grant(ask);
            } else {
                self.fence_wanted |= self.no_fences.is_none();
                return self.keys.leave_unsettled(key);
            }
        }
        self.keys.settled(key);
    }

    /// Why the head of a line is not to be granted, though its key is free.
    fn refusal_of_head(&self, head: Place, moment: Nanoseconds) -> Option<Refusal> {
        let session = self.tickets[head].ask.session;
        if self.closing.is_some() {
            return Some(Refusal::Closed);
        }
        if self.is_gone(head, moment) {
            return Some(self.refusal_for_wait(head));
        }
        if self.in_grace() {
            return None;
        }
        if let Some(why) = &self.no_fences
            && self.fences.left() == 0
        {
            return Some(Refusal::Unavailable(why.clone()));
        }
        self.check_may_hold(session).err()
    }

    /// Whether an ask's wait ran out before `moment`, or its session gave it up.
    pub(crate) fn is_gone(&self, place: Place, moment: Nanoseconds) -> bool {
        self.tickets[place].deadline < moment || self.is_swept(place)
    }

    fn is_swept(&self, place: Place) -> bool {
        let ticket = &self.tickets[place];
        ticket.epoch != self.sessions[ticket.ask.session].ticket_epoch
    }

    /// What an ask is told whose wait ran out: that the key was in use, or, if
    /// it wasn't, what else was wanting.
    pub(super) fn refusal_for_wait(&self, place: Place) -> Refusal {
        if self.is_swept(place) {
            return Refusal::Closed;
        }
        let key = self.tickets[place].ask.key;
        let wants_fence = self.keys[key].is_free() && self.tickets.head(key) == Some(place);
        match wants_fence && self.fences.left() == 0 && !self.in_grace() {
            true => Refusal::Unavailable(bounds::no_fence()),
            false => Refusal::InUse,
        }
    }

    pub(super) fn wait_ran_out(&mut self, place: Place) {
        let (key, moment) = (self.tickets[place].ask.key, self.tickets[place].deadline);
        let why = self.refusal_for_wait(place);
        self.take_from_line(place, why);
        self.settle(key, moment);
    }

    /// Refuses an ask in line. Its key's line is the caller's to settle.
    pub(super) fn take_from_line(&mut self, place: Place, why: Refusal) {
        let ask = self.leave_line(place);
        self.forget_request(&ask);
        self.events.push(Event::Refused {
            ticket: ask.number,
            why,
        });
        self.forget_session(ask.session);
    }

    /// Takes an ask out of its line, whether to be granted or refused.
    fn leave_line(&mut self, place: Place) -> Ask {
        let (session, key) = (self.tickets[place].ask.session, self.tickets[place].ask.key);
        self.deadlines.remove(&self.tickets[place].due(place));
        let holder = &mut self.sessions[session];
        if self.tickets[place].epoch == holder.ticket_epoch {
            holder.waiting -= 1;
        }
        holder
            .tickets
            .remove(&mut self.tickets.slab, place, |ticket| {
                &mut ticket.of_session
            });
        self.keys[key].waiting -= 1;
        self.remove_stake(session, key);
        self.tickets.remove(place).ask
    }

    /// Gives a free key to an ask that stands in no line. There is a fence.
    pub(super) fn grant(&mut self, ask: Ask) {
        let Some(fence) = self.fences.take() else {
            return;
        };
        let mut lease = Lease::new(ask, fence, self.now);
        if let Some(until) = self.sessions[lease.ask.session].reconnect {
            lease.unseen = until;
        }
        self.add_lease(lease);
    }

    /// A key that is free is held by this lease from now on, which is told.
    pub(super) fn add_lease(&mut self, mut lease: Lease) {
        let (session, key) = (lease.ask.session, lease.ask.key);
        let request = lease.ask.request.as_deref().copied();
        let holder = &mut self.sessions[session];
        holder.held += 1;
        lease.epoch = holder.lease_epoch;
        let place = self.leases.add(lease);
        holder
            .leases
            .push_last(&mut self.leases.slab, place, |lease| &mut lease.of_session);
        let held = &mut self.keys[key];
        held.held += 1;
        held.leases
            .push_last(&mut self.leases.slab, place, |lease| &mut lease.of_key);
        if held.limit > 1 {
            self.add_stake(session, key);
        }
        if let Some(request) = request {
            self.requests.insert((session, request), Asked::Held(place));
        }
        let lease = &self.leases[place];
        self.deadlines.add(lease.due(place));
        self.events
            .push(Event::Granted(lease.grant(place, &self.seed)));
    }

    /// How much of a key's limit its line and its holders leave to nobody but
    /// this session.
    pub(super) fn stake(&self, session: Place, key: Place) -> u32 {
        let counted = self.stakes.get(&(session, key)).copied().unwrap_or(0);
        let holds = |place: Place| self.leases[place].ask.session == session;
        let only = self.keys[key].limit == 1 && self.keys[key].leases.first().is_some_and(holds);
        counted + u32::from(only)
    }

    /// An ask, or the lease that came of it, is over.
    pub(super) fn forget_request(&mut self, ask: &Ask) {
        if let Some(request) = &ask.request {
            self.requests.remove(&(ask.session, **request));
        }
    }

    pub(super) fn add_stake(&mut self, session: Place, key: Place) {
        match self.stakes.get_mut(&(session, key)) {
            Some(stake) => *stake += 1,
            None => self.stakes.insert((session, key), 1),
        }
    }

    pub(super) fn remove_stake(&mut self, session: Place, key: Place) {
        let Some(stake) = self.stakes.get_mut(&(session, key)) else {
            return;
        };
        *stake -= 1;
        if *stake == 0 {
            self.stakes.remove(&(session, key));
        }
    }

    /// Whether lines left unsettled can be gone on with.
    pub(super) fn can_settle(&self) -> bool {
        let served = self.fences.left() > 0 || self.no_fences.is_some();
        let able = served && !self.in_grace() || self.closing.is_some();
        able && self.keys.has_unsettled()
    }

    /// Goes on with lines that had to be left. In the grace nobody waits for a
    /// fence, so nobody is told that there is none.
    pub(super) fn settle_unsettled(&mut self, moment: Nanoseconds) {
        while self.can_settle() && self.may_work() {
            let Some(key) = self.keys.take_unsettled() else {
                break;
            };
            self.settle(key, moment);
        }
        if !self.keys.has_unsettled() || self.in_grace() {
            self.no_fences = None;
        }
    }

    pub(super) fn add_fences(&mut self, range: Range<u64>) {
        self.fences.add(range);
        if self.fences.left() > 0 {
            self.no_fences = None;
        }
    }

    pub(super) fn fences_failed(&mut self, why: String) {
        self.fences.failed();
        self.no_fences = Some(why);
    }

    /// The leases of a key, in the order of their grants.
    pub(super) fn leases_of(&self, key: Place) -> impl Iterator<Item = Place> + '_ {
        let next = |at: &Place| List::next(&self.leases[*at].of_key);
        core::iter::successors(self.keys[key].leases.first(), next)
    }
}
