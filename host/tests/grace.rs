//! Openings after a server that left leases over connections, which it can't ask.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use std::fs;
use std::path::Path;
use std::time::Duration;

use common::block_on;
use witlock::clock::ManualClock;
use witlock::fences::MemoryFences;
use witlock::{Lock, LockError, Store};

const TTL: Duration = Duration::from_secs(30);

fn open(dir: &Path, clock: &ManualClock) -> Store {
    // What this is about is beside the fences.
    let fences = MemoryFences::new(0);
    let store = Store::builder().clock(clock.clone()).fences(fences);
    store.open(dir).unwrap()
}

/// A store as it was at this moment, for an opening after a kill: the directory
/// itself is held.
fn killed(dir: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for file in fs::read_dir(dir).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
    }
    copy
}

fn lock(store: &Store) -> Lock {
    let lock = store.lock("a").wait(Duration::from_secs(3_600));
    lock.open().unwrap()
}

fn is_in_use(lock: &Lock, key: &str) -> bool {
    lock.blocking_try_hold(key, |_| ()).unwrap().is_none()
}

fn waiters(store: &Store) -> u64 {
    block_on(store.counts()).unwrap().waiters
}

/// No key is given for `wait`, and then every.
fn waits_out(store: &Store, clock: &ManualClock, wait: Duration) {
    common::watchdog();
    let lock = &lock(store);
    assert!(is_in_use(lock, "k"));
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| lock.blocking_lease("k"));
        while waiters(store) == 0 {
            std::thread::yield_now();
        }
        clock.advance(wait - Duration::from_nanos(1));
        assert!(is_in_use(lock, "other"));
        assert_eq!(waiters(store), 1);
        clock.advance(Duration::from_nanos(1));
        let lease = waiter.join().unwrap().unwrap();
        assert!(is_in_use(lock, "k"));
        assert!(!is_in_use(lock, "other"));
        lease.blocking_release().unwrap();
    });
}

// LOCK-08, case G7, case E7
#[test]
fn an_opening_after_a_kill_waits_out_the_longest_ttl() {
    let clock = ManualClock::default();
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), &clock);
    store.cover_ttl(Duration::from_secs(5)).unwrap();
    store.cover_ttl(Duration::from_millis(29_001)).unwrap();
    store.cover_ttl(Duration::from_secs(10)).unwrap();
    // Those that it covers may be given at once by the store itself.
    assert!(!is_in_use(&lock(&store), "k"));
    let dir = killed(dir.path());
    waits_out(&open(dir.path(), &clock), &clock, TTL);
}

// LOCK-08, case E7: killed as it waits, it does not forget what it waits for.
#[test]
fn a_kill_in_the_grace_leaves_it() {
    let clock = ManualClock::default();
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), &clock);
    store.cover_ttl(TTL).unwrap();
    let dir = killed(dir.path());
    let again = open(dir.path(), &clock);
    clock.advance(TTL / 2);
    again.cover_ttl(Duration::from_secs(20)).unwrap();
    let dir = killed(dir.path());
    let without_journal = killed(dir.path());
    assert!(is_in_use(&lock(&again), "k"));
    // Of itself it kept that it gave no lease.
    waits_out(&open(dir.path(), &clock), &clock, TTL - TTL / 2);
    // Without its journal, the file tells the longer of both.
    fs::remove_file(without_journal.path().join("journal")).unwrap();
    let longer = Duration::from_secs(20);
    waits_out(&open(without_journal.path(), &clock), &clock, longer);
}

// LOCK-06, LOCK-08: nobody has a lease over a connection, and none can come.
#[test]
fn a_clean_close_leaves_no_grace() {
    let clock = ManualClock::default();
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), &clock);
    let held = lock(&store).blocking_lease("k").unwrap();
    store.cover_ttl(TTL).unwrap();
    assert!(dir.path().join("grace").exists());
    store.close();
    drop(held);
    assert!(!dir.path().join("grace").exists());
    assert!(!is_in_use(&lock(&open(dir.path(), &clock)), "k"));
}

// LOCK-06, case E12: a store that was closed as it waited leaves the rest.
#[test]
fn a_clean_close_in_the_grace_leaves_its_rest() {
    let clock = ManualClock::default();
    let dir = tempfile::tempdir().unwrap();
    open(dir.path(), &clock).cover_ttl(TTL).unwrap();
    let store = open(dir.path(), &clock);
    store.cover_ttl(TTL).unwrap();
    let dir = killed(dir.path());
    for _ in 0..3 {
        let store = open(dir.path(), &clock);
        assert!(is_in_use(&lock(&store), "k"));
        clock.advance(TTL / 5);
        store.close();
    }
    waits_out(&open(dir.path(), &clock), &clock, TTL / 5 * 2);
}

// LOCK-08, case L10
#[test]
fn a_file_that_is_damaged_or_unreadable_counts_as_an_hour() {
    let hour = Duration::from_secs(3_600);
    for damage in [
        (|file| fs::write(file, "")) as fn(&Path) -> std::io::Result<()>,
        |file| fs::write(file, [0xff; 80]),
        |file| fs::create_dir(file),
    ] {
        let clock = ManualClock::default();
        let dir = tempfile::tempdir().unwrap();
        damage(&dir.path().join("grace")).unwrap();
        waits_out(&open(dir.path(), &clock), &clock, hour);
    }
}

// LOCK-12: what was left of a write is in nobody's way.
#[test]
fn an_unfinished_file_does_not_count() {
    let clock = ManualClock::default();
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("grace.new"), "leases ov").unwrap();
    let store = open(dir.path(), &clock);
    assert!(!is_in_use(&lock(&store), "k"));
    store.cover_ttl(TTL).unwrap();
    waits_out(&open(killed(dir.path()).path(), &clock), &clock, TTL);
}

// LOCK-08: what can't be made durable is said.
#[test]
fn a_ttl_that_cannot_be_kept_is_refused() {
    let clock = ManualClock::default();
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), &clock);
    fs::create_dir(dir.path().join("grace.new")).unwrap();
    store.cover_ttl(TTL).unwrap_err();
    fs::remove_dir(dir.path().join("grace.new")).unwrap();
    store.cover_ttl(TTL).unwrap();
}

// LOCK-06, LOCK-08: a fault of ours in the engine. Leases over connections outlive
// it, whether the store has a directory or not.
#[test]
fn an_engine_that_takes_the_place_of_one_that_trapped_waits_too() {
    let clock = ManualClock::default();
    let wasm = fs::read(witlock_programs::TRAPPING_ENGINE).unwrap();
    let store = Store::builder().engine(&wasm).clock(clock.clone());
    let store = store.in_memory().unwrap();
    let trapped = |store: &Store| lock(store).blocking_lease("trap").unwrap_err();
    assert_eq!(trapped(&store), LockError::Closed);
    assert!(!is_in_use(&lock(&store), "k"), "nothing was covered");
    store.cover_ttl(TTL).unwrap();
    clock.advance(TTL);
    assert_eq!(trapped(&store), LockError::Closed);
    waits_out(&store, &clock, TTL);
}
