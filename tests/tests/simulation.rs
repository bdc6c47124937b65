//! The engine, as `engine.wasm`, lives random histories as the model does; and
//! engines that are broken on purpose are found out.
//!
//! `WITLOCK_SEED=n` lives the history of that seed alone.

#![allow(clippy::expect_used, clippy::panic)] // tests

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use witlock_engine::Seed;
use witlock_tests::simulation::{Disk, Done, Simulation};
use witlock_tests::{Broken, Machine, Wasm, watchdog};

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
    assert!(only.is_some() || done.restored > HISTORIES, "{done:?}");
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

/// How many histories a broken engine may live as if it were whole.
const PATIENCE: u64 = 1_000;

/// The first failure of a simulation, which fails again from its seed.
fn found<M: Machine>(mut simulation: Simulation<M>) {
    let failure = (0..PATIENCE).find_map(|seed| simulation.live(seed).err());
    let failure = failure.expect("a history that it does not live");
    println!("{failure}\n");
    assert!(failure.history.steps.len() <= 12, "it shrank too little");
    let again = simulation.live(failure.seed).expect_err("the same failure");
    assert_eq!(again.history, failure.history);
    assert_eq!(again.why, failure.why);
}

fn broken(which: u32) -> Simulation<Broken> {
    Simulation::new(STEPS, move || Broken::new(which))
}

#[test]
fn the_engine_that_is_broken_in_no_way_lives_as_the_model() {
    let mut whole = broken(0);
    for seed in 0..200 {
        whole
            .live(seed)
            .unwrap_or_else(|failure| panic!("{failure}"));
    }
}

macro_rules! finds {
    ($($name:ident: $which:literal;)*) => {$(
        #[test]
        fn $name() {
            watchdog();
            found(broken($which));
        }
    )*};
}

finds! {
    finds_who_came_last_served_first: 1;
    finds_a_wake_up_lost_as_the_head_is_cancelled: 2;
    finds_a_renewal_of_an_ended_lease: 3;
    finds_a_key_that_is_never_freed: 4;
    finds_one_holder_too_many: 5;
    finds_what_counts_against_its_holder_for_ever: 6;
    finds_a_lease_that_nobody_saw_and_that_lasts: 7;
    finds_a_max_hold_that_is_begun_anew: 8;
    finds_a_fence_given_twice: 9;
    finds_an_ask_that_stands_in_line_twice: 10;
    finds_a_key_that_is_given_in_the_grace: 11;
    finds_a_line_that_is_forgotten_as_the_grace_ends: 12;
}

// LOCK-02
#[test]
fn finds_a_fence_reused_after_reopening() {
    let simulation = Simulation::new(STEPS, || Wasm::start(Seed::default()));
    found(simulation.on(Disk::that_syncs_late()));
}
