//! Real faults: processes that hold keys of a server over sockets, and connections,
//! clients and servers that are cut, lost, stopped and killed. All that is held is
//! recorded at a guarded resource, and checked afterwards.
//!
//! `WITLOCK_FAULTS_FOR` says for how many seconds, `WITLOCK_SEED` by what seed.

#![allow(clippy::expect_used)] // tests

mod breach;
mod broken;
mod by_hand;
mod checker;
mod crowds;
mod done;
mod driver;
mod faults;
mod guard;
mod history;
mod pack;
mod processes;
mod proxy;
mod resource;
mod run;
mod story;

use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use checker::Checker;
use driver::Driver;
use run::{Run, Settings};
use witlock_tests::watchdog_besides;

/// What a run takes by default, in seconds: a short one, and one in CI.
const SHORT: u64 = 10;
const LONG: u64 = 120;

/// A run has the machine to itself.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn from_environment(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().expect("a number"))
}

fn settings(manner: &'static str) -> Settings {
    let seed = from_environment("WITLOCK_SEED").unwrap_or_else(|| fastrand::u64(0..1 << 32));
    println!("WITLOCK_SEED={seed}");
    Settings {
        seed,
        manner,
        holders: "bounded",
        restarts: 1,
    }
}

fn all_is_kept_for(time: Duration) {
    let _alone = alone();
    watchdog_besides(time);
    let mut driver = Driver::new(Run::new(settings("faithful")));
    driver.go_on(time);
    let over = driver.end().end();
    let mut done = over.done;
    over.resource.look(|history| {
        let mut checker = Checker::new(history, &over.faults);
        checker.check().check_end();
        checker.check_restarts();
        (done.refused, done.refused_after_pause) = (checker.refused, checker.refused_after_pause);
        done.count(history, &over.faults);
        println!("{done:#?}");
        assert!(
            checker.breaches().is_empty(),
            "{}",
            Lines(checker.breaches())
        );
    });
    assert!(over.hung.is_empty(), "clients that hung: {:?}", over.hung);
    done.is_enough(time);
    done.outlasted_enough(time);
}

/// One after the other, as a failing test shows them.
struct Lines<'a, T>(&'a [T]);

impl<T: Display> Display for Lines<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{} breaches", self.0.len())?;
        let mut first = self.0.iter().take(10);
        first.try_for_each(|line| writeln!(f, "{line}"))
    }
}

// LOCK-01, LOCK-02, LOCK-05, LOCK-07, LOCK-08, LOCK-09, cases A4, A5, A8, A9, C14, E2, G7
#[test]
fn faults_break_no_promise() {
    all_is_kept_for(Duration::from_secs(SHORT));
}

// The same for long.
#[test]
#[ignore = "takes minutes"]
fn faults_break_no_promise_for_long() {
    let seconds = from_environment("WITLOCK_FAULTS_FOR").unwrap_or(LONG);
    all_is_kept_for(Duration::from_secs(seconds));
}
