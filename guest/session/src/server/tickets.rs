//! What was asked of the engine and is not over.

use alloc::boxed::Box;

use witlock_engine::LeaseId;

use super::sessions::Held;
use super::{ConnectionId, Server};
use crate::journal::Given;
use crate::wire;

/// Bits of a ticket's place: more tickets than there is memory for.
const PLACE_BITS: u32 = 40;

/// An ask, and the lease that may come of it.
#[derive(Debug)]
pub(super) struct Ticket {
    pub session: u64,
    pub ask: u64,
    /// What was asked for, until its lease is kept.
    pub hold: Option<Box<wire::Hold>>,
    /// Its lease's, once it has one.
    pub fence: Option<u64>,
    /// What the holder of a lease that is restored names it by.
    pub secret: Option<u64>,
}

/// A command that is answered once.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tag {
    Resume,
    Renew {
        session: u64,
        fence: u64,
    },
    Release {
        session: u64,
        fence: u64,
    },
    /// One of an operator's, by the connection's own tag.
    Operator {
        connection: ConnectionId,
        own: u64,
    },
}

impl Server {
    pub(super) fn tag(&mut self, tag: Tag) -> u64 {
        self.last_tag += 1;
        self.tags.insert(self.last_tag, tag);
        self.base | self.last_tag
    }

    pub(super) fn take_tag(&mut self, number: u64) -> Option<Tag> {
        let tag = self.tags.remove(&(number & !self.base))?;
        if let Tag::Release { session, fence } = tag
            && let Some(held) = self.held(session, fence)
        {
            held.release = None;
        }
        Some(tag)
    }

    pub(super) fn peek_tag(&self, number: u64) -> Option<Tag> {
        self.tags.get(&(number & !self.base)).copied()
    }

    /// What the engine knows a lease by, if the session has it and named it as it was
    /// told.
    pub(super) fn named(&self, session: u64, lease: wire::Lease) -> Option<LeaseId> {
        let held = self.sessions.get(&session)?.held.get(&lease.fence)?;
        (held.secret == lease.secret).then_some(held.id)
    }

    /// A lease, if the session has it.
    pub(super) fn held(&mut self, session: u64, fence: u64) -> Option<&mut Held> {
        self.sessions.get_mut(&session)?.held.get_mut(&fence)
    }

    pub(super) fn ticket(&mut self, number: u64) -> Option<&mut Ticket> {
        let place = self.place(number)?;
        self.tickets.get_mut(place)
    }

    pub(super) fn peek_ticket(&self, number: u64) -> Option<&Ticket> {
        self.tickets.get(self.place(number)?)
    }

    /// Takes out an ask that is over.
    pub(super) fn take_ticket(&mut self, number: u64) -> Option<Ticket> {
        let ticket = self.tickets.try_remove(self.place(number)?)?;
        self.forget_ask(ticket.session, ticket.ask, number);
        Some(ticket)
    }

    /// Numbers an ask, which waits from now on.
    pub(super) fn add_ask(&mut self, session: u64, hold: wire::Hold) -> u64 {
        let ask = hold.ask;
        let number = self.add_ticket(Ticket {
            session,
            ask,
            hold: Some(Box::new(hold)),
            fence: None,
            secret: None,
        });
        if let Some(holder) = self.sessions.get_mut(&session)
            && holder.asks.insert((ask, number))
            && let Some(connection) = holder
                .at
                .and_then(|(at, _)| self.connections.get_mut(&at.0))
        {
            connection.waiting += 1;
        }
        number
    }

    /// Numbers an ask that a lease came of, which is to be restored.
    pub(super) fn add_restored(&mut self, session: u64, lease: &Given) -> u64 {
        self.add_ticket(Ticket {
            session,
            ask: lease.ask,
            hold: None,
            fence: Some(lease.fence),
            secret: Some(lease.secret),
        })
    }

    fn add_ticket(&mut self, ticket: Ticket) -> u64 {
        let number = self.number_of(self.tickets.vacant_key());
        self.tickets.insert(ticket);
        number
    }

    /// The ask does not wait any more under this ticket.
    pub(super) fn forget_ask(&mut self, session: u64, ask: u64, number: u64) {
        if let Some(holder) = self.sessions.get_mut(&session)
            && holder.asks.remove(&(ask, number))
            && let Some(connection) = holder
                .at
                .and_then(|(at, _)| self.connections.get_mut(&at.0))
        {
            connection.waiting -= 1;
        }
    }

    fn number_of(&self, place: usize) -> u64 {
        self.base | self.generation << PLACE_BITS | place as u64
    }

    /// None if the number is one of an engine's that is gone.
    pub(super) fn place(&self, number: u64) -> Option<usize> {
        let place = (number & ((1 << PLACE_BITS) - 1)) as usize;
        (self.number_of(place) == number).then_some(place)
    }
}
