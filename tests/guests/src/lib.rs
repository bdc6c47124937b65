//! Guest programs, run by tests. In a crate of its own, since what wasmtime's
//! linker generates for a guest's data takes a minute to compile.

#![allow(clippy::expect_used)] // tests

pub mod command;
pub mod puppet;
mod stage;
pub mod tasks;
