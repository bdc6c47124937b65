//! Leases: renewed, released, broken, ended.

use alloc::vec::Vec;

use super::Engine;
use crate::bounds::{EVENTS_PER_COMMAND, STEP_EVENTS};
use crate::command::Hold;
use crate::event::{Ending, Event};
use crate::leases::moment;
use crate::slab::Place;
use crate::{LeaseId, Nanoseconds};

impl Engine {
    pub(super) fn renew(&mut self, tag: u64, id: LeaseId) {
        let Some(place) = self.live(id) else {
            return self.not_held(tag);
        };
        self.renew_lease(place);
        let deadline = moment(self.leases[place].deadline());
        self.events.push(Event::Renewed { tag, deadline });
    }

    pub(super) fn renew_lease(&mut self, place: Place) {
        self.deadlines.remove(&self.leases[place].due(place));
        self.leases[place].renew(self.now);
        self.deadlines.add(self.leases[place].due(place));
    }

    pub(super) fn release(&mut self, tag: u64, id: LeaseId) {
        match self.live(id) {
            Some(place) => self.end_lease(place, Ending::Released, self.now.saturating_add(1)),
            None => self.not_held(tag),
        }
    }

    pub(super) fn break_lease(&mut self, tag: u64, fence: u64, place: u32) {
        match self.live_at(place, fence) {
            Some(place) => {
                self.end_lease(place, Ending::Broken, self.now.saturating_add(1));
                self.events.push(Event::Fine { tag });
            }
            None => self.not_held(tag),
        }
    }

    pub(super) fn not_held(&mut self, tag: u64) {
        self.events.push(Event::NotHeld { tag });
    }

    /// Where the lease with this id is, if it lasts. One that is over and was
    /// not ended yet, ends now.
    pub(super) fn live(&mut self, id: LeaseId) -> Option<Place> {
        self.live_at(self.seed.place(id)?, id.fence)
    }

    fn live_at(&mut self, place: Place, fence: u64) -> Option<Place> {
        if !self.leases.is_at(place, fence) {
            return None;
        }
        if self.is_over(place) {
            self.end_overdue(place);
            return None;
        }
        Some(place)
    }

    /// Whether a lease is past its deadline, or was given up by its session.
    pub(crate) fn is_over(&self, place: Place) -> bool {
        let lease = &self.leases[place];
        lease.deadline() <= self.now || lease.epoch != self.sessions[lease.ask.session].lease_epoch
    }

    /// Ends a lease that is over, as of when it was.
    pub(super) fn end_overdue(&mut self, place: Place) {
        let lease = &self.leases[place];
        if lease.deadline() <= self.now {
            self.end_lease(place, lease.ending(), lease.deadline());
        } else {
            let how = self.sessions[lease.ask.session].swept;
            self.end_lease(place, how, self.now.saturating_add(1));
        }
    }

    /// Before an ask meets a key: ends those of its leases that are over and
    /// had no room to be ended in an earlier step. False if this step has no
    /// room for them either.
    pub(super) fn end_overdue_of(&mut self, hold: &Hold) -> bool {
        if !self.is_behind() {
            return true;
        }
        let Some(key) = self.key_of(hold) else {
            return true;
        };
        let mut over: Vec<Place> = self.leases_of(key).filter(|at| self.is_over(*at)).collect();
        if over.len() + EVENTS_PER_COMMAND > self.room(STEP_EVENTS) {
            return false;
        }
        over.sort_by_key(|at| self.leases[*at].due(*at));
        over.into_iter().for_each(|place| self.end_overdue(place));
        true
    }

    /// Ends a lease and gives its key on, to whom it was due at `moment`.
    pub(super) fn end_lease(&mut self, place: Place, how: Ending, moment: Nanoseconds) {
        let (session, key) = (self.leases[place].ask.session, self.leases[place].ask.key);
        self.deadlines.remove(&self.leases[place].due(place));
        let holder = &mut self.sessions[session];
        if self.leases[place].epoch == holder.lease_epoch {
            holder.held -= 1;
        }
        holder
            .leases
            .remove(&mut self.leases.slab, place, |lease| &mut lease.of_session);
        let held = &mut self.keys[key];
        held.held -= 1;
        held.leases
            .remove(&mut self.leases.slab, place, |lease| &mut lease.of_key);
        if held.limit > 1 {
            self.remove_stake(session, key);
        }
        let ask = self.leases.remove(place).ask;
        self.forget_request(&ask);
        self.events.push(Event::Ended {
            ticket: ask.number,
            how,
        });
        self.settle(key, moment);
        self.forget_session(session);
    }
}
