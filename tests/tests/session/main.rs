//! Both sides of a connection, the lock engine behind them, and a network between
//! them that delays, loses, and cuts: random lives, with a virtual clock.

#![allow(clippy::expect_used)] // tests

mod life;
mod network;
mod world;

use life::Life;

/// Lives of the test.
const LIVES: u64 = 400;

// LOCK-01, LOCK-05, LOCK-08, LOCK-09, cases E12, G7, A4, A5, A9, C11, L1, L2, L4, L5
#[test]
fn no_holder_counts_on_a_key_that_the_store_gave_on() {
    let mut done = world::Done::default();
    let first = std::env::var("WITLOCK_SEED").ok();
    let first = first.map_or(0, |seed| seed.parse().expect("a number"));
    for seed in first..first + LIVES {
        println!("WITLOCK_SEED={seed}");
        done += Life::new(seed).live();
    }
    println!("{done:?}");
    let enough = LIVES as usize;
    assert!(done.granted > 20 * enough, "{done:?}");
    assert!(done.renewed > 20 * enough, "{done:?}");
    assert!(done.cuts > enough && done.holes > enough, "{done:?}");
    assert!(done.unreachable > enough / 4, "{done:?}");
    assert!(done.restarts > enough / 4, "{done:?}");
    assert!(done.knowing > enough / 4, "{done:?}");
    assert!(done.restored > enough / 10, "{done:?}");
    assert!(done.came_back_holding > enough, "{done:?}");
}
