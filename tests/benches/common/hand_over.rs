//! One key, handed on among 8 who ask for it over and over: what one hold and its
//! release cost.

use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use witlock::{Lock, Store};

use super::Subject;

const KEY: &str = "chat-1";
const HOLDERS: u64 = 8;

/// Longer than the benches run: none gives up.
const WAIT: Duration = Duration::from_secs(3_600);

/// What each of the holders does, so that all do as many as were asked for.
fn share(times: u64) -> u64 {
    times.div_ceil(HOLDERS)
}

fn lock() -> Lock {
    let store = Store::in_memory().expect("a store");
    store.lock("summaries").wait(WAIT).open().expect("a lock")
}

/// Tasks of a runtime with a thread for each core.
pub fn native_tasks() -> Subject {
    tasks_on(Runtime::new().expect("a runtime"))
}

/// Tasks that take turns on one thread.
pub fn tasks_of_one_thread() -> Subject {
    tasks_on(Builder::new_current_thread().build().expect("a runtime"))
}

fn tasks_on(runtime: Runtime) -> Subject {
    let lock = lock();
    Box::new(move |times| {
        let start = Instant::now();
        runtime.block_on(async {
            let work = |_| tokio::spawn(hold_often(lock.clone(), share(times)));
            for task in (0..HOLDERS).map(work).collect::<Vec<_>>() {
                task.await.expect("no panic");
            }
        });
        start.elapsed()
    })
}

async fn hold_often(lock: Lock, times: u64) {
    for _ in 0..times {
        lock.hold(KEY, async |_| ()).await.expect("its turn");
    }
}

/// Threads, by the blocking twins.
pub fn threads() -> Subject {
    let lock = lock();
    by_threads(move || lock.blocking_hold(KEY, |_| ()).expect("its turn"))
}

pub fn tinystore_threads() -> Subject {
    let dir = tempfile::tempdir().expect("a directory");
    let store = tinystore::Store::open(dir.path(), Default::default()).expect("a store");
    let lock = store.lock("summaries").open().expect("a lock");
    by_threads(move || {
        // Its locks do not keep it open.
        let _open = (&dir, &store);
        let key = lock.key(KEY).wait(WAIT);
        key.hold(|_| Ok::<_, tinystore::Error>(()))
            .expect("its turn");
    })
}

fn by_threads(hold: impl Fn() + Sync + 'static) -> Subject {
    Box::new(move |times| {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..HOLDERS {
                scope.spawn(|| (0..share(times)).for_each(|_| hold()));
            }
        });
        start.elapsed()
    })
}
