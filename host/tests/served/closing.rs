//! What ends with a store, a client, or its process.

use std::time::Duration;

use witlock::{Ending, LockError};

use crate::common::block_on;
use crate::stage::{
    PLACE_KEPT, Stage, TICK, TTL, Waiter, holdings, is_free, lock, until, waits_connected,
};

// LOCK-06: what is confirmed is over, and the next opening waits for nobody.
#[test]
fn closing_the_store_ends_what_is_held_and_waited_for_everywhere() {
    let mut stage = Stage::in_directory();
    let store = stage.client("A");
    let held = lock(&store).blocking_lease("k").unwrap();
    let _here = lock(&stage.store).blocking_lease("here").unwrap();
    let waiter = Waiter::in_line(&stage, &lock(&store), "here");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(block_on(held.until_ended()), Ending::Closed);
            assert_eq!(held.blocking_release(), Err(Ending::Closed));
        });
        stage.store.close();
    });
    assert_eq!(waiter.answer().unwrap_err(), LockError::Closed);
    assert_eq!(held.ended(), Some(Ending::Closed));
    let later = lock(&store).blocking_lease("later");
    assert_eq!(later.unwrap_err(), LockError::Closed);
    stage.stop();
    stage.reopen();
    assert!(is_free(&stage.store, "k"));
}

// LOCK-06, LOCK-08: it returns, but the key is the holder's until its ttl.
#[test]
fn closing_does_not_wait_for_who_confirms_nothing() {
    let mut stage = Stage::in_directory();
    let store = stage.client("A");
    let held = lock(&store).blocking_lease("k").unwrap();
    stage.store.close();
    until(|| held.ended().is_some());
    assert_eq!(held.ended(), Some(Ending::Closed));
    stage.stop();
    stage.reopen();
    assert!(!is_free(&stage.store, "k"));
    stage.clock.advance(TTL);
    assert!(is_free(&stage.store, "k"));
}

// LOCK-06: a client's closing lets all its keys go, which needs no time to pass.
#[test]
fn a_client_that_closes_lets_everything_go_at_once() {
    let stage = Stage::new();
    let store = stage.client("A");
    let (one, two) = (lock(&store), lock(&store));
    let leases = [
        one.blocking_lease("1").unwrap(),
        one.blocking_lease("2").unwrap(),
        two.blocking_lease("3").unwrap(),
    ];
    let here = lock(&stage.store);
    let waiters = ["1", "2", "3"].map(|key| Waiter::in_line(&stage, &here, key));
    let held = here.blocking_lease("4").unwrap();
    let there = Waiter::in_line(&stage, &one, "4");
    store.close();
    for lease in &leases {
        assert_eq!(lease.ended(), Some(Ending::Closed));
        assert_eq!(lease.blocking_release(), Err(Ending::Closed));
    }
    assert_eq!(there.answer().unwrap_err(), LockError::Closed);
    for waiter in waiters {
        waiter.answer().unwrap();
    }
    assert_eq!(one.blocking_lease("1").unwrap_err(), LockError::Closed);
    drop(held);
    until(|| stage.counts().keys == 0);
}

// LOCK-06: and so does dropping it, with all that keeps it open.
#[test]
fn a_client_that_is_dropped_lets_everything_go_at_once() {
    let stage = Stage::new();
    let store = stage.client("A");
    let asks = lock(&store);
    let lease = asks.blocking_lease("k").unwrap();
    drop((store, asks));
    assert_eq!(lease.ended(), None, "the lease keeps it open");
    let waiter = Waiter::in_line(&stage, &lock(&stage.store), "k");
    drop(lease);
    waiter.answer().unwrap();
    until(|| stage.counts().keys == 0);
}

// LOCK-06, LOCK-09, case E2: a process that is gone from one moment to the next.
#[test]
fn what_a_lost_client_held_is_free_at_its_ttl() {
    let stage = Stage::new();
    let (store, mut way) = stage.proxied("A");
    let observer = stage.client("observer");
    let held = lock(&stage.store).blocking_lease("here").unwrap();
    let _lost = lock(&store).blocking_lease("k").unwrap();
    let waiter = Waiter::in_line(&stage, &lock(&store), "here");
    way.cut_for_good();
    until(|| !waits_connected(&observer, "A"));
    stage.clock.advance(PLACE_KEPT - TICK);
    assert_eq!(stage.waiters(), 1);
    stage.clock.advance(TICK);
    assert_eq!(stage.waiters(), 0);
    stage.advance_to(TTL - TICK);
    assert!(!is_free(&stage.store, "k"));
    stage.advance_to(TTL);
    assert!(is_free(&stage.store, "k"));
    drop(held);
    drop(waiter);
}

// LOCK-06, case E3: what stands between keeps the connection open.
#[test]
fn a_lost_clients_connection_that_stays_keeps_nothing() {
    let stage = Stage::new();
    let (store, mut way) = stage.proxied("A");
    let observer = stage.client("observer");
    let _here = lock(&stage.store).blocking_lease("here").unwrap();
    let _lost = lock(&store).blocking_lease("k").unwrap();
    let _waiter = Waiter::in_line(&stage, &lock(&store), "here");
    way.lose_client();
    for _ in 0..3 {
        assert!(waits_connected(&observer, "A"));
        stage.clock.advance(Duration::from_secs(5));
        // It says something now and then itself.
        assert_eq!(holdings(&observer).len(), 2);
    }
    until(|| !waits_connected(&observer, "A"));
    stage.clock.advance(PLACE_KEPT);
    assert_eq!(stage.waiters(), 0);
    stage.advance_to(TTL - TICK);
    assert!(!is_free(&stage.store, "k"));
    stage.advance_to(TTL);
    assert!(is_free(&stage.store, "k"));
}
