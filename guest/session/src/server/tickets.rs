//! What was asked of the engine and is not over.

use super::sessions::Held;
use super::{ConnectionId, Server};

/// Bits of a ticket's place: more tickets than there is memory for.
const PLACE_BITS: u32 = 40;

/// An ask, and the lease that may come of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticket {
    pub session: u64,
    pub ask: u64,
    /// Its lease's, once it has one.
    pub fence: Option<u64>,
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

    /// A lease, if the session has it.
    pub(super) fn held(&mut self, session: u64, fence: u64) -> Option<&mut Held> {
        self.sessions.get_mut(&session)?.held.get_mut(&fence)
    }

    pub(super) fn ticket(&mut self, number: u64) -> Option<&mut Ticket> {
        let place = self.place(number)?;
        self.tickets.get_mut(place)
    }

    /// Takes out an ask that is over.
    pub(super) fn take_ticket(&mut self, number: u64) -> Option<Ticket> {
        let ticket = self.tickets.try_remove(self.place(number)?)?;
        self.forget_ask(ticket, number);
        Some(ticket)
    }

    /// Numbers an ask, which waits from now on.
    pub(super) fn add_ask(&mut self, session: u64, ask: u64) -> u64 {
        let fence = None;
        let ticket = Ticket {
            session,
            ask,
            fence,
        };
        let number = self.number_of(self.tickets.vacant_key());
        self.tickets.insert(ticket);
        if let Some(holder) = self.sessions.get_mut(&session)
            && holder.asks.insert(ask, number).is_none()
            && let Some(connection) = holder
                .at
                .and_then(|(at, _)| self.connections.get_mut(&at.0))
        {
            connection.waiting += 1;
        }
        number
    }

    /// The ask does not wait any more, unless another stands in its place.
    pub(super) fn forget_ask(&mut self, ticket: Ticket, number: u64) {
        if let Some(holder) = self.sessions.get_mut(&ticket.session)
            && holder.asks.get(&ticket.ask) == Some(&number)
        {
            holder.asks.remove(&ticket.ask);
            if let Some(connection) = holder
                .at
                .and_then(|(at, _)| self.connections.get_mut(&at.0))
            {
                connection.waiting -= 1;
            }
        }
    }

    fn number_of(&self, place: usize) -> u64 {
        self.base | self.generation << PLACE_BITS | place as u64
    }

    /// None if the number is one of an engine's that is gone.
    fn place(&self, number: u64) -> Option<usize> {
        let place = (number & ((1 << PLACE_BITS) - 1)) as usize;
        (self.number_of(place) == number).then_some(place)
    }
}
