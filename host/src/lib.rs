//! Locks for WebAssembly components.
//!
//! One holder of a key at a time, across everything that shares a store; who
//! waits is served in order; every lease carries a fence.
#![deny(missing_docs)]

pub mod clock;
mod ctx;
mod driver;
mod error;
pub mod fences;
mod lease;
mod listing;
mod lock;
pub mod p2;
mod session;
mod store;

pub use ctx::{LocksCtx, LocksCtxBuilder, LocksCtxView, LocksView};
pub use error::{Ending, HoldError, LockError, NotHeld, OpenError};
pub use lease::Lease;
pub use listing::{Counts, Holding, HoldingsCursor, LeaseRef, Page, WaitersCursor, Waiting};
pub use lock::{Lock, LockBuilder};
pub use store::{Store, StoreBuilder};
