//! Both sides of a connection to a Witlock store as pure state machines: time and
//! bytes in, bytes and events out. There is no clock, no I/O and no thread here;
//! whoever drives them brings those.
//!
//! [`client::Client`] asks, renews, comes back after a cut, and knows of a loss
//! before the store can give the key on. [`server::Server`] turns what clients
//! say into commands of the lock engine, and its events into answers. What they
//! say to each other is in [`wire`]; what is kept of leases, so that the next server
//! goes on with them, in [`journal`].
#![no_std]

extern crate alloc;

pub mod client;
pub mod journal;
pub mod server;
pub mod wire;

/// A moment, or a span, in nanoseconds of a clock that never goes back.
pub type Nanoseconds = u64;

/// A millisecond.
const MILLISECOND: Nanoseconds = 1_000_000;

/// A span of milliseconds.
const fn millis(span: u32) -> Nanoseconds {
    span as Nanoseconds * MILLISECOND
}
