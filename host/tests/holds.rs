//! Holds through the native API: what the caller sees, and what is left behind.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::{Duration, SystemTime};

use common::{block_on, noop_context};
use witlock::clock::{Alarm, Clock, ManualClock};
use witlock::{Counts, Ending, HoldError, Lock, LockError, Store};

fn store() -> (Store, ManualClock) {
    let clock = ManualClock::default();
    let store = Store::builder().clock(clock.clone()).in_memory().unwrap();
    (store, clock)
}

fn lock() -> (Store, ManualClock, Lock) {
    let (store, clock) = store();
    let lock = store.lock("a").open().unwrap();
    (store, clock, lock)
}

fn kept(store: &Store) -> Counts {
    block_on(store.counts()).unwrap()
}

#[track_caller]
fn nothing_is_kept(store: &Store) {
    let kept = kept(store);
    assert_eq!((kept.keys, kept.leases, kept.waiters), (0, 0, 0));
}

// LOCK-07, case B8
#[test]
fn the_body_runs_only_while_the_key_is_held() {
    common::watchdog();
    let (store, clock, lock) = lock();
    let held = lock.blocking_lease("k").unwrap();
    let mut ran = 0;
    {
        let mut hold = pin!(lock.hold("k", async |_| ran += 1));
        assert!(hold.as_mut().poll(&mut noop_context()).is_pending());
        clock.advance(Duration::from_secs(10));
        // The store's thread may be the one that answers: a poll might be too early.
        let answer = block_on(hold.as_mut());
        assert_eq!(answer, Err(HoldError::Lock(LockError::InUse)));
    }
    assert_eq!(block_on(lock.try_hold("k", async |_| ran += 1)), Ok(None));
    assert_eq!(ran, 0);
    drop(held);
    assert_eq!(
        block_on(lock.try_hold("k", async |_| ran += 1)),
        Ok(Some(()))
    );
    assert_eq!(lock.blocking_try_hold("k", |_| ran += 1), Ok(Some(())));
    assert_eq!(lock.blocking_hold("k", |_| ran += 1), Ok(()));
    assert_eq!(ran, 3);
    nothing_is_kept(&store);
}

// LOCK-07, LOCK-03, case A11, case B5: and what comes after a lease that was lost.
#[test]
fn work_under_a_lease_that_ended_is_no_success() {
    let (store, clock) = store();
    let second = Duration::from_secs(1);
    let lock = store.lock("a").max_hold(second).open().unwrap();
    let late = lock.blocking_hold("k", |_| clock.advance(second));
    assert_eq!(late, Err(HoldError::Lost(Ending::Revoked)));
    let in_time = lock.blocking_hold("k", |_| clock.advance(second - Duration::from_nanos(1)));
    assert_eq!(in_time, Ok(()));
    let released = lock.blocking_hold("k", |lease| {
        lease.blocking_release().unwrap();
        clock.advance(second);
    });
    assert_eq!(released, Ok(()));
    let broken = lock.blocking_hold("k", |_| {
        let page = block_on(store.holdings(None)).unwrap();
        block_on(store.break_lease(page.items[0].lease)).unwrap();
    });
    assert_eq!(broken, Err(HoldError::Lost(Ending::Broken)));
    let closed = lock.blocking_hold("k", |_| store.close());
    assert_eq!(closed, Err(HoldError::Lost(Ending::Closed)));
}

// LOCK-06
#[test]
fn work_that_panics_lets_the_key_go() {
    let (store, _, lock) = lock();
    let work = || lock.blocking_hold("k", |_| panic!("on purpose"));
    assert!(catch_unwind(AssertUnwindSafe(work)).is_err());
    nothing_is_kept(&store);
    lock.blocking_hold("k", |_| ()).unwrap();
}

// LOCK-06, LOCK-13, case C13, case D12
#[test]
fn a_hold_dropped_at_any_await_point_leaves_nothing() {
    for dropped_after in 0..6 {
        let (store, _, lock) = lock();
        let held = lock.blocking_lease("k").unwrap();
        let work = async |_: &witlock::Lease| {
            for _ in 0..3 {
                let mut yielded = false;
                std::future::poll_fn(|_| match std::mem::replace(&mut yielded, true) {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                })
                .await;
            }
        };
        {
            let mut held = Some(held);
            let mut hold = pin!(lock.hold("k", work));
            for poll in 0..dropped_after {
                if poll == 1 {
                    held = None;
                    kept(&store);
                }
                let polled = hold.as_mut().poll(&mut noop_context());
                assert_eq!(polled.is_ready(), poll == 4, "poll {poll}");
                if polled.is_ready() {
                    break;
                }
            }
            drop(held);
        }
        nothing_is_kept(&store);
        lock.blocking_hold("k", |_| ()).unwrap();
    }
}

