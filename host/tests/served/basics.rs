//! What is promised of every store, over connections.

use std::pin::pin;
use std::time::Duration;

use witlock::{BreakError, Ending, LockError, Store};
use witlock_session::wire::refused::Why;
use witlock_session::wire::{self, to_client, to_store};

use crate::common::{block_on, fences, noop_context};
use crate::raw::{Raw, hold};
use crate::stage::{LONG, Stage, TICK, TTL, Waiter, deadline, holdings, is_free, lock, waiting};

// LOCK-01, LOCK-02
#[test]
fn a_key_has_one_holder_wherever_it_is_asked_for() {
    let stage = Stage::new();
    let (a, b) = (stage.client("A"), stage.client("B"));
    let held = lock(&a).blocking_lease("k").unwrap();
    assert!(!is_free(&stage.store, "k"));
    assert!(!is_free(&b, "k"));
    assert!(is_free(&b, "other"));
    assert_eq!(held.blocking_release(), Ok(()));
    let here = lock(&stage.store).blocking_lease("k").unwrap();
    assert!(here.fence() > held.fence());
    assert!(!is_free(&a, "k"));
    drop(here);
    let again = lock(&b).blocking_lease("k").unwrap();
    assert!(again.fence() > held.fence());
    drop(again);
    let given = [&a, &stage.store, &b, &a].map(|store| fences(store, 3));
    let given = given.concat();
    assert!(given.is_sorted_by(|a, b| a < b), "{given:?}");
}

// LOCK-01: in one line, whether they are here or there.
#[test]
fn waiters_of_several_processes_are_served_in_their_order() {
    let stage = Stage::new();
    let (a, b) = (stage.client("A"), stage.client("B"));
    let first = lock(&stage.store).blocking_lease("k").unwrap();
    let holders = [&a, &stage.store, &b, &a];
    let waiters = holders.map(|store| Waiter::in_line(&stage, &lock(store), "k"));
    let mut before = first.fence();
    drop(first);
    for waiter in waiters {
        let lease = waiter.answer().unwrap();
        assert!(lease.fence() > before);
        before = lease.fence();
        assert_eq!(stage.counts().leases, 1);
        assert_eq!(lease.blocking_release(), Ok(()));
    }
    assert_eq!(stage.counts().keys, 0);
}

// LOCK-01
#[test]
fn a_semaphore_counts_holders_of_every_process() {
    let stage = Stage::new();
    let (a, b) = (stage.client("A"), stage.client("B"));
    let two = |store: &Store| store.semaphore("two", 2).wait(LONG).open().unwrap();
    let there = two(&a).blocking_lease("k").unwrap();
    let here = two(&stage.store).blocking_lease("k").unwrap();
    assert!(two(&b).blocking_try_lease("k").unwrap().is_none());
    let waiter = Waiter::in_line(&stage, &two(&b), "k");
    drop(there);
    let third = waiter.answer().unwrap();
    assert!(third.fence() > here.fence());
    assert!(two(&a).blocking_try_lease("k").unwrap().is_none());
}

