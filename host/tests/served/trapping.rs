//! An engine that traps under a server.

use witlock::{Ending, LockError};

use crate::stage::{Stage, TTL, is_free, lock, until};

// LOCK-06, LOCK-08: the next engine goes on with what is held over connections.
#[test]
fn an_engine_that_trapped_loses_no_lease_over_a_connection() {
    for stage in [Stage::trapping(), Stage::trapping_in_directory()] {
        let store = stage.client("A");
        let lease = lock(&store).blocking_lease("k").unwrap();
        let here = lock(&stage.store).blocking_lease("here").unwrap();
        let trapped = lock(&stage.store).blocking_lease("trap").unwrap_err();
        assert_eq!(trapped, LockError::Closed);
        assert_eq!(here.ended(), Some(Ending::Closed));
        // Free keys are given once it knows of the leases, and what is held is not.
        until(|| is_free(&stage.store, "free"));
        assert!(!is_free(&stage.store, "k"));
        let seen = lease.deadline();
        stage.run_until(|| lease.deadline() != seen);
        for _ in 0..4 {
            stage.pass_renewing(TTL / 2, &[&lease]);
        }
        assert!(!is_free(&stage.store, "k"));
        let next = lock(&stage.store).blocking_hold("free", |lease| lease.fence());
        assert!(next.unwrap() > lease.fence());
        assert_eq!(lease.blocking_release(), Ok(()));
        assert!(is_free(&stage.store, "k"));
    }
}

// LOCK-05, LOCK-08: who does not come back has its key for a ttl from then.
#[test]
fn a_holder_that_does_not_come_back_after_a_trap_has_its_key_for_a_ttl() {
    let stage = Stage::trapping();
    let (store, mut way) = stage.proxied("A");
    let lease = lock(&store).blocking_lease("k").unwrap();
    way.cut_for_good();
    stage.clock.advance(TTL / 2);
    lock(&stage.store).blocking_lease("trap").unwrap_err();
    until(|| is_free(&stage.store, "free"));
    stage.clock.advance(TTL - crate::stage::TICK);
    assert!(!is_free(&stage.store, "k"));
    stage.clock.advance(crate::stage::TICK);
    assert!(is_free(&stage.store, "k"));
    assert!(lease.ended().is_some());
}