// LOCK-06, case B7, case D2, case E8
#[test]
fn a_hold_cancelled_as_it_is_granted_passes_the_key_on() {
    common::watchdog();
    let (store, _, lock) = lock();
    for granted_first in [true, false] {
        let held = lock.blocking_lease("k").unwrap();
        let mut next = Box::pin(lock.lease("k"));
        let mut behind = pin!(lock.lease("k"));
        assert!(next.as_mut().poll(&mut noop_context()).is_pending());
        assert!(behind.as_mut().poll(&mut noop_context()).is_pending());
        if granted_first {
            drop(held);
            drop(next);
        } else {
            drop(next);
            drop(held);
        }
        // Another thread may be the one that passes it on, a step after the one
        // that grants it to who is gone. The clock stands still: only a grant
        // ends this wait.
        let lease = block_on(behind.as_mut());
        assert!(lease.is_ok(), "{lease:?}");
        drop(lease);
        nothing_is_kept(&store);
    }
}

// LOCK-10, case B9, case H1
#[test]
fn releasing_twice_changes_nothing_and_says_so() {
    let (store, _) = store();
    let semaphore = store.semaphore("a", 2).wait(Duration::ZERO).open().unwrap();
    let lease = semaphore.blocking_lease("k").unwrap();
    let other = semaphore.blocking_lease("k").unwrap();
    assert_eq!(lease.blocking_release(), Ok(()));
    let next = semaphore.blocking_lease("k").unwrap();
    assert_eq!(lease.blocking_release(), Err(Ending::Released));
    drop(lease);
    assert_eq!(semaphore.blocking_lease("k").unwrap_err(), LockError::InUse);
    assert_eq!((next.ended(), other.ended()), (None, None));
}

// LOCK-07, case A3, case A8: nobody calls the store, and the signal comes.
#[test]
fn the_end_of_a_lease_wakes_who_waits_for_it() {
    common::watchdog();
    let (store, clock) = store();
    let second = Duration::from_secs(1);
    let lock = store.lock("a").max_hold(second).open().unwrap();
    let lease = lock.blocking_lease("k").unwrap();
    std::thread::scope(|scope| {
        let told = scope.spawn(|| block_on(lease.until_ended()));
        clock.advance(second);
        assert_eq!(lease.ended(), Some(Ending::Revoked));
        assert_eq!(told.join().unwrap(), Ending::Revoked);
    });
}

// LOCK-11: by the default clock, and with nobody calling.
#[test]
fn deadlines_come_by_themselves() {
    common::watchdog();
    let store = Store::in_memory().unwrap();
    let lock = store.lock("a").open().unwrap();
    let brief = Duration::from_millis(30);
    let revoked = store.lock("a").max_hold(brief).open().unwrap();
    let lease = revoked.blocking_lease("k").unwrap();
    let next = lock.blocking_lease("k").unwrap();
    assert_eq!(lease.ended(), Some(Ending::Revoked));
    let refused = lock.with_wait(brief).blocking_lease("k").unwrap_err();
    assert_eq!(refused, LockError::InUse);
    drop(next);
}

/// A clock whose calendar can be set.
struct Calendar {
    clock: ManualClock,
    wall: Arc<Mutex<SystemTime>>,
}

impl Clock for Calendar {
    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn alarm(&self) -> io::Result<Box<dyn Alarm>> {
        self.clock.alarm()
    }

    fn wall(&self) -> SystemTime {
        *self.wall.lock().unwrap()
    }
}

// LOCK-11, case F1, case F2
#[test]
fn the_calendar_may_be_set_to_anything() {
    common::watchdog();
    const HOUR: Duration = Duration::from_secs(3_600);
    const YEAR: Duration = Duration::from_secs(365 * 24 * 3_600);
    let (clock, today) = (ManualClock::default(), SystemTime::now());
    let wall = Arc::new(Mutex::new(today));
    let calendar = Calendar {
        clock: clock.clone(),
        wall: wall.clone(),
    };
    let store = Store::builder().clock(calendar).in_memory().unwrap();
    let lock = store
        .lock("a")
        .max_hold(HOUR)
        .wait(2 * HOUR)
        .open()
        .unwrap();
    let held = lock.blocking_lease("k").unwrap();
    let mut next = pin!(lock.lease("k"));
    let before_1970 = SystemTime::UNIX_EPOCH - YEAR;
    for set in [
        today + HOUR,
        today - HOUR,
        today + 10 * YEAR,
        today - 10 * YEAR,
        before_1970,
    ] {
        *wall.lock().unwrap() = set;
        assert!(next.as_mut().poll(&mut noop_context()).is_pending());
        let left = block_on(store.holdings(None)).unwrap().items[0].left;
        assert_eq!((held.ended(), left), (None, Some(HOUR)));
    }
    clock.advance(HOUR);
    assert_eq!(block_on(held.until_ended()), Ending::Revoked);
    assert!(block_on(next.as_mut()).is_ok());
}

