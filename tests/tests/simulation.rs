//! The engine, as `engine.wasm`, lives random histories as the model does; and
//! engines that are broken on purpose are found out.
//!
//! `WITLOCK_SEED=n` lives the history of that seed alone.

#![allow(clippy::expect_used, clippy::panic)] // tests

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use witlock_engine::Seed;
use witlock_tests::simulation::{Done, Simulation};
use witlock_tests::{Machine, Wasm, watchdog};

const HISTORIES: u64 = 20_000;
const STEPS: usize = 200;

// LOCK-01, LOCK-02, LOCK-03, LOCK-04, LOCK-05, LOCK-06, LOCK-09, LOCK-10, LOCK-13
#[test]
fn the_engine_lives_as_the_model() {
    watchdog();
    let only = std::env::var("WITLOCK_SEED").ok();
    let only = only.map(|seed| seed.parse().expect("WITLOCK_SEED is a number"));
    let next = AtomicU64::new(only.unwrap_or(0));
    let end = only.map_or(HISTORIES, |seed| seed + 1);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let done = thread::scope(|scope| {
        let live = || live_until(&next, end);
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(live)).collect();
        let each = all.into_iter().map(|one| one.join().expect("no failure"));
        each.fold(Done::default(), Done::and)
    });
    println!("{done:?}");
    // No history passes with nothing done.
    assert!(only.is_some() || done.steps > HISTORIES * STEPS as u64);
    assert!(only.is_some() || done.granted > HISTORIES * 50);
}

fn live_until(next: &AtomicU64, end: u64) -> Done {
    let mut simulation = Simulation::new(STEPS, || Wasm::start(Seed::default()));
    let seeds = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
    let lives = seeds.take_while(|seed| *seed < end).map(|seed| {
        let lived = simulation.live(seed);
        lived.unwrap_or_else(|failure| panic!("{failure}"))
    });
    lives.fold(Done::default(), Done::and)
}