// LOCK-02, case J5: who, since when, under which fence, until when.
#[test]
fn a_listing_over_a_connection_tells_whose_a_lease_is() {
    let stage = Stage::new();
    let (a, b) = (stage.client("A, on host 1"), stage.client("B"));
    let labelled = a.lock("a").label("nightly").open().unwrap();
    let lease = labelled.blocking_lease("k").unwrap();
    let waiter = Waiter::in_line(&stage, &lock(&b), "k");
    let here = lock(&stage.store).blocking_lease("here").unwrap();
    stage.clock.advance(Duration::from_secs(2));

    let listed = holdings(&b);
    let [first, second] = &listed[..] else {
        panic!("{listed:?}");
    };
    let (there, own) = match first.key == "k" {
        true => (first, second),
        false => (second, first),
    };
    assert_eq!((there.name.as_str(), there.key.as_str()), ("a", "k"));
    assert_eq!(there.label.as_deref(), Some("nightly"));
    assert_eq!(there.client.as_deref(), Some("A, on host 1"));
    assert_eq!(there.lease.fence, lease.fence());
    assert_eq!(there.held, Duration::from_secs(2));
    assert_eq!(there.left, Some(TTL - Duration::from_secs(2)));
    assert_eq!((own.client.as_deref(), own.left), (None, None));
    assert_eq!(own.lease.fence, here.fence());
    let line = waiting(&a);
    assert_eq!(line.len(), 1);
    assert_eq!(line[0].client.as_deref(), Some("B"));
    assert_eq!(line[0].waited, Duration::from_secs(2));

    // And what a listing shows breaks the lease, once.
    block_on(b.break_lease(there.lease)).unwrap();
    assert_eq!(block_on(lease.until_ended()), Ending::Broken);
    let again = block_on(b.break_lease(there.lease));
    assert_eq!(again, Err(BreakError::NotHeld));
    assert!(waiter.answer().unwrap().fence() > lease.fence());
}

// LOCK-03: by the holder's own clock first, and then the key goes on.
#[test]
fn a_lease_is_revoked_at_its_max_hold_however_it_is_renewed() {
    let stage = Stage::new();
    let store = stage.client("A");
    let most = TTL * 2;
    let bounded = store.lock("a").max_hold(most).open().unwrap();
    let lease = bounded.blocking_lease("k").unwrap();
    let waiter = Waiter::in_line(&stage, &lock(&stage.store), "k");
    for _ in 0..5 {
        stage.pass_renewing(TTL / 3, &[&lease]);
    }
    // The next renewal would be due after it.
    let own = deadline(&lease);
    assert!(own < most);
    stage.advance_to(own - TICK);
    assert_eq!(lease.ended(), None);
    stage.advance_to(own);
    assert_eq!(lease.ended(), Some(Ending::Revoked));
    assert_eq!(stage.waiters(), 1, "the key goes on after its holder knows");
    stage.advance_to(most);
    let next = waiter.answer().unwrap();
    assert!(next.fence() > lease.fence());
    assert_eq!(lease.blocking_release(), Err(Ending::Revoked));
    assert_eq!(next.ended(), None);
}

// LOCK-04: of what its own session holds, not of what others do.
#[test]
fn who_stands_still_does_not_wait_for_itself() {
    let stage = Stage::new();
    let mut raw = Raw::entered(&stage.address(), 1);
    raw.say(1, to_store::Body::Hold(hold(1, "k")));
    assert!(matches!(raw.hear(), Some(to_client::Body::Granted(_))));
    let alone = |ask, key| wire::Hold {
        alone: true,
        ..hold(ask, key)
    };
    raw.say(1, to_store::Body::Hold(alone(2, "k")));
    let Some(to_client::Body::Refused(refused)) = raw.hear() else {
        panic!("it is not refused");
    };
    assert_eq!((refused.ask, refused.why()), (2, Why::HeldByCaller));
    // Another's key is waited for.
    let other = lock(&stage.store).blocking_lease("other").unwrap();
    raw.say(1, to_store::Body::Hold(alone(3, "other")));
    stage.until_waiting(1);
    drop(other);
    let Some(to_client::Body::Granted(granted)) = raw.hear() else {
        panic!("it is not granted");
    };
    assert_eq!(granted.ask, 3);
}

