//! Bytes and messages at random, at the decoder, at the server with an engine
//! behind it, and at the client.
//!
//! `WITLOCK_FUZZ_FOR=60` goes on for so many seconds. All that a life does is drawn
//! from its seed: `WITLOCK_FUZZ_SEED=n` lives that one alone.

#![allow(clippy::expect_used, clippy::panic)] // tests

mod acts;
mod asked;
mod checks;
mod client;
mod decoder;
mod ear;
mod engine;
mod heard;
mod holder;
mod holding;
mod hostile;
mod ledger;
mod memory;
mod mutate;
mod passing;
mod restarts;
mod runs;
mod said;
mod server;
mod store;
mod told;
