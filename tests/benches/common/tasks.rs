//! Guests of WASI 0.3, and compositions with `locks.wasm`: both measure
//! themselves, so that no line of theirs is part of it.

use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use witlock::{Lease, LockError, LocksCtx, Store};
use witlock_programs::TASKS_WITH_LOCKS;
use witlock_tests::tasks::{Tasks, text};

use super::Subject;

/// As many as may wait for one key.
const CROWD: u32 = 10_000;

/// A guest of WASI 0.3 of a store.
pub fn p3_guest() -> Subject {
    often(hosted(), "often")
}

/// The same guest, by `@0.2.0`.
pub fn p3_guest_standing() -> Subject {
    often(hosted(), "often-standing")
}

/// A composition.
pub fn composition() -> Subject {
    often(Tasks::composed(TASKS_WITH_LOCKS), "often")
}

/// A composition, by `@0.2.0`.
pub fn composition_standing() -> Subject {
    often(Tasks::composed(TASKS_WITH_LOCKS), "often-standing")
}

/// Hand-overs of a key for which a crowd of a guest's tasks waits.
pub fn crowd_of_a_guest() -> Subject {
    crowd(hosted())
}

/// The same in a composition.
pub fn crowd_of_a_composition() -> Subject {
    crowd(Tasks::composed(TASKS_WITH_LOCKS))
}

/// The same by the native API.
pub fn natively_crowded() -> Subject {
    let store = Store::in_memory().expect("a store");
    let lock = store.lock("crowded").open().expect("a lock");
    Box::new(move |times| {
        let first = lock.blocking_lease("k").expect("a free key");
        let mut line: Vec<_> = (0..CROWD)
            .map(|_| {
                let lock = lock.with_wait(Duration::from_secs(3_600));
                Box::pin(async move { lock.lease("k").await })
            })
            .collect();
        assert!(
            line.iter_mut()
                .all(|waiting| poll(waiting.as_mut()).is_none())
        );
        let start = Instant::now();
        drop(first);
        for waiting in &mut line {
            drop(next(waiting.as_mut()).expect("a lease"));
        }
        scaled(start.elapsed(), times)
    })
}

/// Waits for who is next: another thread may be about to answer it.
fn next<F>(mut future: Pin<&mut F>) -> Result<Lease, LockError>
where
    F: Future<Output = Result<Lease, LockError>>,
{
    loop {
        if let Some(answer) = poll(future.as_mut()) {
            return answer;
        }
        std::thread::yield_now();
    }
}

fn poll<F>(future: Pin<&mut F>) -> Option<Result<Lease, LockError>>
where
    F: Future<Output = Result<Lease, LockError>>,
{
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        std::task::Poll::Ready(answer) => Some(answer),
        std::task::Poll::Pending => None,
    }
}

fn hosted() -> Tasks {
    let store = Store::in_memory().expect("a store");
    Tasks::hosted(LocksCtx::new(&store))
}

fn often(mut tasks: Tasks, line: &'static str) -> Subject {
    open(&mut tasks);
    Box::new(move |times| took(&tasks.say(&format!("{line} 0 x6b {times}"))))
}

fn crowd(mut tasks: Tasks) -> Subject {
    open(&mut tasks);
    Box::new(move |times| scaled(took(&tasks.say(&format!("crowd 0 x6b {CROWD}"))), times))
}

fn open(tasks: &mut Tasks) {
    assert_eq!(
        tasks.say(&format!("open {} - - - - -", text("jobs"))),
        "opened"
    );
}

fn took(answer: &str) -> Duration {
    let nanoseconds = answer
        .trim_start_matches("in order, ")
        .strip_prefix("took ");
    let nanoseconds = nanoseconds.map(str::parse).and_then(Result::ok);
    Duration::from_nanos(nanoseconds.unwrap_or_else(|| panic!("{answer:?} tells no time")))
}

/// What so many hand-overs take, if those of the crowd took this.
fn scaled(took: Duration, times: u64) -> Duration {
    took.mul_f64(times as f64 / f64::from(CROWD))
}
