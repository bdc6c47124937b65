//! What the engine did, as a server is told.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use witlock_engine::{Ending, Event as Did, Holding, LeaseId, Refusal, Waiting};

use crate::Nanoseconds;
use crate::wire;
use crate::wire::refused::Why;

/// One thing that the engine did, as far as a server's sessions see it.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // as the events of the engine
pub enum Event {
    Granted {
        ticket: u64,
        lease: LeaseId,
        revoked: Option<Nanoseconds>,
    },
    Refused {
        ticket: u64,
        why: wire::refused::Why,
        text: String,
    },
    Ended {
        ticket: u64,
        how: Ending,
    },
    Superseded(u64),
    Renewed {
        tag: u64,
    },
    NotHeld {
        tag: u64,
    },
    Fine {
        tag: u64,
    },
    Holdings {
        tag: u64,
        items: Vec<Listed<wire::Holding>>,
        next: Option<u64>,
    },
    Waiters {
        tag: u64,
        items: Vec<Listed<wire::Waiting>>,
        next: Option<(u64, u64)>,
    },
    Counted {
        tag: u64,
        counts: witlock_engine::Counts,
    },
}

/// An item of a listing, and whose it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed<Item> {
    /// The engine's number of the session.
    pub session: u64,
    /// The item, without its client.
    pub item: Item,
}

impl Event {
    /// An event of an engine that is driven natively; none of what is no server's
    /// business.
    pub fn of(event: Did) -> Option<Event> {
        Some(match event {
            Did::Granted(grant) => Event::Granted {
                ticket: grant.ticket,
                lease: grant.lease,
                revoked: grant.revoked,
            },
            Did::Refused { ticket, why } => {
                let (why, text) = why_of(&why);
                Event::Refused { ticket, why, text }
            }
            Did::Ended { ticket, how } => Event::Ended { ticket, how },
            Did::Superseded(ticket) => Event::Superseded(ticket),
            Did::Renewed { tag, .. } => Event::Renewed { tag },
            Did::NotHeld { tag } => Event::NotHeld { tag },
            Did::Fine { tag } => Event::Fine { tag },
            Did::Holdings { tag, page } => Event::Holdings {
                tag,
                items: page.items.into_iter().map(holding).collect(),
                next: page.next,
            },
            Did::Waiters { tag, page } => Event::Waiters {
                tag,
                items: page.items.into_iter().map(waiting).collect(),
                next: page.next,
            },
            Did::Counted { tag, counts } => Event::Counted { tag, counts },
            Did::Invalid { .. } | Did::FencesLow { .. } => return None,
        })
    }
}

fn why_of(why: &Refusal) -> (Why, String) {
    match why {
        Refusal::InUse => (Why::InUse, String::new()),
        Refusal::HeldByCaller => (Why::HeldByCaller, String::new()),
        Refusal::Invalid(bound) => (Why::Invalid, bound.to_string()),
        Refusal::TooMany(bound) => (Why::TooMany, bound.to_string()),
        Refusal::Closed => (Why::Closed, String::new()),
        Refusal::Unavailable(text) => (Why::Unavailable, text.clone()),
        Refusal::Cancelled => (Why::Cancelled, String::new()),
    }
}

fn holding(holding: Holding) -> Listed<wire::Holding> {
    let item = wire::Holding {
        name: holding.name,
        limit: holding.limit,
        key: holding.key,
        label: holding.label,
        client: None,
        fence: holding.fence,
        place: holding.place,
        held: holding.held,
        left: holding.left,
    };
    let session = holding.session;
    Listed { session, item }
}

fn waiting(waiting: Waiting) -> Listed<wire::Waiting> {
    let item = wire::Waiting {
        name: waiting.name,
        limit: waiting.limit,
        key: waiting.key,
        label: waiting.label,
        client: None,
        waited: waiting.waited,
        left: waiting.left,
    };
    let session = waiting.session;
    Listed { session, item }
}
