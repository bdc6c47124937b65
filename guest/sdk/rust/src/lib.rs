//! Locks for guests in Rust: one holder of a key at a time, across everything that
//! shares a store. Who waits is served first come, first served, and every lease
//! carries a [fence](Lease::fence), a number larger than any given before.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! # fn write(_: &str, _: u64) {}
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let summaries = witlock_guest::lock("summaries")
//!         .max_hold(Duration::from_secs(60))
//!         .open()?;
//!
//!     // Waits in line, holds while the work runs, lets go however it ends.
//!     summaries.hold("chat-1", |lease| write("chat-1", lease.fence()))?;
//!
//!     // Only if the key is free.
//!     let tried = summaries.try_hold("chat-1", |lease| write("chat-1", lease.fence()))?;
//!     if tried.is_none() {
//!         println!("somebody else writes it");
//!     }
//!     Ok(())
//! }
//! ```
//!
//! It is `witlock:locks/locks@0.2.0` that this imports, whose functions stop the whole
//! guest while they wait; so a hold of a key that the guest itself holds is
//! [`LockError::HeldByCaller`] at once. With the feature `p3` there are async twins over
//! `@0.3.0`, in the module `p3`. A component imports only what it uses of the two.
//!
//! Compiled for anything but WebAssembly this crate has nobody to ask: opening a lock
//! panics.
#![deny(missing_docs)]

mod bindings;
mod blocking;
mod builder;
mod error;
#[cfg(feature = "p3")]
pub mod p3;

pub use blocking::{Lease, Lock};
pub use builder::{LockBuilder, lock, semaphore};
pub use error::{Ending, HoldError, LockError};

/// The examples of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
