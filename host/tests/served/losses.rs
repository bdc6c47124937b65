//! Who can't reach the store knows of its loss before the key goes on.

use std::sync::Mutex;
use std::time::Duration;

use witlock::clock::ManualClock;
use witlock::{Connector, Ending, HoldError, Lease, Store};

use crate::common::block_on;
use crate::proxy::{Flow, Proxy};
use crate::stage::{
    Stage, TICK, TTL, Waiter, deadline, holdings, is_free, knows_of_the_cut, lock, until,
};

/// The holder is told at its own deadline and not before, and the next one gets the
/// key after that.
fn is_lost_before_it_goes_on(stage: &Stage, lease: &Lease, waiter: Waiter) {
    let own = deadline(lease);
    assert!(own < TTL);
    stage.advance_to(own - TICK);
    assert_eq!(lease.ended(), None);
    stage.advance_to(own);
    assert_eq!(lease.ended(), Some(Ending::Unreachable));
    assert_eq!(block_on(lease.until_ended()), Ending::Unreachable);
    stage.advance_to(TTL - TICK);
    assert_eq!(stage.waiters(), 1);
    assert!(waiter.seen().is_none());
    stage.advance_to(TTL);
    let next = waiter.answer().unwrap();
    assert!(next.fence() > lease.fence());
    assert_eq!(lease.blocking_release(), Err(Ending::Unreachable));
    assert_eq!(next.ended(), None);
}

/// A holder behind a proxy, and who waits for its key.
fn held(stage: &Stage) -> (Lease, Store, Proxy, Waiter) {
    let (store, way) = stage.proxied("A");
    let lease = lock(&store).blocking_lease("k").unwrap();
    let waiter = Waiter::in_line(stage, &lock(&stage.store), "k");
    (lease, store, way, waiter)
}

// LOCK-08, case A4
#[test]
fn a_holder_that_is_cut_off_is_lost_before_its_key_goes_on() {
    let stage = Stage::new();
    let (lease, store, mut way, waiter) = held(&stage);
    way.cut_for_good();
    stage.clock.advance(TTL / 3);
    knows_of_the_cut(&store);
    is_lost_before_it_goes_on(&stage, &lease, waiter);
}

// LOCK-08, case A5: nothing says that the other side is gone.
#[test]
fn a_holder_in_a_black_hole_is_lost_before_its_key_goes_on() {
    let stage = Stage::new();
    let (lease, _store, way, waiter) = held(&stage);
    way.black_hole();
    stage.clock.advance(TTL / 3);
    way.until_swallowed();
    is_lost_before_it_goes_on(&stage, &lease, waiter);
}

// LOCK-08, case A4: with a clock that runs slower than the store's, by 1 %.
#[test]
fn a_slow_clock_is_allowed_for() {
    let stage = Stage::new();
    let slow = ManualClock::default();
    let mut way = Proxy::new(&stage.socket("slow"), &stage.address());
    let connector = Connector::new(way.address()).clock(slow.clone());
    let store = connector.connect().unwrap();
    let lease = lock(&store).blocking_lease("k").unwrap();
    let waiter = Waiter::in_line(&stage, &lock(&stage.store), "k");
    way.cut_for_good();
    slow.advance(TTL / 3);
    knows_of_the_cut(&store);
    stage.clock.advance(TTL - TICK);
    assert_eq!(stage.waiters(), 1);
    slow.advance(TTL * 99 / 100 - TTL / 3);
    assert_eq!(lease.ended(), Some(Ending::Unreachable));
    stage.clock.advance(TICK);
    assert!(waiter.answer().unwrap().fence() > lease.fence());
}

// LOCK-08, case A9: refused at once, time and again.
#[test]
fn a_server_that_refuses_at_once_is_noticed_within_the_ttl() {
    let mut stage = Stage::new();
    let store = stage.client("A");
    let lease = lock(&store).blocking_lease("k").unwrap();
    let own = deadline(&lease);
    let told = std::thread::scope(|scope| {
        let told = scope.spawn(|| block_on(lease.until_ended()));
        stage.stop();
        knows_of_the_cut(&store);
        // It is refused time and again meanwhile.
        let step = Duration::from_millis(50);
        until(|| {
            stage.clock.advance(step);
            stage.now() + step >= own
        });
        assert_eq!(lease.ended(), None);
        stage.advance_to(own);
        told.join().unwrap()
    });
    assert_eq!(told, Ending::Unreachable);
    assert_eq!(lease.ended(), Some(Ending::Unreachable));
}