// LOCK-10: neither a fence nor a listing, nor a guess.
#[test]
fn only_the_leases_own_id_releases_or_renews_it() {
    let stage = Stage::new();
    let store = stage.client("A");
    let lease = lock(&store).blocking_lease("k").unwrap();
    let mut raw = Raw::entered(&stage.address(), 1);
    let guess = wire::Lease {
        fence: lease.fence(),
        secret: 1,
    };
    let release = wire::Release { lease: Some(guess) };
    let renew = wire::Renew {
        leases: vec![guess],
    };
    for body in [
        to_store::Body::Release(release),
        to_store::Body::Renew(renew),
    ] {
        raw.say(1, body);
        let Some(to_client::Body::Ended(ended)) = raw.hear() else {
            panic!("it is not refused");
        };
        assert_eq!(ended.fence, lease.fence());
        assert_eq!(ended.how(), wire::ended::How::Unknown);
    }
    assert_eq!(lease.ended(), None);
    assert!(!is_free(&stage.store, "k"));
    assert_eq!(lease.blocking_release(), Ok(()));
    assert_eq!(lease.blocking_release(), Err(Ending::Released));
}

// LOCK-12: the same words as in the process that holds the store.
#[test]
fn what_is_out_of_bounds_is_refused_in_the_same_words() {
    let stage = Stage::new();
    let store = stage.client("A");
    let millis = |millis: u64| Duration::from_millis(millis);
    for ttl in [millis(0), millis(999), millis(u32::MAX.into())] {
        let why = |store: &Store| store.lock("a").ttl(ttl).open().unwrap_err();
        assert_eq!(why(&store), why(&stage.store));
        assert!(why(&store).to_string().contains("1000"), "{}", why(&store));
    }
    let long = "n".repeat(129);
    for name in ["", "a\nb", &long] {
        let why = |store: &Store| store.lock(name).open().unwrap_err();
        assert_eq!(why(&store), why(&stage.store));
    }
    for limit in [0, 1_001] {
        let why = |store: &Store| store.semaphore("a", limit).open().unwrap_err();
        assert_eq!(why(&store), why(&stage.store));
    }
    let long = "k".repeat(1_025);
    for key in ["", &long] {
        let why = |store: &Store| lock(store).blocking_lease(key).unwrap_err();
        assert_eq!(why(&store), why(&stage.store));
    }
    assert_eq!(stage.counts().keys, 0);
}

// LOCK-12, case D8: what only the engine can know, it says over a connection too.
#[test]
fn another_limit_of_a_key_in_use_is_refused_naming_both() {
    let stage = Stage::new();
    let store = stage.client("A");
    let two = stage.store.semaphore("s", 2).open().unwrap();
    let _held = two.blocking_lease("k").unwrap();
    let three = store.semaphore("s", 3).open().unwrap();
    let Err(LockError::Invalid(why)) = three.blocking_lease("k") else {
        panic!("it is not refused");
    };
    assert!(why.contains('2') && why.contains('3'), "{why}");
    assert_eq!(stage.waiters(), 0);
}

// LOCK-01, case E13: the server's answer, not the client's own giving up.
#[test]
fn a_wait_that_runs_out_is_answered_in_use() {
    let stage = Stage::new();
    let store = stage.client("A");
    let _held = lock(&stage.store).blocking_lease("k").unwrap();
    let second = Duration::from_secs(1);
    let waiter = Waiter::in_line(&stage, &lock(&store).with_wait(second), "k");
    stage.clock.advance(second - Duration::from_nanos(1));
    assert_eq!(stage.waiters(), 1);
    stage.clock.advance(Duration::from_nanos(1));
    assert_eq!(waiter.answer().unwrap_err(), LockError::InUse);
    assert_eq!(stage.waiters(), 0);
}

// LOCK-06, LOCK-13: an ask that is dropped leaves the line there.
#[test]
fn an_ask_that_is_dropped_leaves_nothing_behind() {
    let stage = Stage::new();
    let store = stage.client("A");
    let held = lock(&stage.store).blocking_lease("k").unwrap();
    let asking = lock(&store);
    {
        let mut ask = pin!(asking.lease("k"));
        assert!(ask.as_mut().poll(&mut noop_context()).is_pending());
        stage.until_waiting(1);
    }
    stage.until_waiting(0);
    drop(held);
    assert!(is_free(&stage.store, "k"));
}
