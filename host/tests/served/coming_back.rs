//! Waiters whose connection is cut, and their places in line.

use std::time::Duration;

use witlock::{Lease, Store};

use crate::proxy::{Flow, Proxy};
use crate::stage::{
    PLACE_KEPT, Stage, TICK, TTL, Waiter, holdings, is_free, lock, until, waits_connected,
};

/// One who waits behind a proxy, for a key that is held here.
struct Waits {
    stage: Stage,
    held: Lease,
    store: Store,
    way: Proxy,
    waiter: Waiter,
}

impl Waits {
    fn new() -> Self {
        let stage = Stage::new();
        let (store, way) = stage.proxied("B");
        let held = lock(&stage.store).blocking_lease("k").unwrap();
        let waiter = Waiter::in_line(&stage, &lock(&store), "k");
        Waits {
            stage,
            held,
            store,
            way,
            waiter,
        }
    }

    /// Cuts it off, and waits until the server knows.
    fn cut_off(&mut self, observer: &Store) {
        self.way.cut_for_good();
        until(|| !waits_connected(observer, "B"));
    }

    /// Lets it come back, and waits until it is there.
    fn let_back(&mut self, observer: &Store) {
        self.way.accept();
        self.stage.run_until(|| waits_connected(observer, "B"));
    }
}

// LOCK-09, case E5
#[test]
fn a_waiter_that_comes_back_in_time_has_its_place() {
    let mut waits = Waits::new();
    let observer = waits.stage.client("observer");
    let behind = Waiter::in_line(&waits.stage, &lock(&waits.stage.store), "k");
    waits.cut_off(&observer);
    waits
        .stage
        .clock
        .advance(PLACE_KEPT - Duration::from_secs(1));
    assert_eq!(waits.stage.waiters(), 2);
    waits.let_back(&observer);
    waits.stage.clock.advance(PLACE_KEPT);
    assert_eq!(waits.stage.waiters(), 2);
    let before = waits.held.fence();
    drop(waits.held);
    let lease = waits.waiter.answer().unwrap();
    assert!(lease.fence() > before);
    assert!(behind.seen().is_none());
    drop(lease);
    assert!(behind.answer().unwrap().fence() > before);
}

// LOCK-09, case D11, case E2
#[test]
fn a_waiter_that_comes_back_too_late_is_behind_the_others() {
    let mut waits = Waits::new();
    let observer = waits.stage.client("observer");
    let behind = Waiter::in_line(&waits.stage, &lock(&waits.stage.store), "k");
    waits.cut_off(&observer);
    waits.stage.clock.advance(PLACE_KEPT - TICK);
    assert_eq!(waits.stage.waiters(), 2);
    waits.stage.clock.advance(TICK);
    assert_eq!(waits.stage.waiters(), 1);
    waits.let_back(&observer);
    assert_eq!(waits.stage.waiters(), 2);
    drop(waits.held);
    let second = behind.answer().unwrap();
    assert!(waits.waiter.seen().is_none());
    drop(second);
    waits.waiter.answer().unwrap();
}

// LOCK-09, case E1, case E11: one place, one grant, one release.
#[test]
fn a_waiter_that_comes_back_again_and_again_is_one() {
    let mut waits = Waits::new();
    let observer = waits.stage.client("observer");
    for _ in 0..5 {
        waits.cut_off(&observer);
        waits.let_back(&observer);
        assert_eq!(waits.stage.waiters(), 1);
    }
    drop(waits.held);
    let lease = waits.waiter.answer().unwrap();
    let counts = waits.stage.counts();
    assert_eq!((counts.leases, counts.waiters), (1, 0));
    assert_eq!(lease.blocking_release(), Ok(()));
    assert!(is_free(&waits.stage.store, "k"));
}

// LOCK-09, case D10: the grant is on its way as the connection is cut.
#[test]
fn a_grant_that_was_lost_with_the_connection_is_there_after_it() {
    let waits = Waits::new();
    waits.way.set(Flow::Passes, Flow::Waits);
    drop(waits.held);
    until(|| waits.stage.waiters() == 0 && waits.stage.counts().leases == 1);
    let given = holdings(&waits.stage.store)[0].lease.fence;
    assert!(waits.waiter.seen().is_none());
    waits.way.cut();
    waits.way.set(Flow::Passes, Flow::Passes);
    let lease = waits.stage.run_until_answered(&waits.waiter).unwrap();
    assert_eq!(lease.fence(), given);
    assert_eq!(waits.stage.counts().leases, 1);
    waits.stage.pass_renewing(TTL / 3, &[&lease]);
}

// LOCK-09: given while it was away, and never seen.
#[test]
fn a_lease_given_to_who_is_away_ends_with_its_place() {
    let mut waits = Waits::new();
    let observer = waits.stage.client("observer");
    let behind = Waiter::in_line(&waits.stage, &lock(&waits.stage.store), "k");
    waits.cut_off(&observer);
    drop(waits.held);
    until(|| waits.stage.waiters() == 1);
    waits.stage.clock.advance(PLACE_KEPT - TICK);
    assert_eq!(waits.stage.waiters(), 1);
    waits.stage.clock.advance(TICK);
    behind.answer().unwrap();
    assert!(waits.waiter.seen().is_none());
    drop(waits.store);
}
