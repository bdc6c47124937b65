//! Sessions: ended, suspended, resumed, closed. What one command gives up may
//! be more than one step can end; it counts as over from the command on, and is
//! swept as there is room.

use alloc::vec::Vec;

use super::{Asked, Engine};
use crate::bounds::{EVENTS_FOR_WORK, RECONNECT, STEP_LOOKED_AT};
use crate::command::Resume;
use crate::event::{Ending, Event, Refusal};
use crate::give_back;
use crate::slab::Place;
use crate::{Session, after};

impl Engine {
    pub(super) fn end_session(&mut self, number: Session) {
        let found = self.sessions.find(number);
        let Some(session) = found.filter(|at| !self.sessions[*at].ended) else {
            return;
        };
        self.sessions[session].ended = true;
        self.give_up_tickets(session);
        // What closing ended was lost before it could be let go.
        let lost = self.closing.is_some() && !self.sessions[session].remote;
        let how = match lost {
            true => Ending::Closed,
            false => Ending::Released,
        };
        self.give_up_leases(session, how);
        self.forget_session(session);
    }

    pub(super) fn suspend(&mut self, number: Session) {
        let Some(session) = self.sessions.find(number) else {
            return;
        };
        self.deadlines.remove(&self.sessions[session].due(session));
        self.sessions[session].reconnect = Some(after(self.now, RECONNECT));
        self.deadlines.add(self.sessions[session].due(session));
        self.forget_session(session);
    }

    /// A suspended session did not come back in time: its asks are given up.
    /// (Leases given to it meanwhile have this deadline themselves.)
    pub(super) fn give_up_places(&mut self, session: Place) {
        self.deadlines.remove(&self.sessions[session].due(session));
        self.sessions[session].reconnect = Some(crate::NEVER);
        self.give_up_tickets(session);
    }

    pub(super) fn resume(&mut self, resume: &Resume) {
        let found = self.sessions.find(resume.session);
        let Some(session) = found.filter(|at| !self.sessions[*at].ended) else {
            return self.not_held(resume.tag);
        };
        self.deadlines.remove(&self.sessions[session].due(session));
        self.sessions[session].reconnect = None;
        let leases = self.counted_on(session, resume);
        let tickets = self.waited_for(session, resume);
        self.give_up_leases(session, Ending::Released);
        self.give_up_tickets(session);
        leases
            .into_iter()
            .for_each(|place| self.keep_lease(session, place));
        tickets
            .into_iter()
            .for_each(|place| self.keep_ticket(session, place));
        self.events.push(Event::Fine { tag: resume.tag });
    }

    fn counted_on(&mut self, session: Place, resume: &Resume) -> Vec<Place> {
        let places = resume.leases.iter().filter_map(|id| {
            let place = self.seed.place(*id)?;
            self.leases.is_at(place, id.fence).then_some(place)
        });
        places
            .filter(|at| self.leases[*at].ask.session == session && !self.is_over(*at))
            .collect()
    }

    fn waited_for(&self, session: Place, resume: &Resume) -> Vec<Asked> {
        let asked = resume
            .requests
            .iter()
            .filter_map(|r| self.requests.get(&(session, *r)));
        asked
            .copied()
            .filter(|asked| match asked {
                Asked::InLine(at) => !self.is_gone(*at, self.now.saturating_add(1)),
                Asked::Held(at) => !self.is_over(*at),
            })
            .collect()
    }

    /// Keeps an ask, or the lease that came of it while the client was away.
    fn keep_ticket(&mut self, session: Place, asked: Asked) {
        let place = match asked {
            Asked::Held(place) => return self.keep_lease(session, place),
            Asked::InLine(place) => place,
        };
        let holder = &mut self.sessions[session];
        if self.tickets[place].epoch == holder.ticket_epoch {
            return; // It was named twice.
        }
        self.tickets[place].epoch = holder.ticket_epoch;
        holder.waiting += 1;
        let slab = &mut self.tickets.slab;
        holder
            .tickets
            .remove(slab, place, |ticket| &mut ticket.of_session);
        holder
            .tickets
            .push_last(slab, place, |ticket| &mut ticket.of_session);
    }