// LOCK-12, case F7
#[test]
fn spans_out_of_their_bounds_are_refused_by_name() {
    let (store, _) = store();
    let ms = Duration::from_millis;
    let longest = ms(u32::MAX.into());
    let past = longest + Duration::from_nanos(1);
    for (builder, bound) in [
        (
            store.lock("a").ttl(ms(999)),
            "a ttl is 1000 to 3600000 ms, not 999",
        ),
        (store.lock("a").ttl(ms(3_600_001)), "not 3600001"),
        (
            store.lock("a").ttl(Duration::MAX),
            "a ttl is at most 4294967295 ms",
        ),
        (
            store.lock("a").max_hold(Duration::ZERO),
            "a max-hold is 1 to 4294967295 ms, not 0",
        ),
        (
            store.lock("a").max_hold(past),
            "a max-hold is at most 4294967295 ms, not 4294967296",
        ),
        (
            store.lock("a").wait(past),
            "a wait is at most 4294967295 ms, not 4294967296",
        ),
        (store.lock("a").wait(Duration::MAX), "a wait is at most"),
        (store.lock("a\n"), "no control characters"),
        (store.semaphore("a", 0), "1 to 1000, not 0"),
        (store.semaphore("a", 1001), "1 to 1000, not 1001"),
    ] {
        let error = builder.open().unwrap_err();
        assert!(
            matches!(&error, LockError::Invalid(why) if why.contains(bound)),
            "{error}"
        );
    }
    let widest = store
        .lock("a")
        .ttl(ms(3_600_000))
        .wait(longest)
        .max_hold(longest);
    let lease = widest.open().unwrap().blocking_lease("k").unwrap();
    assert_eq!(lease.ended(), None);
    // Less than a millisecond is not nothing: it waits.
    let brief = store
        .lock("a")
        .wait(Duration::from_nanos(1))
        .open()
        .unwrap();
    let mut waits = pin!(brief.lease("k"));
    assert!(waits.as_mut().poll(&mut noop_context()).is_pending());
}

// LOCK-01, case I2: threads and tasks together, on one key.
#[test]
fn one_at_a_time_under_load() {
    common::watchdog();
    const EACH: u64 = 500;
    let store = Store::in_memory().unwrap();
    let lock = store
        .lock("a")
        .wait(Duration::from_secs(250))
        .open()
        .unwrap();
    let (inside, last_fence, turns) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let turn = |lease: &witlock::Lease| {
        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
        assert!(last_fence.swap(lease.fence(), Ordering::SeqCst) < lease.fence());
        turns.fetch_add(1, Ordering::SeqCst);
        inside.fetch_sub(1, Ordering::SeqCst);
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..EACH {
                    lock.blocking_hold("k", turn).unwrap();
                }
            });
        }
        scope.spawn(|| {
            let task = || async {
                for _ in 0..EACH {
                    lock.hold("k", async |lease| turn(lease)).await.unwrap();
                }
            };
            block_on(async { tokio::join!(task(), task(), task(), task()) });
        });
    });
    assert_eq!(turns.load(Ordering::SeqCst), 8 * EACH);
    nothing_is_kept(&store);
}

// LOCK-01, LOCK-06, case D3: tickets dropped at random under load strand nobody.
#[test]
fn cancelled_under_load() {
    common::watchdog();
    let store = Store::in_memory().unwrap();
    let lock = store
        .semaphore("a", 2)
        .wait(Duration::from_secs(250))
        .open()
        .unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let done: Vec<_> = (0..64_u64)
        .map(|n| {
            let lock = lock.clone();
            runtime.spawn(async move {
                for round in 0..200 {
                    let brief = Duration::from_micros((n * 7 + round * 13) % 300);
                    let hold = lock.hold("k", async |_| tokio::task::yield_now().await);
                    if n % 2 == 0 {
                        let _ = tokio::time::timeout(brief, hold).await;
                    } else {
                        hold.await.unwrap();
                    }
                }
            })
        })
        .collect();
    runtime.block_on(async {
        for task in done {
            task.await.unwrap();
        }
    });
    nothing_is_kept(&store);
}
