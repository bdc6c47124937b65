//! Asks for keys: what is refused, what is granted at once, what stands in line.

use alloc::boxed::Box;

use super::{Asked, Engine};
use crate::bounds::{self, Invalid, TTL_DEFAULT, TooMany, WAIT_DEFAULT, WAITERS_PER_KEY};
use crate::command::{Check, Hold};
use crate::event::{Event, Refusal};
use crate::keys::KeyName;
use crate::slab::Place;
use crate::tickets::Ask;
use crate::{Milliseconds, Ticket, after};

impl Hold<'_> {
    pub(super) fn key_name(&self) -> KeyName<'_> {
        KeyName {
            name: &self.name,
            limit: self.limit,
            key: &self.key,
        }
    }
}

impl Engine {
    /// Whether a lock or a semaphore could be opened so.
    pub(super) fn check(&mut self, check: &Check) {
        let tag = check.tag;
        self.events.push(
            match bounds::check(&check.name, check.limit, &check.options) {
                Ok(()) => Event::Fine { tag },
                Err(why) => Event::Invalid { tag, why },
            },
        );
    }

    pub(super) fn hold(&mut self, hold: &Hold) {
        let ticket = hold.ticket;
        if let Err(why) = self.ask(hold) {
            self.events.push(Event::Refused { ticket, why });
        }
    }

    fn ask(&mut self, hold: &Hold) -> Result<(), Refusal> {
        check_hold(hold)?;
        let session = self.session_of(hold)?;
        if let Some(request) = hold.request
            && let Some(asked) = self.requests.get(&(session, request)).copied()
        {
            if self.ask_again(hold, asked)? {
                return Ok(());
            }
            // What was asked before is over now, and the session may be with it.
            self.session_of(hold)?;
        }
        let named = hold.key_name();
        let hash = self.keys.hash(&named);
        let found = self.keys.find(hash, &named);
        let is_free = |key: Place| self.keys[key].is_free() && self.keys[key].waiting == 0;
        let free = !self.in_grace() && found.is_none_or(is_free);
        if let Some(key) = found {
            self.check_key(key, hold, session, free)?;
        }
        let wait = hold.wait.unwrap_or(WAIT_DEFAULT);
        if !free && wait == 0 {
            return Err(Refusal::InUse);
        }
        if free {
            self.check_may_hold(session)?;
        }
        if !free || self.fences.left() == 0 {
            self.check_may_wait(session)?;
        }
        let key = found.unwrap_or_else(|| self.keys.add(hash, &named));
        let ask = self.new_ask(hold, session, key);
        match (free, self.fences.left()) {
            (true, 1..) => self.grant(ask),
            (true, 0) => self.wait_for_fence(ask, wait),
            (false, _) => self.stand_in_line(ask, after(self.now, wait)),
        }
        Ok(())
    }

    pub(super) fn session_of(&self, hold: &Hold) -> Result<Place, Refusal> {
        let session = self.sessions.find(hold.session).ok_or(Refusal::Closed)?;
        match self.sessions[session].ended || self.closing.is_some() {
            true => Err(Refusal::Closed),
            false => Ok(session),
        }
    }

    /// The key that a hold names, if it is in use.
    pub(super) fn key_of(&self, hold: &Hold) -> Option<Place> {
        let named = hold.key_name();
        self.keys.find(self.keys.hash(&named), &named)
    }

    /// Answers a request that was asked before, if it still has its place in
    /// line or its lease. Otherwise it is a new ask.
    fn ask_again(&mut self, hold: &Hold, asked: Asked) -> Result<bool, Refusal> {
        let key = match asked {
            Asked::InLine(place) if self.is_gone(place, self.now.saturating_add(1)) => {
                self.refuse_gone(place);
                return Ok(false);
            }
            Asked::Held(place) if self.is_over(place) => {
                self.end_overdue(place);
                return Ok(false);
            }
            Asked::InLine(place) => self.tickets[place].ask.key,
            Asked::Held(place) => self.leases[place].ask.key,
        };
        if self.key_of(hold) != Some(key) {
            return Err(Refusal::Invalid(Invalid::OtherKey));
        }
        self.check_limit(key, hold)?;
        match asked {
            Asked::InLine(place) => {
                let before = self.tickets.rename(place, hold.ticket);
                self.supersede(before, hold.ticket);
            }
            Asked::Held(place) => self.grant_again(place, hold.ticket),
        }
        Ok(true)
    }

