//! Guests that trap, spin, are dropped in mid-call, or leave things behind.
#![allow(clippy::unwrap_used, missing_docs)]

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use witlock::{Counts, LocksCtx, Store};
use witlock_tests::puppet::{Ending, LockError, NO_OPTIONS, Options, Puppet, Puppets, SyncPuppet};
use witlock_tests::watchdog;

type Answer = Result<u32, LockError>;

/// Pulls a string of an asynchronous puppet; a trap fails the test.
macro_rules! pull {
    ($puppet:expr, $call:ident $(, $argument:expr)*) => {{
        let (strings, store) = $puppet.strings();
        strings.$call(store $(, $argument)*).await.unwrap()
    }};
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(future)
}

fn noop() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

fn kept(store: &Store) -> Counts {
    block_on(store.counts()).unwrap()
}

#[track_caller]
fn nothing_is_kept(store: &Store) {
    let kept = kept(store);
    assert_eq!((kept.keys, kept.leases, kept.waiters), (0, 0, 0));
}

/// A store, and native hands that try its lock `a`.
fn stores() -> (Store, witlock::Lock, Puppets) {
    let store = Store::in_memory().unwrap();
    let lock = store.lock("a").wait(Duration::ZERO).open().unwrap();
    (store, lock, Puppets::new().unwrap())
}

/// A guest that has opened the lock `a`, its number 0.
async fn guest(puppets: &Puppets, ctx: LocksCtx) -> Puppet {
    let mut guest = puppets.puppet(ctx).await.unwrap();
    let opened = pull!(guest, call_open_lock, "a", &NO_OPTIONS);
    assert_eq!(opened, Ok(0));
    guest
}

async fn hold(guest: &mut Puppet, key: &str) -> Answer {
    pull!(guest, call_hold, 0, key, None)
}

async fn trap(guest: &mut Puppet) {
    let (strings, store) = guest.strings();
    assert!(strings.call_trap(store).await.is_err());
}

// LOCK-06, case K1: the lease that its host heard of, and the one that it didn't.
#[test]
fn a_guest_that_trapped_holds_until_its_embedder_lets_go() {
    let (store, lock, puppets) = stores();
    block_on(async {
        for within_one_call in [false, true] {
            let mut trapped = guest(&puppets, LocksCtx::new(&store)).await;
            if within_one_call {
                let (strings, store) = trapped.strings();
                assert!(strings.call_hold_then_trap(store, 0, "k").await.is_err());
            } else {
                hold(&mut trapped, "k").await.unwrap();
                trap(&mut trapped).await;
            }
            assert!(lock.lease("k").await.is_err());
            drop(trapped);
            lock.lease("k").await.unwrap();
        }
    });
    nothing_is_kept(&store);
}

// LOCK-06, case K1: its embedder keeps the wasmtime store, and ends the guest.
#[test]
fn ending_a_guest_passes_its_keys_on_at_once() {
    let (store, lock, puppets) = stores();
    block_on(async {
        let mut trapped = guest(&puppets, LocksCtx::new(&store)).await;
        hold(&mut trapped, "k").await.unwrap();
        trap(&mut trapped).await;
        trapped.end();
        lock.lease("k").await.unwrap();

        let mut ended = guest(&puppets, LocksCtx::new(&store)).await;
        let lease = hold(&mut ended, "k").await.unwrap();
        ended.end();
        ended.end();
        let how = pull!(ended, call_ended, lease);
        assert_eq!(how, Some(Ending::Released));
        assert_eq!(hold(&mut ended, "k").await, Err(LockError::Closed));
        lock.lease("k").await.unwrap();
    });
    nothing_is_kept(&store);
}

// LOCK-06, LOCK-13, case C13, case D12: the call is dropped at every poll, before
// and after the key came free.
#[test]
fn a_call_dropped_at_any_await_point_leaves_nothing() {
    let (store, lock, puppets) = stores();
    for dropped_after in 0..=2 {
        for came_free in [false, true] {
            let held = lock.blocking_lease("k").unwrap();
            let mut waiting = block_on(guest(&puppets, LocksCtx::new(&store)));
            let mut call = Box::pin(hold(&mut waiting, "k"));
            for _ in 0..dropped_after {
                assert!(call.as_mut().poll(&mut noop()).is_pending());
            }
            if came_free {
                held.blocking_release().unwrap();
            }
            drop(call);
            drop(waiting);
            drop(held);
            nothing_is_kept(&store);
        }
    }
}

