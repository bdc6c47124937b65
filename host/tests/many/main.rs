//! A served store with many leases, and with many connections. Each takes about a
//! minute: `.ci/run` runs them, `cargo test` by itself does not.
#![cfg(unix)]
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../common/mod.rs"]
mod common;
mod connections;
mod leases;
#[allow(dead_code)] // of what it can do, this is a part
#[path = "../served/raw.rs"]
mod raw;
mod server;
