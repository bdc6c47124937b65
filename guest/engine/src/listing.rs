//! Pages of what is held and of who waits. A listing is no snapshot: between
//! two pages things go on; what stays throughout is listed once.

use alloc::vec::Vec;

use crate::bounds::{STEP_LISTED, STEP_LOOKED_AT};
use crate::engine::Engine;
use crate::event::{Holding, Page, Waiting};
use crate::keys::texts;
use crate::leases::moment;
use crate::slab::Place;

impl Engine {
    /// Leases by their places, from `cursor` on.
    pub(crate) fn holdings(&self, cursor: u64) -> Page<Holding, u64> {
        let mut items = Vec::new();
        let end = u64::from(self.leases.slab.end());
        let mut at = cursor;
        while at < end && items.len() < STEP_LISTED && at - cursor < STEP_LOOKED_AT as u64 {
            items.extend(self.holding(at as Place));
            at += 1;
        }
        Page {
            items,
            next: (at < end).then_some(at),
        }
    }

    fn holding(&self, place: Place) -> Option<Holding> {
        let lease = self.leases.slab.get(place)?;
        if self.is_over(place) {
            return None;
        }
        let (name, limit, key) = texts(&self.keys[lease.ask.key]);
        Some(Holding {
            name,
            limit,
            key,
            label: lease.ask.label.as_deref().map(Into::into),
            session: self.sessions[lease.ask.session].number,
            fence: lease.fence,
            place,
            held: self.now().saturating_sub(lease.since),
            left: moment(lease.deadline()).map(|at| at.saturating_sub(self.now())),
        })
    }

    /// Waiters by keys, in their order, from `cursor` on.
    pub(crate) fn waiters(&self, cursor: (u64, u64)) -> Page<Waiting, (u64, u64)> {
        let Ok(first) = Place::try_from(cursor.0) else {
            return Page {
                items: Vec::new(),
                next: None,
            };
        };
        let mut places = self.tickets.from((first, cursor.1));
        let mut items = Vec::new();
        for (_, place) in places.by_ref().take(STEP_LISTED) {
            items.extend(self.waiting(place));
        }
        let next = places
            .next()
            .map(|((key, arrival), _)| (u64::from(key), arrival));
        Page { items, next }
    }

    fn waiting(&self, place: Place) -> Option<Waiting> {
        if self.is_gone(place, self.now().saturating_add(1)) {
            return None;
        }
        let ticket = &self.tickets[place];
        let (name, limit, key) = texts(&self.keys[ticket.ask.key]);
        Some(Waiting {
            name,
            limit,
            key,
            label: ticket.ask.label.as_deref().map(Into::into),
            session: self.sessions[ticket.ask.session].number,
            waited: self.now().saturating_sub(ticket.since),
            left: ticket.deadline.saturating_sub(self.now()),
        })
    }
}
