//! Life after life, each of a seed, until the time is up.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::str::FromStr;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;

/// Seconds, unless given: as long as any other test may take.
const SPAN: u64 = 2;

/// Lives there are at least, however slow the machine is: what is asserted of all
/// of them counts on that.
const LIVES: u64 = 100;

/// Far longer than any life takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often what was done.
#[derive(Debug, Default)]
pub struct Tally(BTreeMap<String, u64>);

impl Tally {
    pub fn count(&mut self, what: impl Into<String>) {
        *self.0.entry(what.into()).or_default() += 1;
    }

    /// That nothing passes with nothing done.
    pub fn assert_done(&self, all: &[&str]) {
        let lives = self.0["lives"];
        for what in all {
            let done = self.0.get(*what).copied().unwrap_or(0);
            assert!(lives < LIVES || done > 0, "{what} never: {self:?}");
        }
    }
}

/// Lives one life after the other; `test` is how the test is called.
pub fn run(test: &str, live: impl Fn(&mut Rng, &mut Tally)) -> Tally {
    let only: Option<u64> = given("WITLOCK_FUZZ_SEED");
    let first = only.unwrap_or_else(|| fastrand::u64(..1 << 48));
    println!("{test}: from WITLOCK_FUZZ_SEED={first} on");
    let span = Duration::from_secs(given("WITLOCK_FUZZ_FOR").unwrap_or(SPAN));
    let (begun, watch) = (Instant::now(), watch(test));
    let mut tally = Tally::default();
    for seed in first.. {
        watch.send(seed).expect("it watches");
        live_one(test, seed, &mut tally, &live);
        tally.count("lives");
        let is_enough = begun.elapsed() >= span && seed - first + 1 >= LIVES;
        if only.is_some() || is_enough {
            break;
        }
    }
    println!("{test}: {tally:?}");
    tally
}

fn live_one(test: &str, seed: u64, tally: &mut Tally, live: impl Fn(&mut Rng, &mut Tally)) {
    let mut rng = Rng::with_seed(seed);
    let lived = catch_unwind(AssertUnwindSafe(|| live(&mut rng, tally)));
    if let Err(panic) = lived {
        eprintln!("{}", again(test, seed));
        resume_unwind(panic);
    }
}

fn again(test: &str, seed: u64) -> String {
    format!("again with: WITLOCK_FUZZ_SEED={seed} cargo test -p witlock-session --test fuzz {test}")
}

fn given<T: FromStr>(name: &str) -> Option<T> {
    let given = std::env::var(name).ok()?;
    let parsed = given.parse().ok();
    Some(parsed.unwrap_or_else(|| panic!("{name} is a number, not {given:?}")))
}

/// A life that hangs fails too.
fn watch(test: &str) -> Sender<u64> {
    let (sender, seeds) = channel();
    let test = test.to_string();
    thread::spawn(move || {
        let mut latest = 0;
        loop {
            match seeds.recv_timeout(PATIENCE) {
                Ok(seed) => latest = seed,
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    eprintln!("it hangs; {}", again(&test, latest));
                    std::process::abort();
                }
            }
        }
    });
    sender
}
