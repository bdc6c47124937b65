//! What can go wrong, an enum per operation.

use std::io;
use std::path::PathBuf;

use crate::fences::FenceError;

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another opening of the directory, in this process or another, has not
    /// been closed.
    #[error("the store {} is held by another process, or open already in this one", dir.display())]
    Held {
        /// The store's directory.
        dir: PathBuf,
    },
    /// The directory, or a file in it, cannot be made or opened.
    #[error("the store {} cannot be opened: {source}", dir.display())]
    Directory {
        /// The store's directory.
        dir: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// No fences can be reserved.
    #[error("no fences can be reserved: {0}")]
    Fences(#[from] FenceError),
    /// The clock cannot be read or waited on.
    #[error("the store's clock does not work: {0}")]
    Clock(io::Error),
    /// A thread cannot be started.
    #[error("the store's threads cannot be started: {0}")]
    Thread(io::Error),
    /// The lock engine cannot be instantiated.
    #[error("the lock engine cannot be started: {0}")]
    Engine(String),
}

/// Why a store that another process serves could not be reached.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The address is none; the text says why.
    #[error("{address:?} is no address of a server: {why}")]
    Address {
        /// What was given.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// Nobody answers at the address.
    #[error("no server can be reached at {address}: {source}")]
    Unreachable {
        /// The address.
        address: String,
        /// What the system said.
        source: io::Error,
    },
    /// The server does not let this client in; the text says why.
    #[error("the server at {address} refuses: {why}")]
    Denied {
        /// The address.
        address: String,
        /// What the server said.
        why: String,
    },
    /// The clock cannot be read or waited on.
    #[error("the clock does not work: {0}")]
    Clock(io::Error),
    /// A thread cannot be started.
    #[error("the connection's threads cannot be started: {0}")]
    Thread(io::Error),
}

/// Why a key was not given, or a lock not opened. The same as `lock-error` in
/// WIT.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// The key was still held when the wait ran out.
    #[error("the key was still held when the wait ran out")]
    InUse,
    /// Only the caller itself could let the key go, and it stands still while
    /// it waits. Given only to guests that import `@0.2.0`.
    #[error("the key is held by the caller itself, which would wait for itself")]
    HeldByCaller,
    /// A name, a key, a limit or an option is out of its bounds, or the key is
    /// in use under another limit; the text says which.
    #[error("{0}")]
    Invalid(String),
    /// As many wait for the key, or are held by the caller, as may; the text
    /// says which.
    #[error("{0}")]
    TooMany(String),
    /// The store closed, or the guest's session ended.
    #[error("the store closed")]
    Closed,
    /// No durable fence can be had; the text says why. The caller holds
    /// nothing.
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
    /// Its holder released it, or let it go with its session.
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

/// The lease to be broken is not held any more; nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no lease is held under this fence in this place")]
pub struct NotHeld;
