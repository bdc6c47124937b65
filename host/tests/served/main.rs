//! A store that is served over connections, and its clients: real sockets, and a
//! clock that both sides share and the test turns.
#![cfg(all(unix, feature = "tls"))]
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../common/mod.rs"]
mod common;
mod proxy;
mod raw;
mod stage;

mod bad_input;
mod basics;
mod binding;
mod closing;
mod coming_back;
mod connecting;
mod losses;
mod operators;
mod renewals;
mod restarts;
mod slow;
mod threads;
mod tls;
mod trapping;
