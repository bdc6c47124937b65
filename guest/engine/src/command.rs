//! What the engine is asked.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::{Milliseconds, Nanoseconds};

/// The number by which who drives the engine names a holder. It is used again
/// only after the session was ended and all it held and waited for was
/// answered.
pub type Session = u64;

/// The number by which who drives the engine names one ask, and the lease that
/// may come of it: no other ask has it until the ask was refused or its lease
/// ended.
pub type Ticket = u64;

/// A client's own 128-bit name for an ask, so that asking again is safe.
pub type Request = u128;

/// What releases or renews a lease. Nobody learns it but who was given the
/// lease: a listing shows only the fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LeaseId {
    /// The lease's fence, which no other lease has.
    pub fence: u64,
    /// What can't be told from the fence.
    pub secret: u64,
}

/// How the leases of an ask behave.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// How long a lease lasts from its last renewal,
    /// [`TTL_LEAST`](crate::bounds::TTL_LEAST) to
    /// [`TTL_MOST`](crate::bounds::TTL_MOST). Leases of a session that is not
    /// remote last until they are released, whatever this says.
    pub ttl: Option<Milliseconds>,
    /// How long a lease may last from its grant, however it is renewed; at
    /// least 1.
    pub max_hold: Option<Milliseconds>,
    /// What a listing shows beside the lease.
    pub label: Option<String>,
}

/// Opens a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpenSession {
    /// Its number.
    pub session: Session,
    /// Whether its holder is reached over a connection: then its leases have a
    /// ttl, and outlive the engine's closing.
    pub remote: bool,
    /// Keys it may hold;
    /// [`KEYS_PER_HOLDER`](crate::bounds::KEYS_PER_HOLDER) unless given.
    pub max_held: Option<u32>,
    /// Keys it may wait for; as many unless given.
    pub max_waiting: Option<u32>,
}

/// Asks whether a lock or a semaphore could be opened so.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Check {
    /// What the answer names.
    pub tag: u64,
    /// The lock's or semaphore's name.
    pub name: String,
    /// The semaphore's limit; a lock has none.
    pub limit: Option<u32>,
    /// How its leases shall behave.
    pub options: Options,
}

/// Asks for a key. Its texts may be borrowed: an ask that is answered at once
/// need not own them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hold<'a> {
    /// What the answer, and the end of the lease, will name.
    pub ticket: Ticket,
    /// Who asks.
    pub session: Session,
    /// The lock's or semaphore's name.
    pub name: Cow<'a, str>,
    /// The semaphore's limit; a lock has none.
    pub limit: Option<u32>,
    /// The key.
    pub key: Cow<'a, str>,
    /// How long to stand in line;
    /// [`WAIT_DEFAULT`](crate::bounds::WAIT_DEFAULT) unless given. 0 takes the
    /// key only if it is free.
    pub wait: Option<Milliseconds>,
    /// How the lease behaves.
    pub options: Options,
    /// The client's own name for this ask, if it may ask again.
    pub request: Option<Request>,
    /// Whether all of the holder stands still while this ask waits. Then it is
    /// refused where only the holder itself could let the key go.
    pub alone: bool,
}

/// Gives a lease back that an earlier engine gave: it goes on under its fence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Restore<'a> {
    /// The ask that it came of, under a ticket of now. It waits for nothing.
    pub hold: Hold<'a>,
    /// The fence that it has.
    pub fence: u64,
    /// When it was granted.
    pub since: Nanoseconds,
    /// When it ends unrenewed.
    pub expires: Nanoseconds,
    /// When it ends, whatever is renewed.
    pub revoked: Option<Nanoseconds>,
}

/// Brings a suspended session back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Resume {
    /// What the answer names.
    pub tag: u64,
    /// Which session.
    pub session: Session,
    /// The leases that its holder still counts on. Its others end.
    pub leases: Vec<LeaseId>,
    /// The requests that its holder still waits for. Its others leave the line.
    pub requests: Vec<Request>,
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command<'a> {
    /// Opens a session. One that is open stays as it is.
    OpenSession(OpenSession),
    /// Answered by `Fine` or `Invalid`.
    Check(Check),
    /// Answered by `Granted` or `Refused`, and after a grant by `Ended`.
    Hold(Hold<'a>),
    /// Answered as a hold is: by `Granted`, with an id of this engine's, or, where
    /// the key has no room for it, by `Refused`. Also in the grace.
    Restore(Restore<'a>),
    /// The ask leaves the line, answered by `Refused`. One that is not waiting
    /// changes nothing.
    Cancel(Ticket),
    /// Answered by `Renewed` or `NotHeld`.
    Renew {
        /// What the answer names.
        tag: u64,
        /// Which lease.
        lease: LeaseId,
    },
    /// Answered by the lease's `Ended`, or by `NotHeld`.
    Release {
        /// What `NotHeld` names.
        tag: u64,
        /// Which lease.
        lease: LeaseId,
    },
    /// All that the session holds is released, all that it waits for is
    /// refused, and its number is free once that is answered.
    EndSession(Session),
    /// The session's connection is gone: for
    /// [`RECONNECT`](crate::bounds::RECONNECT) its asks keep their places, and
    /// leases given to it meanwhile last no longer; the leases it had live on
    /// by their ttl.
    Suspend(Session),
    /// Answered by `Fine`, or by `NotHeld` where nothing is left of the session.
    Resume(Resume),
    /// Ends a lease as an operator does, by what a listing shows of it.
    /// Answered by `Fine` or `NotHeld`.
    Break {
        /// What the answer names.
        tag: u64,
        /// The lease's fence.
        fence: u64,
        /// The lease's place.
        place: u32,
    },
    /// Answered by `Holdings`: what is held, from `cursor` on (0 at first).
    ListHoldings {
        /// What the answer names.
        tag: u64,
        /// Where to go on.
        cursor: u64,
    },
    /// Answered by `Waiters`: who waits, key by key, each line in its order,
    /// from `cursor` on ((0, 0) at first).
    ListWaiters {
        /// What the answer names.
        tag: u64,
        /// Where to go on.
        cursor: (u64, u64),
    },
    /// Answered by `Counted`.
    Count {
        /// What the answer names.
        tag: u64,
    },
    /// Fences that no lease ever had: larger than all that were added before.
    AddFences(Range<u64>),
    /// No fences can be had now: who waits for one is refused, with this as
    /// the reason.
    FencesFailed(String),
    /// No key is given before this moment: leases from before a restart may be
    /// live until then. Asks stand in line meanwhile, also for a key that nobody
    /// holds. A later one takes the place of an earlier; one of a moment that is
    /// past ends it.
    Grace(Nanoseconds),
    /// Every ask is refused from now on, and every lease of a session that is
    /// not remote ends.
    Close,
}
