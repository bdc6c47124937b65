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
#[cfg(feature = "net")]
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
    /// The connection can't be sealed; the text says why.
    #[error("the connection to {address} can't be sealed: {why}")]
    Certificate {
        /// The address.
        address: String,
        /// What is wrong.
        why: String,
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
    /// The system has no randomness, by which sessions are named.
    #[error("there is no randomness: {0}")]
    Random(io::Error),
    /// A thread cannot be started.
    #[error("the connection's threads cannot be started: {0}")]
    Thread(io::Error),
}

/// Why a store is not served.
#[cfg(feature = "net")]
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// The address is none; the text says why.
    #[error("{address:?} is no address to listen at: {why}")]
    Address {
        /// What was given.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// Somebody listens there.
    #[error("{address} is in use: another server listens there")]
    InUse {
        /// The address.
        address: String,
    },
    /// The system refuses.
    #[error("{address} can't be listened at: {source}")]
    Listen {
        /// The address.
        address: String,
        /// What the system said.
        source: io::Error,
    },
    /// A TCP address without a token, which every user of the machine could reach.
    #[error("{address} needs a token: every user of this machine can connect to it")]
    Token {
        /// The address.
        address: String,
    },
    /// A token that is empty, or longer than one may be.
    #[error("a token has 1 to 1024 bytes, not {0}")]
    TokenLength(usize),
    /// A `tcp:` address beyond loopback, where the token could be read on its way.
    #[error("{address} can be reached from other machines: listen there as tls:HOST:PORT")]
    Unsealed {
        /// The address.
        address: String,
    },
    /// There is no certificate, or none that works.
    #[error("connections can't be sealed: {0}")]
    Certificate(String),
    /// Another server of the store has not been stopped.
    #[error("the store is served already: one server may listen at several addresses")]
    Served,
    /// The store is another process's. Who holds it may serve it.
    #[error("a store that is reached over a connection can't be served on")]
    NotHere,
    /// The server's thread can't be started.
    #[error("the server's thread can't be started: {0}")]
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

/// Why what is held could not be listed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// Only an operator may: whoever reaches the store over its Unix socket, or has
    /// the operators' token.
    #[error("only an operator may do that: over the store's Unix socket, or with its admin token")]
    Denied,
    /// The store closed.
    #[error("the store closed")]
    Closed,
    /// The store cannot be reached; the text says why.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
}

/// Why a lease was not broken; nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BreakError {
    /// It is not held any more.
    #[error("no lease is held under this fence in this place")]
    NotHeld,
    /// It could not be asked for.
    #[error(transparent)]
    Asking(#[from] ListError),
}

impl From<LockError> for ListError {
    fn from(error: LockError) -> Self {
        match error {
            LockError::Unavailable(why) => ListError::Unavailable(why),
            _ => ListError::Closed,
        }
    }
}
