//! What the engine answers.

use alloc::string::String;
use alloc::vec::Vec;

use crate::bounds::{Invalid, TooMany};
use crate::{LeaseId, Nanoseconds, Session, Ticket};

/// What one step gave.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// How many of the commands were handled. The rest, from the first that
    /// was not, belongs at the front of the next step.
    pub handled: usize,
    /// What happened, in its order.
    pub events: Vec<Event>,
    /// When to step again at the latest; none while nothing is due ever.
    pub next_deadline: Option<Nanoseconds>,
}

/// What one step gave beside its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stepped {
    /// As [`Outcome::handled`].
    pub handled: usize,
    /// As [`Outcome::next_deadline`].
    pub next_deadline: Option<Nanoseconds>,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The ask has its key.
    Granted(Grant),
    /// The ask has not got its key; nothing is kept of it.
    Refused {
        /// Which ask.
        ticket: Ticket,
        /// Why.
        why: Refusal,
    },
    /// The lease that came of the ask ended; nothing is kept of it.
    Ended {
        /// Which ask's.
        ticket: Ticket,
        /// How.
        how: Ending,
    },
    /// The same request was asked again under another ticket, which is answered
    /// in place of this one.
    Superseded(Ticket),
    /// The lease lasts until `deadline` now.
    Renewed {
        /// Which renewal.
        tag: u64,
        /// Until when the lease lasts, if it has a deadline.
        deadline: Option<Nanoseconds>,
    },
    /// The command named a lease, or a session, that is not there any more.
    NotHeld {
        /// Which command.
        tag: u64,
    },
    /// What was checked is within its bounds; what was to be done is done.
    Fine {
        /// Which command.
        tag: u64,
    },
    /// What was checked is out of its bounds.
    Invalid {
        /// Which check.
        tag: u64,
        /// Which bound.
        why: Invalid,
    },
    /// A page of what is held.
    Holdings {
        /// Which listing.
        tag: u64,
        /// The page.
        page: Page<Holding, u64>,
    },
    /// A page of who waits.
    Waiters {
        /// Which listing.
        tag: u64,
        /// The page.
        page: Page<Waiting, (u64, u64)>,
    },
    /// What is kept.
    Counted {
        /// Which count.
        tag: u64,
        /// The numbers.
        counts: Counts,
    },
    /// Fewer than half of the fences added last are left. Said once, until
    /// fences are added or failed to be.
    FencesLow {
        /// How many are left.
        left: u64,
    },
}

/// A key given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    /// Which ask got it.
    pub ticket: Ticket,
    /// What releases and renews the lease; its fence is the lease's.
    pub lease: LeaseId,
    /// When the lease ends for want of renewal.
    pub expires: Option<Nanoseconds>,
    /// When the lease ends, whatever is renewed.
    pub revoked: Option<Nanoseconds>,
}

/// Why an ask was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The key was still held, or not to be given yet, when the wait ran out.
    InUse,
    /// Only the holder itself could let the key go, and it stands still.
    HeldByCaller,
    /// Something is out of its bounds.
    Invalid(Invalid),
    /// Too many of something.
    TooMany(TooMany),
    /// The engine closed, or the session ended.
    Closed,
    /// No fence could be had, and why.
    Unavailable(String),
    /// It was cancelled.
    Cancelled,
}

/// How a lease ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Its holder let it go.
    Released,
    /// Its ttl ran out unrenewed.
    Expired,
    /// Its max-hold was reached.
    Revoked,
    /// An operator broke it.
    Broken,
    /// The engine closed.
    Closed,
}

/// A page of a listing. It may be short, even empty, where there is more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<Item, Cursor> {
    /// At most [`STEP_LISTED`](crate::bounds::STEP_LISTED).
    pub items: Vec<Item>,
    /// Where to go on; none at the end.
    pub next: Option<Cursor>,
}

/// A lease as a listing shows it. Nothing here releases or renews it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    /// The lock's or semaphore's name.
    pub name: String,
    /// The semaphore's limit; a lock has none.
    pub limit: Option<u32>,
    /// The key.
    pub key: String,
    /// What its holder calls itself.
    pub label: Option<String>,
    /// Who holds it.
    pub session: Session,
    /// The lease's fence.
    pub fence: u64,
    /// The lease's place; with the fence it is what breaks the lease.
    pub place: u32,
    /// How long it has been held.
    pub held: Nanoseconds,
    /// How long until its deadline, if it has one.
    pub left: Option<Nanoseconds>,
}

/// A waiter as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The lock's or semaphore's name.
    pub name: String,
    /// The semaphore's limit; a lock has none.
    pub limit: Option<u32>,
    /// The key.
    pub key: String,
    /// What the waiter calls itself.
    pub label: Option<String>,
    /// Who waits.
    pub session: Session,
    /// How long it has waited.
    pub waited: Nanoseconds,
    /// How long until its wait runs out.
    pub left: Nanoseconds,
}

/// How much the engine keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Keys held or waited for.
    pub keys: u64,
    /// Leases.
    pub leases: u64,
    /// Asks in line.
    pub waiters: u64,
    /// Sessions.
    pub sessions: u64,
    /// Fences not given yet.
    pub fences: u64,
}
