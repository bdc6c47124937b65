//! The contract of Witlock, on every face.
//!
//! Here is what the tests share: the lock engine as a [`Machine`], natively and
//! as `engine.wasm`, and random histories that it lives beside a model (see
//! [`simulation`]). The scenarios are in `tests/`: `contract` has what every face
//! promises, `engine` what only who steps the engine can see.

#![allow(clippy::expect_used)] // tests

mod calendar;
mod machine;
mod native;
pub mod record;
pub mod simulation;
pub mod stock;
mod wasm;
mod watchdog;

pub use calendar::NoCalendar;
pub use machine::{Command, Event, Hold, Machine, Outcome, Why};
pub use native::Native;
pub use wasm::{Broken, Compiled, Wasm};
pub use watchdog::{watchdog, watchdog_besides};
pub use witlock_guests::{puppet, tasks};
