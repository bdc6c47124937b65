//! Both sides of a connection, the lock engine behind them, and a network that
//! does to them what each case says, by one virtual clock.

#![allow(clippy::expect_used, clippy::unwrap_used)] // tests

mod coming_back;
mod deadlines;
mod network;
mod renewing;
mod told;
mod world;
