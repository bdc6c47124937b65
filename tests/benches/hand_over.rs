//! What it costs to hand one key on, among 8 who ask for it over and over: tasks
//! of tokio by the native API, threads by the crate `tinystore`, whose holds
//! block. Each figure is for one hold and its release.
#![allow(missing_docs)]

use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};

const KEY: &str = "chat-1";
const HOLDERS: u64 = 8;

/// Longer than the benches run: none gives up.
const WAIT: Duration = Duration::from_secs(3_600);

/// What each of the holders does, so that all do as many as were asked for.
fn share(times: u64) -> u64 {
    times.div_ceil(HOLDERS)
}

fn tasks(c: &mut Criterion) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let store = witlock::Store::in_memory().expect("a store");
    let lock = store.lock("summaries").wait(WAIT).open().expect("a lock");
    c.bench_function("hand-over/8 tasks, native API", |bench| {
        bench.iter_custom(|times| {
            let start = Instant::now();
            runtime.block_on(async {
                let work = |_| {
                    let lock = lock.clone();
                    tokio::spawn(async move {
                        for _ in 0..share(times) {
                            lock.hold(KEY, async |_| ()).await.expect("its turn");
                        }
                    })
                };
                for task in (0..HOLDERS).map(work).collect::<Vec<_>>() {
                    task.await.expect("no panic");
                }
            });
            start.elapsed()
        });
    });
}

/// Whatever a hold does, done by 8 threads.
fn threads(times: u64, hold: impl Fn() + Sync) -> Duration {
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..HOLDERS {
            scope.spawn(|| (0..share(times)).for_each(|_| hold()));
        }
    });
    start.elapsed()
}

fn native_threads(c: &mut Criterion) {
    let store = witlock::Store::in_memory().expect("a store");
    let lock = store.lock("summaries").wait(WAIT).open().expect("a lock");
    c.bench_function("hand-over/8 threads, native API", |bench| {
        bench.iter_custom(|times| {
            threads(times, || lock.blocking_hold(KEY, |_| ()).expect("its turn"))
        });
    });
}

fn tinystore_threads(c: &mut Criterion) {
    let dir = tempfile::tempdir().expect("a directory");
    let store = tinystore::Store::open(dir.path(), Default::default()).expect("a store");
    let lock = store.lock("summaries").open().expect("a lock");
    let hold = || {
        let held = lock
            .key(KEY)
            .wait(WAIT)
            .hold(|_| Ok::<_, tinystore::Error>(()));
        held.expect("its turn");
    };
    c.bench_function("hand-over/8 threads, tinystore", |bench| {
        bench.iter_custom(|times| threads(times, hold));
    });
}

criterion_group!(benches, tasks, native_threads, tinystore_threads);
criterion_main!(benches);
