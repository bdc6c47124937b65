//! Fences through crashes, at each step around a reservation: of the process, and
//! of the machine with what its disk had not synced.
//!
//! The calendar has no part in it: a reservation that got lost shows.

#![allow(clippy::expect_used)] // tests

mod disk;

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use disk::Disk;
use witlock::fences::{FenceStorage, RedbFences};
use witlock::{Lock, LockError, Store};
use witlock_tests::{NoCalendar, watchdog};

/// Past the first range, which is 1 024, and into the second, which is ordered
/// at half of it.
const HOLDS: u64 = 1_100;

/// What dies at no operation there is.
const NEVER: u64 = u64::MAX;

/// The first fence that a storage gives next.
fn next_fence(mut fences: RedbFences) -> u64 {
    fences.reserve(1, 1).expect("fences after a crash").start
}

// LOCK-02, case G1
#[test]
fn fences_grow_over_a_process_that_is_killed_at_any_step() {
    watchdog();
    let fresh = tempfile::tempdir().expect("a directory");
    let whole = run(fresh.path(), NEVER);
    assert!(
        whole.done && whole.largest >= HOLDS,
        "it holds until its end"
    );
    let threads = 2;
    let killed: u64 = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|first| scope.spawn(move || kill_at_each(first, threads as usize)))
            .collect();
        workers
            .into_iter()
            .map(|it| it.join().expect("fences that grow"))
            .sum()
    });
    println!("killed at {killed} steps");
    // The opening, the second reservation and the closing each write and sync.
    assert!(killed >= 12, "{killed}");
}

/// Kills at every so many steps, in a directory of its own each time; tells how
/// often, which ends where a process lives on.
fn kill_at_each(first: u64, every: usize) -> u64 {
    let mut killed = 0;
    for operation in (first..).step_by(every) {
        let dir = tempfile::tempdir().expect("a directory");
        let given = run(dir.path(), operation);
        let next = next_fence(RedbFences::open(dir.path().join("fences.redb")).expect("a file"));
        assert!(
            next > given.largest,
            "killed at {operation}: {next} after {}",
            given.largest
        );
        if given.done {
            break;
        }
        // And once more over what the first crash left.
        let again = run(dir.path(), operation);
        assert!(again.least > next, "killed at {operation} again");
        killed += 1;
    }
    killed
}

/// What a process gave until it died.
struct Given {
    least: u64,
    largest: u64,
    done: bool,
}

fn run(dir: &Path, operation: u64) -> Given {
    let mut child = Command::new(env!("CARGO_BIN_EXE_killed"));
    child
        .arg(dir)
        .args([operation.to_string(), HOLDS.to_string()]);
    let output = child.stderr(Stdio::inherit()).output().expect("a process");
    let printed = String::from_utf8(output.stdout).expect("fences");
    let fences: Vec<u64> = printed
        .lines()
        .filter_map(|line| line.parse().ok())
        .collect();
    assert!(fences.is_sorted_by(|a, b| a < b), "within one opening");
    let done = printed.ends_with("done\n");
    assert_eq!(done, output.status.success(), "{}", output.status);
    Given {
        least: fences.first().copied().unwrap_or(NEVER),
        largest: fences.last().copied().unwrap_or(0),
        done,
    }
}

// LOCK-02, case G1
#[test]
fn fences_grow_over_a_disk_that_loses_what_was_not_synced() {
    watchdog();
    let mut cut = 0;
    for seed in 0..4 {
        for operation in 0.. {
            let disk = Disk::new(seed);
            // A first life without a crash, so that there is something to lose.
            let before = live(&disk, NEVER).expect("a life without a crash");
            let given = live(&disk, operation);
            disk.lose_power();
            let last = given.unwrap_or(0).max(before);
            let next = next_fence(disk.fences().expect("a file after a crash"));
            assert!(
                next > last,
                "seed {seed}, operation {operation}: {next} after {last}"
            );
            if !disk.was_cut() {
                break;
            }
            cut += 1;
        }
    }
    println!("the power was cut at {cut} steps");
    assert!(cut >= 4 * 12, "{cut}");
}

/// Opens a store, holds and closes it, with the power cut at an operation of the
/// disk; the largest fence that was given, if the store opened.
fn live(disk: &Disk, operation: u64) -> Option<u64> {
    disk.cut_at(operation);
    let fences = disk.fences().ok()?;
    let store = Store::builder().clock(NoCalendar).fences(fences);
    let store = store.in_memory().ok()?;
    let lock = store.lock("a").open().expect("a lock");
    let mut largest = None;
    for _ in 0..HOLDS {
        match hold(&lock) {
            Ok(fence) => largest = Some(fence),
            Err(LockError::Unavailable(_)) => break,
            Err(other) => panic!("{other}"),
        }
    }
    store.close();
    largest
}

fn hold(lock: &Lock) -> Result<u64, LockError> {
    Ok(lock.blocking_lease("k")?.fence())
}
