//! The locks of Witlock as a pure state machine.
//!
//! [`Engine::step`] takes the time and a batch of [`Command`]s and gives
//! [`Event`]s and the moment at which it wants to be stepped again. There is
//! nothing else: no clock, no I/O, no randomness, no threads. The same seed and
//! the same steps give the same events, so whatever happens here can be
//! simulated, fuzzed and replayed.
//!
//! The order within a step is **time first, then commands**: what is due by
//! `now` ends in the order of its deadline, leases before waits at one moment;
//! then the commands are handled in their order. A renewal that comes a
//! millisecond late is late, however rarely the engine was stepped.
//!
//! **Every step is bounded** (see [`bounds`]); where more is due, the next
//! deadline is `now`, and commands there was no room for are left to the next
//! step ([`Outcome::handled`]). Every command costs O(1) or O(log n).
//!
//! ```
//! use witlock_engine::{Command, Engine, Event, Hold, OpenSession, Seed};
//!
//! let mut engine = Engine::new(Seed { low: 1, high: 2 });
//! let outcome = engine.step(
//!     0,
//!     &[
//!         Command::AddFences(1..1000),
//!         Command::OpenSession(OpenSession { session: 1, ..Default::default() }),
//!         Command::Hold(Hold {
//!             ticket: 7,
//!             session: 1,
//!             name: "summaries".into(),
//!             key: "chat-1".into(),
//!             ..Default::default()
//!         }),
//!     ],
//! );
//! assert!(matches!(outcome.events[0], Event::Granted(grant) if grant.ticket == 7));
//! ```
#![no_std]

extern crate alloc;

pub mod bounds;
mod command;
mod deadlines;
mod engine;
mod event;
mod fences;
mod give_back;
mod keys;
mod leases;
mod list;
mod listing;
mod parts;
pub mod ranges;
mod seed;
mod sessions;
mod slab;
mod tickets;

pub use command::{
    Check, Command, Hold, LeaseId, OpenSession, Options, Request, Restore, Resume, Session, Ticket,
};
pub use engine::Engine;
pub use event::{Counts, Ending, Event, Grant, Holding, Outcome, Page, Refusal, Stepped, Waiting};
pub use seed::Seed;

/// A moment or a span in nanoseconds. Moments count from wherever the clock of
/// who steps the engine starts.
pub type Nanoseconds = u64;

/// A span in milliseconds, up to 49 days.
pub type Milliseconds = u32;

/// A moment that never comes: the deadline of what has none.
pub(crate) const NEVER: Nanoseconds = Nanoseconds::MAX;

/// The moment `span` after `now`. A sum too large is [`NEVER`].
pub(crate) fn after(now: Nanoseconds, span: Milliseconds) -> Nanoseconds {
    now.saturating_add(u64::from(span) * 1_000_000)
}
