//! The contract, on every face: each scenario is written once, and runs on each
//! face that can run it.

#![allow(clippy::expect_used)] // tests

mod apps;
mod composed;
mod driven;
mod driver;
mod face;
mod guests;
mod histories;
mod hosted;
mod lines;
mod list;
mod native_api;
mod reached;
mod scene;
mod tasks;

mod again;
mod alone;
mod bounds;
mod endings;
mod fences;
mod leaving;
mod listing;
mod max_hold;
mod nothing_left;
mod order;
mod ttl;
