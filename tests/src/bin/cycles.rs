//! Holds and releases a free key through the native API, as often as its argument
//! says: for a profiler that counts instructions, which come out the same on
//! whatever machine. `just profile` subtracts a short run from a long one, and so
//! the opening from both.
//!
//! The clock is turned by hand, since valgrind has no clock of the kernel's.

#![allow(clippy::expect_used)] // a tool of the tests

use std::hint::black_box;

use witlock::Store;
use witlock::clock::ManualClock;

fn main() {
    let times = std::env::args().nth(1);
    let times: u64 = times.and_then(|it| it.parse().ok()).expect("how often");
    let store = Store::builder().clock(ManualClock::default());
    let store = store.in_memory().expect("a store");
    let lock = store.lock("summaries").open().expect("a lock");
    for _ in 0..times {
        let fence = lock.blocking_hold("chat-1", |lease| lease.fence());
        black_box(fence).expect("a free key");
    }
    store.close();
}
