//! Servers that stop, and start again.

use std::time::Duration;

use witlock::clock::ManualClock;
use witlock::{Ending, Lease, LockError, Store};

use crate::common::block_on;
use crate::stage::{
    Bystander, Stage, TICK, TTL, Waiter, deadline, is_free, knows_of_the_cut, lock, until,
};

/// A store in a directory, whose server stopped as a client held the key `k`, and the
/// client, which knows of it.
fn with_a_lease_of_a_stopped_server() -> (Stage, Store, Lease) {
    let mut stage = Stage::in_directory();
    let store = stage.client("A");
    let lease = lock(&store).blocking_lease("k").unwrap();
    stage.stop();
    knows_of_the_cut(&store);
    (stage, store, lease)
}

// LOCK-08, case L3: who is connected notices nothing, who is cut off keeps its key
// until its own time is over.
#[test]
fn a_server_that_stops_ends_no_lease() {
    let mut stage = Stage::new();
    let bystander = Bystander::new(&stage);
    let (store, mut way) = stage.proxied("A");
    let lease = lock(&store).blocking_lease("k").unwrap();
    way.cut_for_good();
    knows_of_the_cut(&store);
    let seen = bystander.lease.deadline();
    stage.stop();
    stage.clock.advance(Duration::from_secs(1));
    stage.serve();
    let tries = Waiter::in_line(&stage, &lock(&stage.client("B")), "k");
    stage.run_until(|| bystander.lease.deadline() != seen);
    bystander.still_served();
    let own = deadline(&lease);
    stage.advance_to(TTL / 2);
    knows_of_the_cut(&store);
    stage.advance_to(own - TICK);
    assert_eq!(lease.ended(), None);
    assert!(!is_free(&stage.store, "k"));
    stage.advance_to(own);
    assert_eq!(lease.ended(), Some(Ending::Unreachable));
    assert!(!is_free(&stage.store, "k"));
    stage.advance_to(TTL);
    let next = stage.run_until_answered(&tries).unwrap();
    assert!(next.fence() > lease.fence());
}

// LOCK-08, LOCK-09: again and again, faster than anything runs out.
#[test]
fn servers_may_follow_each_other() {
    let mut stage = Stage::new();
    let bystander = Bystander::new(&stage);
    for _ in 0..5 {
        let seen = bystander.lease.deadline();
        stage.stop();
        stage.serve();
        stage.run_until(|| bystander.lease.deadline() != seen);
        assert_eq!(stage.waiters(), 1);
    }
    bystander.still_served();
}

// LOCK-02, LOCK-08, LOCK-09, case G7, case L3: the engine is new, and the directory the
// same.
#[test]
fn a_directory_that_is_opened_anew_goes_on_with_every_lease() {
    let (mut stage, _store, lease) = with_a_lease_of_a_stopped_server();
    stage.reopen();
    // Free keys are given at once, what is held is not.
    let here = lock(&stage.store).blocking_lease("free").unwrap();
    assert!(here.fence() > lease.fence());
    assert!(!is_free(&stage.store, "k"));
    let seen = lease.deadline();
    stage.serve();
    stage.run_until(|| lease.deadline() != seen);
    stage.pass_renewing(TTL / 2, &[&lease]);
    stage.pass_renewing(TTL / 2, &[&lease]);
    stage.pass_renewing(TTL / 2, &[&lease]);
    let waiter = Waiter::in_line(&stage, &lock(&stage.store), "k");
    assert_eq!(lease.blocking_release(), Ok(()));
    assert!(waiter.answer().unwrap().fence() > here.fence());
}

// LOCK-05, LOCK-08, case E7, case E12: who does not come back has its key for one ttl
// from the first opening.
#[test]
fn a_holder_that_is_gone_has_its_key_for_a_ttl() {
    let mut stage = Stage::in_directory();
    let (store, mut way) = stage.proxied("A");
    let lease = lock(&store).blocking_lease("k").unwrap();
    way.cut_for_good();
    knows_of_the_cut(&store);
    stage.stop();
    stage.clock.advance(TTL / 2);
    let opened = stage.now();
    for _ in 0..3 {
        stage.reopen();
        stage.clock.advance(TTL / 4);
    }
    let waiter = Waiter::in_line(&stage, &lock(&stage.store), "k");
    stage.advance_to(opened + TTL - TICK);
    assert_eq!(stage.waiters(), 1);
    // How, depends on whether its client came to try a renewal between the leaps.
    assert!(lease.ended().is_some());
    stage.advance_to(opened + TTL);
    assert!(waiter.answer().unwrap().fence() > lease.fence());
}