    fn keep_lease(&mut self, session: Place, place: Place) {
        let holder = &mut self.sessions[session];
        if self.leases[place].epoch == holder.lease_epoch {
            return; // It was named twice.
        }
        self.leases[place].epoch = holder.lease_epoch;
        holder.held += 1;
        let slab = &mut self.leases.slab;
        holder
            .leases
            .remove(slab, place, |lease| &mut lease.of_session);
        holder
            .leases
            .push_last(slab, place, |lease| &mut lease.of_session);
        self.renew_lease(place);
    }

    fn give_up_tickets(&mut self, session: Place) {
        let holder = &mut self.sessions[session];
        holder.ticket_epoch = holder.ticket_epoch.wrapping_add(1);
        holder.waiting = 0;
        self.sweep_later(session);
    }

    fn give_up_leases(&mut self, session: Place, how: Ending) {
        let holder = &mut self.sessions[session];
        holder.lease_epoch = holder.lease_epoch.wrapping_add(1);
        holder.held = 0;
        holder.swept = how;
        self.sweep_later(session);
    }

    fn sweep_later(&mut self, session: Place) {
        if !core::mem::replace(&mut self.sessions[session].sweeping, true) {
            self.sweeping.push_back(session);
        }
    }

    /// Whether a session gave up what is not ended yet, and goes on.
    pub(super) fn is_sweeping(&self, number: Session) -> bool {
        let goes_on = |at: &Place| self.sessions[*at].sweeping && !self.sessions[*at].ended;
        self.sessions.find(number).is_some_and(|at| goes_on(&at))
    }

    /// Ends what sessions gave up, as far as there is room.
    pub(super) fn sweep_sessions(&mut self) {
        while let Some(session) = self.sweeping.front().copied() {
            while let Some(place) = self.swept_ticket(session) {
                if !self.may_work() {
                    return;
                }
                let key = self.tickets[place].ask.key;
                self.take_from_line(place, Refusal::Closed);
                self.settle(key, self.now.saturating_add(1));
            }
            while let Some(place) = self.swept_lease(session) {
                if !self.may_work() {
                    return;
                }
                self.end_overdue(place);
            }
            self.sweeping.pop_front();
            give_back::from_queue(&mut self.sweeping);
            self.sessions[session].sweeping = false;
            self.forget_session(session);
        }
    }

    fn swept_ticket(&self, session: Place) -> Option<Place> {
        let holder = &self.sessions[session];
        let first = holder.tickets.first();
        first.filter(|at| self.tickets[*at].epoch != holder.ticket_epoch)
    }

    fn swept_lease(&self, session: Place) -> Option<Place> {
        let holder = &self.sessions[session];
        let first = holder.leases.first();
        first.filter(|at| self.leases[*at].epoch != holder.lease_epoch)
    }

    /// Whether closing has sessions left to look at.
    pub(super) fn is_closing_sessions(&self) -> bool {
        self.closing.is_some_and(|at| at < self.sessions.slab.end())
    }

    /// Gives up all that sessions hold and wait for, save the leases of remote
    /// ones, which end as their holders confirm the closing, or by their ttl.
    pub(super) fn close_sessions(&mut self) {
        let Some(mut at) = self.closing else { return };
        let end = self.sessions.slab.end();
        for _ in 0..STEP_LOOKED_AT {
            if at >= end || self.room(EVENTS_FOR_WORK) == 0 {
                break;
            }
            if let Some(holder) = self.sessions.slab.get(at) {
                let ends = !holder.remote && !holder.ended;
                self.give_up_tickets(at);
                if ends {
                    self.give_up_leases(at, Ending::Closed);
                }
            }
            at += 1;
        }
        self.closing = Some(at);
    }

    /// Forgets a session of which nothing is left to answer.
    pub(super) fn forget_session(&mut self, session: Place) {
        if let Some(due) = self.sessions.forget_done(session) {
            self.deadlines.remove(&due);
        }
    }
}
