//! Both sides of a connection, the lock engine behind them, and a network that
//! does to them what each case says, by one virtual clock.

#![allow(clippy::expect_used, clippy::unwrap_used)] // tests

mod bad_input;
mod bounds;
mod cancelling;
mod closing;
mod coming_back;
mod deadlines;
mod garbage;
mod lease_ids;
mod neighbours;
mod network;
mod operators;
mod raw;
mod refused;
mod renewing;
mod restarts;
mod restored;
mod seen;
mod time;
mod world;