// LOCK-08, case L10: of a damaged journal nothing is believed but what stands before the
// damage, and whatever else may be live is waited for.
#[test]
fn a_damaged_journal_is_waited_out() {
    let mut stage = Stage::in_directory();
    let store = stage.client("A");
    let leases: Vec<_> = (0..20)
        .map(|n| lock(&store).blocking_lease(&format!("k{n}")).unwrap())
        .collect();
    stage.stop();
    knows_of_the_cut(&store);
    stage.damage_journal(|bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    });
    let opened = stage.now();
    assert!(!is_free(&stage.store, "free"));
    stage.serve();
    stage.clock.advance(Duration::from_secs(2));
    until(|| block_on(store.counts()).is_ok());
    // The first is known, and goes on; the last is not, and lasts until its deadline.
    let seen = leases[0].deadline();
    stage.run_until(|| leases[0].deadline() != seen);
    let own = deadline(&leases[19]);
    stage.advance_to(TTL / 2);
    block_on(store.counts()).unwrap();
    stage.advance_to(own - TICK);
    assert_eq!(leases[19].ended(), None);
    stage.advance_to(own);
    assert_eq!(leases[19].ended(), Some(Ending::Unreachable));
    stage.advance_to(opened + TTL - TICK);
    assert!(!is_free(&stage.store, "k19"), "others may be live");
    stage.advance_to(opened + TTL);
    assert!(is_free(&stage.store, "k19"));
    assert!(!is_free(&stage.store, "k0"));
    assert_eq!(leases[0].ended(), None);
}

// LOCK-08, case G7: the machine went down, and the journal's end may be missing.
#[test]
fn a_machine_that_started_again_waits_for_what_may_be_live() {
    let (stage, _store, lease) = with_a_lease_of_a_stopped_server();
    stage.store.close();
    let clock = ManualClock::default();
    let builder = Store::builder().clock(clock.clone());
    let next = builder.open(stage.directory()).unwrap();
    assert!(!is_free(&next, "k") && !is_free(&next, "other"));
    clock.advance(TTL - TICK);
    assert!(!is_free(&next, "other"));
    clock.advance(TICK);
    assert!(is_free(&next, "k") && is_free(&next, "other"));
    drop(lease);
}

// LOCK-08: a lease of which the next store does not know is let go in time.
#[test]
fn what_the_next_store_does_not_know_is_released_in_time() {
    let (mut stage, store, lease) = with_a_lease_of_a_stopped_server();
    stage.damage_journal(|bytes| bytes.clear());
    stage.serve();
    stage.clock.advance(Duration::from_secs(2));
    until(|| block_on(store.counts()).is_ok());
    assert_eq!(lease.blocking_release(), Ok(()));
}

// LOCK-08: after a backup was put back.
#[test]
fn an_opening_waits_as_long_as_it_is_told() {
    let mut stage = Stage::in_directory();
    stage.stop();
    let minute = Duration::from_secs(60);
    stage.reopen_with(|builder| builder.grace(minute));
    let opened = stage.now();
    assert!(!is_free(&stage.store, "free"));
    stage.advance_to(opened + minute - TICK);
    assert!(!is_free(&stage.store, "free"));
    stage.advance_to(opened + minute);
    assert!(is_free(&stage.store, "free"));
}

// LOCK-08: where everyone is known to be gone.
#[test]
fn an_opening_waits_for_nothing_if_it_is_told_so() {
    let (mut stage, _store, lease) = with_a_lease_of_a_stopped_server();
    stage.damage_journal(|bytes| bytes.clear());
    assert!(!is_free(&stage.store, "free"));
    stage.reopen_with(|builder| builder.grace(Duration::ZERO));
    assert!(is_free(&stage.store, "free"));
    assert!(is_free(&stage.store, "k"), "nothing tells of it");
    drop(lease);
}

// LOCK-08, case A13
#[test]
fn a_grant_that_cannot_be_kept_is_refused_as_unavailable() {
    let stage = Stage::in_directory();
    let store = stage.client("A");
    let held = lock(&store).blocking_lease("held").unwrap();
    // Nothing can take the journal's place, and it is to be written anew.
    let new = stage.directory().join("journal.new");
    std::fs::create_dir(&new).unwrap();
    let many = stage.client("many");
    let refused = (0..100_000).find_map(|n| lock(&many).blocking_lease(&n.to_string()).err());
    let Some(LockError::Unavailable(why)) = refused else {
        panic!("{refused:?}");
    };
    assert!(why.contains("journal"), "{why}");
    assert_eq!(held.ended(), None);
    let local = lock(&stage.store).blocking_hold("in its process", |_| ());
    assert_eq!(local, Ok(()));
    std::fs::remove_dir(&new).unwrap();
    let lease = lock(&many).blocking_lease("again").unwrap();
    assert!(lease.fence() > held.fence());
    assert_eq!(held.blocking_release(), Ok(()));
}

// LOCK-12: an ask has an end where there is no server.
#[test]
fn an_ask_without_a_server_is_refused_after_its_wait() {
    let mut stage = Stage::new();
    let store = stage.client("A");
    let second = Duration::from_secs(1);
    let answer_wait = Duration::from_secs(5);
    stage.stop();
    knows_of_the_cut(&store);
    let waiter = Waiter::new(&lock(&store).with_wait(second), "k");
    let Err(LockError::Unavailable(why)) = stage.run_until_answered(&waiter) else {
        panic!("it is not refused");
    };
    assert!(why.contains("cannot be reached"), "{why}");
    assert!(stage.now() >= second + answer_wait);
    // And so has a closing.
    store.close();
    assert_eq!(lock(&stage.store).blocking_hold("k", |_| ()), Ok(()));
}
