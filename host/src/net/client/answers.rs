//! From the types of `witlock_session` to those of this crate.

use std::time::Duration;

use witlock_session::client;
use witlock_session::wire::{self, refused::Why};

use crate::listing::{Counts, Holding, LeaseRef, Waiting};
use crate::{Ending, LockError};

pub(super) fn lock_error(why: Why, text: String) -> LockError {
    match why {
        Why::InUse => LockError::InUse,
        Why::HeldByCaller => LockError::HeldByCaller,
        Why::Invalid => LockError::Invalid(text),
        Why::TooMany => LockError::TooMany(text),
        // Who cancelled doesn't ask why.
        Why::Closed | Why::Cancelled => LockError::Closed,
        Why::Unavailable => LockError::Unavailable(text),
    }
}

pub(super) fn ending(how: client::Ending) -> Ending {
    match how {
        client::Ending::Released => Ending::Released,
        client::Ending::Expired => Ending::Expired,
        client::Ending::Revoked => Ending::Revoked,
        client::Ending::Broken => Ending::Broken,
        client::Ending::Closed => Ending::Closed,
        client::Ending::Unreachable => Ending::Unreachable,
    }
}

pub(super) fn holding(held: wire::Holding) -> Holding {
    Holding {
        name: held.name,
        limit: held.limit,
        key: held.key,
        label: held.label,
        client: held.client,
        lease: LeaseRef {
            fence: held.fence,
            place: held.place,
        },
        held: Duration::from_nanos(held.held),
        left: held.left.map(Duration::from_nanos),
    }
}

pub(super) fn waiting(waiting: wire::Waiting) -> Waiting {
    Waiting {
        name: waiting.name,
        limit: waiting.limit,
        key: waiting.key,
        label: waiting.label,
        client: waiting.client,
        waited: Duration::from_nanos(waiting.waited),
        left: Duration::from_nanos(waiting.left),
    }
}

pub(super) fn counts(counted: &wire::Counted) -> Counts {
    Counts {
        keys: counted.keys,
        leases: counted.leases,
        waiters: counted.waiters,
        sessions: counted.sessions,
    }
}
