//! Lives random histories on `engine.wasm` beside the model until it is told to
//! stop, or finds one that differs. `WITLOCK_SEED=n` begins with another seed.

#![allow(clippy::expect_used)] // a tool of the tests

use std::time::{Duration, Instant};

use witlock_engine::Seed;
use witlock_tests::simulation::{Done, Simulation};
use witlock_tests::{Machine, Wasm};

/// Longer than those of CI, which has more of them.
const STEPS: usize = 1_000;

/// Between two lines that say how far it is.
const PAUSE: Duration = Duration::from_secs(10);

fn main() {
    let first = std::env::var("WITLOCK_SEED").ok();
    let first: u64 = first.map_or_else(rand_seed, |seed| seed.parse().expect("a number"));
    println!("from WITLOCK_SEED={first} on; Ctrl-C stops");
    let mut simulation = Simulation::new(STEPS, || Wasm::start(Seed::default()));
    let mut done = Done::default();
    let mut said = Instant::now();
    for seed in first.. {
        match simulation.live(seed) {
            Ok(lived) => done = done.and(lived),
            Err(failure) => {
                eprintln!("{failure}");
                std::process::exit(1);
            }
        }
        if said.elapsed() > PAUSE {
            println!("seed {seed}: {done:?}");
            said = Instant::now();
        }
    }
}

fn rand_seed() -> u64 {
    fastrand::u64(..1 << 48)
}
