//! Servers that stop, and start again.

use std::time::Duration;

use witlock::{Ending, LockError};

use crate::common::block_on;
use crate::stage::{
    Bystander, Stage, TICK, TTL, Waiter, deadline, is_free, knows_of_the_cut, lock, until,
};

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

// LOCK-02, LOCK-08, case G7, case E7: the engine is new, and the directory the same.
#[test]
fn a_directory_that_is_opened_anew_waits_for_leases_that_may_be_live() {
    let mut stage = Stage::in_directory();
    let store = stage.client("A");
    let lease = lock(&store).blocking_lease("k").unwrap();
    stage.pass_renewing(TTL / 3, &[&lease]);
    let own = deadline(&lease);
    stage.stop();
    knows_of_the_cut(&store);
    stage.reopen();
    let opened = stage.now();
    assert_eq!(lease.ended(), None);
    let waiter = Waiter::in_line(&stage, &lock(&stage.store), "k");
    stage.advance_to(TTL * 2 / 3);
    knows_of_the_cut(&store);
    stage.advance_to(own - TICK);
    assert_eq!(lease.ended(), None);
    assert_eq!(stage.waiters(), 1);
    stage.advance_to(own);
    assert_eq!(lease.ended(), Some(Ending::Unreachable));
    stage.advance_to(opened + TTL - TICK);
    assert!(!is_free(&stage.store, "other"));
    assert_eq!(stage.waiters(), 1);
    stage.advance_to(opened + TTL);
    let next = waiter.answer().unwrap();
    assert!(next.fence() > lease.fence());
    // The client goes on at the next server.
    stage.serve();
    let again = Waiter::new(&lock(&store), "other");
    let again = stage.run_until_answered(&again).unwrap();
    assert!(again.fence() > next.fence());
}

// LOCK-08: who comes back to a store that knows nothing of its lease counts on it
// until its own deadline, as that store does of all that may be live.
#[test]
fn a_lease_that_the_next_store_does_not_know_lasts_until_its_own_deadline() {
    let mut stage = Stage::in_directory();
    let (store, other) = (stage.client("A"), stage.client("B"));
    let lease = lock(&store).blocking_lease("k").unwrap();
    let released = lock(&other).blocking_lease("released").unwrap();
    stage.stop();
    knows_of_the_cut(&store);
    stage.reopen();
    stage.serve();
    stage.clock.advance(Duration::from_secs(2));
    for client in [&store, &other] {
        until(|| block_on(client.counts()).is_ok());
    }
    assert_eq!(released.blocking_release(), Ok(()));
    let own = deadline(&lease);
    assert!(own < TTL);
    stage.advance_to(TTL / 2);
    block_on(store.counts()).unwrap();
    stage.advance_to(own - TICK);
    assert_eq!(lease.ended(), None);
    stage.advance_to(own);
    assert_eq!(lease.ended(), Some(Ending::Unreachable));
    stage.advance_to(TTL - TICK);
    assert!(!is_free(&stage.store, "k"), "others may be live");
    stage.advance_to(TTL);
    assert!(is_free(&stage.store, "k"));
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