// LOCK-08, case A4: the guard that wraps the work says so too.
#[test]
fn work_that_outlasts_the_connection_is_no_success() {
    let stage = Stage::new();
    let (store, mut way) = stage.proxied("A");
    let worked = lock(&store).blocking_hold("k", |_| {
        way.cut_for_good();
        stage.clock.advance(TTL / 3);
        knows_of_the_cut(&store);
        stage.clock.advance(TTL);
        "done"
    });
    assert_eq!(worked, Err(HoldError::Lost(Ending::Unreachable)));
}

// LOCK-08, case L1: the grant dates from after the wait.
#[test]
fn a_lease_that_was_waited_for_lasts_from_its_grant() {
    let stage = Stage::new();
    let store = stage.client("A");
    let first = lock(&stage.store).blocking_lease("k").unwrap();
    let waiter = Waiter::in_line(&stage, &lock(&store), "k");
    let waited = TTL * 4 / 3;
    stage.clock.advance(waited);
    drop(first);
    // Its connection may have been given up meanwhile, for its silence.
    let lease = stage.run_until_answered(&waiter).unwrap();
    let own = deadline(&lease);
    let left = holdings(&stage.store)[0].left.unwrap();
    assert!(own > waited, "{own:?}");
    assert!(own <= stage.now() + left, "{own:?}");
    stage.pass_renewing(TTL / 3, &[&lease]);
}

// LOCK-08, case L4: what a client gave up is not in its own way.
#[test]
fn who_gave_a_lease_up_and_comes_back_is_given_its_key_at_once() {
    let stage = Stage::new();
    let (store, way) = stage.proxied("A");
    let lease = lock(&store).blocking_lease("k").unwrap();
    way.set(Flow::Passes, Flow::Vanishes);
    // Its renewals arrive: in the store the key is its session's for longer.
    stage.clock.advance(TTL / 3);
    until(|| holdings(&stage.store)[0].left == Some(TTL));
    stage.advance_to(deadline(&lease));
    assert_eq!(lease.ended(), Some(Ending::Unreachable));
    assert!(!is_free(&stage.store, "k"));
    way.set(Flow::Passes, Flow::Passes);
    way.cut();
    let waiter = Waiter::new(&lock(&store), "k");
    let again = stage.run_until_answered(&waiter).unwrap();
    assert!(again.fence() > lease.fence());
    assert!(stage.now() < TTL / 3 + TTL, "it had to wait for itself");
}

// LOCK-07, case A7, case J8: retrying is said once, in the log; the loss, with its
// reason, to the holder.
#[test]
fn a_renewal_without_an_answer_is_said_once() {
    log::set_logger(&LOG).unwrap();
    log::set_max_level(log::LevelFilter::Warn);
    let stage = Stage::new();
    let (store, mut way) = stage.proxied("A");
    let lease = lock(&store).blocking_lease("k").unwrap();
    let said = || {
        let line = format!("lease under fence {} is not answered", lease.fence());
        let lines = LOG.0.lock().unwrap();
        lines.iter().filter(|said| said.contains(&line)).count()
    };
    way.black_hole();
    stage.clock.advance(TTL / 3);
    way.until_swallowed();
    assert_eq!((said(), lease.ended()), (0, None));
    stage.clock.advance(TTL / 6);
    until(|| said() == 1);
    stage.clock.advance(TTL / 6);
    assert_eq!(lease.ended(), None);
    // It is broken while its holder is away, who learns that as it comes back.
    way.cut_for_good();
    let observer = stage.client("observer");
    until(|| holdings(&observer)[0].client.is_none());
    block_on(observer.break_lease(holdings(&observer)[0].lease)).unwrap();
    assert_eq!(lease.ended(), None);
    way.set(Flow::Passes, Flow::Passes);
    way.accept();
    stage.run_until(|| lease.ended().is_some());
    assert_eq!(lease.ended(), Some(Ending::Broken));
    assert_eq!(said(), 1);
}

static LOG: Lines = Lines(Mutex::new(Vec::new()));

/// A log that is kept.
struct Lines(Mutex<Vec<String>>);

impl log::Log for Lines {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        self.0.lock().unwrap().push(record.args().to_string());
    }

    fn flush(&self) {}
}