// LOCK-06: the call is dropped while it waits, and the guest's store is kept.
#[test]
fn a_call_that_is_dropped_leaves_the_line() {
    let (store, lock, puppets) = stores();
    let held = lock.blocking_lease("k").unwrap();
    let mut waiting = block_on(guest(&puppets, LocksCtx::new(&store)));
    let mut call = Box::pin(hold(&mut waiting, "k"));
    assert!(call.as_mut().poll(&mut noop()).is_pending());
    assert_eq!(kept(&store).waiters, 1);
    drop(call);
    assert_eq!(kept(&store).waiters, 0);
    drop(held);
    nothing_is_kept(&store);
}

// LOCK-06: handles dropped in whatever order, and a lease that nobody drops.
#[test]
fn handles_may_be_dropped_in_any_order_or_not_at_all() {
    let (store, lock, puppets) = stores();
    block_on(async {
        let mut guest = guest(&puppets, LocksCtx::new(&store)).await;
        let lease = hold(&mut guest, "k").await.unwrap();
        pull!(guest, call_drop_opened, 0);
        let ended = pull!(guest, call_ended, lease);
        assert_eq!(ended, None);
        assert!(lock.lease("k").await.is_err());
        pull!(guest, call_drop_lease, lease);
        lock.lease("k").await.unwrap();

        let opened = pull!(guest, call_open_lock, "a", &NO_OPTIONS).unwrap();
        let leaked = pull!(guest, call_hold, opened, "k", None).unwrap();
        pull!(guest, call_leak, leaked);
        assert!(lock.lease("k").await.is_err());
        drop(guest);
        lock.lease("k").await.unwrap();
    });
    nothing_is_kept(&store);
}

// LOCK-04, LOCK-10: its own guest would wait for itself; another one waits.
#[test]
fn a_hold_of_the_guests_own_key_is_answered_at_once() {
    let (store, _, puppets) = stores();
    block_on(async {
        let mut one = guest(&puppets, LocksCtx::new(&store)).await;
        let mut other = guest(&puppets, LocksCtx::new(&store)).await;
        let lease = hold(&mut one, "k").await.unwrap();
        assert_eq!(hold(&mut one, "k").await, Err(LockError::HeldByCaller));
        for guest in [&mut one, &mut other] {
            assert_eq!(pull!(guest, call_try_hold, 0, "k"), Ok(None));
        }
        let mut waits = pin!(hold(&mut other, "k"));
        assert!(waits.as_mut().poll(&mut noop()).is_pending());
        assert_eq!(pull!(one, call_release, lease), Ok(()));
        assert_eq!(pull!(one, call_release, lease), Err(Ending::Released));
        // Another thread may be the one that passes it on.
        store.counts().await.unwrap();
        assert!(matches!(waits.poll(&mut noop()), Poll::Ready(Ok(_))));
    });
}

// LOCK-12: a guest can't leave its scope.
#[test]
fn a_scope_stands_before_every_name() {
    let (store, _, puppets) = stores();
    block_on(async {
        let scoped = |scope: &str| LocksCtx::builder(&store).scope(scope).build();
        let mut one = guest(&puppets, scoped("one/")).await;
        let mut two = guest(&puppets, scoped("two/")).await;
        hold(&mut one, "k").await.unwrap();
        hold(&mut two, "k").await.unwrap();
        let held = store.holdings(None).await.unwrap().items;
        let mut names: Vec<_> = held.iter().map(|held| held.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["one/a", "two/a"]);

        let name = |bytes: usize| "n".repeat(bytes);
        assert!(pull!(one, call_open_lock, &name(124), &NO_OPTIONS).is_ok());
        for (bytes, told) in [
            (0, "this one 0"),
            (125, "\"one/\" in front"),
            (129, "this one 129"),
        ] {
            let error = pull!(one, call_open_lock, &name(bytes), &NO_OPTIONS).unwrap_err();
            assert!(
                matches!(&error, LockError::Invalid(why) if why.contains(told)),
                "{error:?}"
            );
        }
    });
}