    /// Refuses an ask whose wait is over, which no step has had room for yet.
    fn refuse_gone(&mut self, place: Place) {
        let key = self.tickets[place].ask.key;
        let why = self.refusal_for_wait(place);
        self.take_from_line(place, why);
        self.settle(key, self.now.saturating_add(1));
    }

    fn grant_again(&mut self, place: Place, number: Ticket) {
        self.renew_lease(place);
        let before = core::mem::replace(&mut self.leases[place].ask.number, number);
        self.supersede(before, number);
        let grant = self.leases[place].grant(place, &self.seed);
        self.events.push(Event::Granted(grant));
    }

    fn supersede(&mut self, before: Ticket, number: Ticket) {
        if before != number {
            self.events.push(Event::Superseded(before));
        }
    }

    /// What a key in use refuses.
    fn check_key(
        &self,
        key: Place,
        hold: &Hold,
        session: Place,
        free: bool,
    ) -> Result<(), Refusal> {
        self.check_limit(key, hold)?;
        if hold.alone && self.stake(session, key) >= self.keys[key].limit {
            return Err(Refusal::HeldByCaller);
        }
        let waits = hold.wait != Some(0) && !free;
        if waits && self.keys[key].waiting >= WAITERS_PER_KEY {
            return Err(Refusal::TooMany(TooMany::WaitersOfKey));
        }
        Ok(())
    }

    /// A key has one limit while it is in use.
    pub(super) fn check_limit(&self, key: Place, hold: &Hold) -> Result<(), Refusal> {
        let used = self.keys[key].limit;
        match hold.limit.filter(|asked| *asked != used) {
            Some(asked) => Err(Refusal::Invalid(Invalid::OtherLimit { asked, used })),
            None => Ok(()),
        }
    }

    /// Whether a holder's own bound leaves it another key to hold.
    pub(super) fn check_may_hold(&self, session: Place) -> Result<(), Refusal> {
        let holder = &self.sessions[session];
        match holder.held < holder.max_held {
            true => Ok(()),
            false => Err(Refusal::TooMany(TooMany::Held(holder.max_held))),
        }
    }

    /// Whether a holder's own bound leaves it another key to wait for.
    fn check_may_wait(&self, session: Place) -> Result<(), Refusal> {
        let holder = &self.sessions[session];
        match holder.waiting < holder.max_waiting {
            true => Ok(()),
            false => Err(Refusal::TooMany(TooMany::WaitedFor(holder.max_waiting))),
        }
    }

    pub(super) fn new_ask(&self, hold: &Hold, session: Place, key: Place) -> Ask {
        let ttl = hold.options.ttl.unwrap_or(TTL_DEFAULT);
        Ask {
            number: hold.ticket,
            session,
            key,
            ttl: self.sessions[session].remote.then_some(ttl),
            max_hold: hold.options.max_hold,
            label: hold.options.label.as_deref().map(Box::from),
            request: hold.request.map(Box::new),
        }
    }

    /// A free key, and no fence to give with it: first in line, until there is one.
    fn wait_for_fence(&mut self, ask: Ask, wait: Milliseconds) {
        self.stand_in_line(ask, bounds::fence_deadline(self.now, wait));
        self.fence_wanted = true;
    }

    /// In the line of a key that is free, for want of a fence or in the grace, it
    /// is served when that is over.
    fn stand_in_line(&mut self, ask: Ask, deadline: u64) {
        let (session, key) = (ask.session, ask.key);
        let request = ask.request.as_deref().copied();
        let epoch = self.sessions[session].ticket_epoch;
        let place = self.tickets.add(ask, self.now, deadline, epoch);
        self.deadlines.add(self.tickets[place].due(place));
        if let Some(request) = request {
            self.requests
                .insert((session, request), Asked::InLine(place));
        }
        self.add_stake(session, key);
        self.keys[key].waiting += 1;
        if self.keys[key].is_free() {
            self.keys.leave_unsettled(key);
        }
        let holder = &mut self.sessions[session];
        holder.waiting += 1;
        holder
            .tickets
            .push_last(&mut self.tickets.slab, place, |ticket| {
                &mut ticket.of_session
            });
    }

    pub(super) fn cancel(&mut self, number: Ticket) {
        if let Some(place) = self.tickets.find(number) {
            let key = self.tickets[place].ask.key;
            self.take_from_line(place, Refusal::Cancelled);
            self.settle(key, self.now.saturating_add(1));
        }
    }
}

pub(super) fn check_hold(hold: &Hold) -> Result<(), Refusal> {
    bounds::check(&hold.name, hold.limit, &hold.options)
        .and_then(|()| bounds::key(&hold.key))
        .map_err(Refusal::Invalid)
}
