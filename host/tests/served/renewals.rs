//! Leases that last, and what keeps them.

use std::time::Duration;

use witlock::{Ending, LockError, Store};

use crate::proxy::Flow;
use crate::stage::{LONG, Stage, TTL, Waiter, is_free, lock, until};

// LOCK-05, case C6, case C7: each lease by its own renewals.
#[test]
fn a_lease_lasts_by_its_own_renewals_only() {
    let stage = Stage::new();
    let (a, mut way) = stage.proxied("A");
    let b = stage.client("B");
    let two = |store: &Store| store.semaphore("two", 2).wait(LONG).open().unwrap();
    let dead = two(&a).blocking_lease("k").unwrap();
    let lease = two(&b).blocking_lease("k").unwrap();
    let waiter = Waiter::in_line(&stage, &two(&stage.store), "k");
    way.cut_for_good();
    let first = lease.deadline().unwrap();
    for third in 1..=15 {
        stage.pass_renewing(TTL / 3, &[&lease]);
        assert_eq!(stage.waiters(), u64::from(third < 3), "{third}");
    }
    assert_eq!(dead.ended(), Some(Ending::Unreachable));
    assert!(lease.deadline().unwrap() >= first + (TTL * 5).as_nanos() as u64);
    assert!(waiter.answer().unwrap().fence() > lease.fence());
    // And one that is held as another is released.
    assert_eq!(lease.blocking_release(), Ok(()));
    let next = two(&b).blocking_lease("other").unwrap();
    for _ in 0..6 {
        stage.pass_renewing(TTL / 3, &[&next]);
    }
}

// LOCK-05, case C11: the answers of two renewals are lost; the third comes.
#[test]
fn a_lost_answer_to_a_renewal_is_no_loss() {
    let stage = Stage::new();
    let (store, way) = stage.proxied("A");
    let lease = lock(&store).blocking_lease("k").unwrap();
    let seen = lease.deadline();
    way.set(Flow::Passes, Flow::Vanishes);
    for sixth in 1..=3 {
        stage.clock.advance(TTL / 6);
        until(|| stage.counts().leases == 1);
        assert_eq!(lease.ended(), None, "{sixth}");
    }
    assert_eq!(lease.deadline(), seen);
    way.set(Flow::Passes, Flow::Passes);
    stage.run_until(|| lease.deadline() != seen);
    assert_eq!(lease.ended(), None);
    assert!(lease.deadline() > seen);
    stage.pass_renewing(TTL / 3, &[&lease]);
    assert_eq!(lease.blocking_release(), Ok(()));
}

// LOCK-05, case C14: from any phase between two renewals.
#[test]
fn a_client_that_stood_still_for_less_than_its_ttl_still_holds() {
    let stage = Stage::new();
    let store = stage.client("A");
    for phase in [0, 1_000, 5_000, 9_000, 9_999] {
        let lease = lock(&store).blocking_lease("k").unwrap();
        stage.clock.advance(Duration::from_millis(phase));
        let seen = lease.deadline();
        stage.clock.advance(TTL * 6 / 10);
        assert_eq!(lease.ended(), None, "{phase}");
        // Nothing was said meanwhile, so the server may have given it up.
        stage.run_until(|| lease.deadline() != seen);
        assert_eq!(lease.blocking_release(), Ok(()));
    }
}

// LOCK-08, case C14, case F4: however long it is until somebody looks, the first
// look says so.
#[test]
fn a_client_that_stood_still_for_longer_learns_it_at_its_first_look() {
    let stage = Stage::new();
    for stood in [TTL * 12 / 10, TTL * 2] {
        let store = stage.client("A");
        let lease = lock(&store).blocking_lease("k").unwrap();
        let worked = lock(&store).blocking_hold("worked", |_| stage.clock.advance(stood));
        let ended = lease.ended();
        assert!(ended.is_some());
        assert!(worked.is_err());
        assert!(is_free(&stage.store, "k"));
        assert_eq!(lease.blocking_release().err(), ended);
    }
}

// LOCK-08, case F4: an ask that was answered meanwhile is not believed.
#[test]
fn a_grant_that_slept_in_the_socket_is_not_believed() {
    let stage = Stage::new();
    let (store, way) = stage.proxied("A");
    let here = lock(&stage.store);
    let held = here.blocking_lease("k").unwrap();
    let waiter = Waiter::in_line(&stage, &lock(&store), "k");
    way.set(Flow::Passes, Flow::Waits);
    drop(held);
    until(|| stage.counts().leases == 1 && stage.waiters() == 0);
    stage.clock.advance(TTL * 2);
    let next = here.blocking_lease("k").unwrap();
    way.set(Flow::Passes, Flow::Passes);
    let answer = stage.run_until_answered(&waiter);
    assert!(
        matches!(answer, Err(LockError::Unavailable(_))),
        "{answer:?}"
    );
    assert_eq!(next.ended(), None);
}

// LOCK-08, case C4, case C5
#[test]
fn what_is_held_after_a_loss_is_renewed_as_ever() {
    let stage = Stage::new();
    let store = stage.client("A");
    let lost = lock(&store).blocking_lease("k").unwrap();
    stage.clock.advance(TTL);
    assert!(lost.ended().is_some());
    let waiter = Waiter::new(&lock(&store), "k");
    let lease = stage.run_until_answered(&waiter).unwrap();
    assert!(lease.fence() > lost.fence());
    for _ in 0..9 {
        stage.pass_renewing(TTL / 3, &[&lease]);
    }
    assert_eq!(lease.blocking_release(), Ok(()));
    assert_eq!(lost.blocking_release().err(), lost.ended());
}