// LOCK-12: nor pass the bounds that its embedder gave it.
#[test]
fn a_guest_holds_and_waits_for_as_many_keys_as_its_context_says() {
    let (store, lock, puppets) = stores();
    block_on(async {
        let ctx = LocksCtx::builder(&store).max_held(2).max_waiting(0).build();
        let mut guest = guest(&puppets, ctx).await;
        let lease = hold(&mut guest, "k").await.unwrap();
        hold(&mut guest, "l").await.unwrap();
        let error = hold(&mut guest, "m").await.unwrap_err();
        assert!(
            matches!(&error, LockError::TooMany(why) if why.contains("2 keys")),
            "{error:?}"
        );
        pull!(guest, call_drop_lease, lease);
        let _held = lock.lease("k").await.unwrap();
        let error = hold(&mut guest, "k").await.unwrap_err();
        assert!(
            matches!(&error, LockError::TooMany(why) if why.contains("0 keys")),
            "{error:?}"
        );
        hold(&mut guest, "m").await.unwrap();
    });
}

// LOCK-01, LOCK-04, LOCK-10: the linker for guests that are called with `call`.
#[test]
fn a_guest_may_block_its_thread() {
    watchdog();
    let store = Store::in_memory().unwrap();
    let mut guest = SyncPuppet::new(LocksCtx::new(&store)).unwrap();
    let (strings, stage) = guest.strings();
    let lock = strings.call_open_lock(&mut *stage, "a", &NO_OPTIONS);
    let semaphore = strings.call_open_semaphore(&mut *stage, "s", 1, &NO_OPTIONS);
    for opened in [lock, semaphore] {
        let opened = opened.unwrap().unwrap();
        let lease = strings.call_hold(&mut *stage, opened, "k", None);
        let lease = lease.unwrap().unwrap();
        let again = strings.call_hold(&mut *stage, opened, "k", None);
        assert_eq!(again.unwrap(), Err(LockError::HeldByCaller));
        let tried = strings.call_try_hold(&mut *stage, opened, "k");
        assert_eq!(tried.unwrap(), Ok(None));
        assert!(strings.call_fence(&mut *stage, lease).unwrap() > 0);
        assert_eq!(strings.call_ended(&mut *stage, lease).unwrap(), None);
        let released = strings.call_release(&mut *stage, lease);
        assert_eq!(released.unwrap(), Ok(()));
        let tried = strings.call_try_hold(&mut *stage, opened, "k");
        let lease = tried.unwrap().unwrap().unwrap();
        strings.call_drop_lease(&mut *stage, lease).unwrap();
        strings.call_drop_opened(&mut *stage, opened).unwrap();
    }
    nothing_is_kept(&store);

    let lock = store.lock("a").open().unwrap();
    let held = lock.blocking_lease("k").unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(move || {
            let (strings, stage) = guest.strings();
            let opened = strings.call_open_lock(&mut *stage, "a", &NO_OPTIONS);
            let opened = opened.unwrap().unwrap();
            strings.call_hold(stage, opened, "k", None).unwrap()
        });
        while kept(&store).waiters == 0 {
            std::thread::yield_now();
        }
        drop(held);
        waiter.join().unwrap().unwrap();
    });
    nothing_is_kept(&store);
}

// LOCK-03, LOCK-11, case L14: every thread of the runtime has a guest that spins
// and never yields; deadlines come all the same, and native threads are served.
#[test]
fn guests_that_spin_starve_no_deadline() {
    watchdog();
    const SPINNING: usize = 2;
    let (store, _, puppets) = stores();
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(SPINNING).build().unwrap();
    let spin = |n: usize| {
        let (puppets, ctx) = (puppets.clone(), LocksCtx::new(&store));
        runtime.spawn(async move {
            let mut guest = puppets.puppet(ctx).await.unwrap();
            let options = Options {
                max_hold: Some(1_000),
                ..NO_OPTIONS
            };
            pull!(guest, call_open_lock, "a", &options).unwrap();
            let key = format!("k{n}");
            let (strings, store) = guest.strings();
            let stopped = strings.call_hold_then_spin(store, 0, &key).await;
            assert!(stopped.is_err());
        })
    };
    let spinning: Vec<_> = (0..SPINNING).map(spin).collect();
    while kept(&store).leases < SPINNING as u64 {
        std::thread::yield_now();
    }
    let patient = store
        .lock("a")
        .wait(Duration::from_secs(60))
        .open()
        .unwrap();
    for n in 0..SPINNING {
        patient.blocking_lease(&format!("k{n}")).unwrap();
    }
    assert!(spinning.iter().all(|guest| !guest.is_finished()));
    puppets.stop_all_after(Duration::ZERO).join().unwrap();
    for guest in spinning {
        runtime.block_on(guest).unwrap();
    }
}
