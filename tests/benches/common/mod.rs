//! What the benches measure: each subject does its work so many times, and says
//! how long that took.
#![allow(dead_code, unused_imports)] // each bench uses a part

mod free_key;
mod hand_over;
mod tasks;

pub use free_key::{
    beside_keys_held, engine_alone, engine_natively, native_api, p2_guest, tinystore,
};
pub use hand_over::{native_tasks, tasks_of_one_thread, threads, tinystore_threads};

pub use self::tasks::{
    composition, composition_standing, crowd_of_a_composition, crowd_of_a_guest, natively_crowded,
    p3_guest, p3_guest_standing,
};

use std::hint::black_box;
use std::time::{Duration, Instant};

use witlock::{Lease, Lock, Store};

/// Something to measure.
pub type Subject = Box<dyn FnMut(u64) -> Duration>;

/// A subject that does the same over and over.
fn over_and_over<T>(mut work: impl FnMut() -> T + 'static) -> Subject {
    Box::new(move |times| {
        let start = Instant::now();
        for _ in 0..times {
            black_box(work());
        }
        start.elapsed()
    })
}

/// Holds so many keys, of as many holders as that takes.
pub fn hold_many(store: &Store, keys: usize, max_hold: Option<Duration>) -> Vec<Lease> {
    /// As many as one holder may hold.
    const EACH: usize = 10_000;
    let open = |_| {
        let lock = store.lock("many");
        let lock = match max_hold {
            Some(span) => lock.max_hold(span),
            None => lock,
        };
        lock.open().expect("a lock")
    };
    let holders: Vec<Lock> = (0..keys.div_ceil(EACH)).map(open).collect();
    let hold = |n: usize| {
        let lease = holders[n / EACH].blocking_lease(&format!("key {n}"));
        lease.expect("a free key")
    };
    (0..keys).map(hold).collect()
}
