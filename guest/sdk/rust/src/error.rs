//! What can go wrong.

/// Why a key was not given, or a lock not opened. The same as `lock-error` in
/// WIT.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// The key was still held when the wait ran out.
    #[error("the key was still held when the wait ran out")]
    InUse,
    /// Only this guest itself could let the key go, and it stands still while it
    /// waits. Not given by the twins of `p3`, where such a hold waits.
    #[error("the key is held by the caller itself, which would wait for itself")]
    HeldByCaller,
    /// A name, a key, a limit or an option is out of its bounds, or the key is
    /// in use under another limit; the text says which.
    #[error("{0}")]
    Invalid(String),
    /// As many wait for the key, or are held by this guest, as may; the text
    /// says which.
    #[error("{0}")]
    TooMany(String),
    /// The store closed.
    #[error("the store closed")]
    Closed,
    /// The store or its durable fences cannot be reached; the text says why. The
    /// caller holds nothing.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
}

/// Why a hold failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HoldError {
    /// The key was not given; the work did not begin.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The lease ended while the work ran. What was done under it may have run
    /// beside another holder, even if the work succeeded.
    #[error("the lease was lost while the work ran: {0}")]
    Lost(Ending),
}

/// How a lease ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Ending {
    /// Its holder released it.
    #[error("released")]
    Released,
    /// Its ttl ran out unrenewed.
    #[error("expired")]
    Expired,
    /// Its `max-hold` was reached.
    #[error("revoked")]
    Revoked,
    /// An operator broke it.
    #[error("broken")]
    Broken,
    /// The store closed.
    #[error("closed")]
    Closed,
    /// The store could not be reached for so long that the lease may have been
    /// given on.
    #[error("unreachable")]
    Unreachable,
}

impl Ending {
    /// What comes of a hold whose lease answered its release so: a lease that the
    /// work released itself is no loss.
    pub(crate) fn loss(released: Result<(), Ending>) -> Result<(), HoldError> {
        match released {
            Ok(()) | Err(Ending::Released) => Ok(()),
            Err(how) => Err(HoldError::Lost(how)),
        }
    }
}
