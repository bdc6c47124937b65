//! What there is much of must not make the rest slow: a hold beside a million keys
//! held, and beside a million leases that are due at one moment.
#![allow(missing_docs)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use witlock::clock::ManualClock;
use witlock::{Lease, Lock, Store};

const MANY: usize = 1_000_000;

/// Holds so many keys, of as many holders as that takes.
fn hold_many(store: &Store, keys: usize, max_hold: Option<Duration>) -> Vec<Lease> {
    let open = |_| {
        let lock = store.lock("many");
        match max_hold {
            Some(span) => lock.max_hold(span).open().expect("a lock"),
            None => lock.open().expect("a lock"),
        }
    };
    let holders: Vec<Lock> = (0..keys.div_ceil(10_000)).map(open).collect();
    let hold = |n: usize| {
        let lease = holders[n / 10_000].blocking_lease(&format!("key {n}"));
        lease.expect("a free key")
    };
    (0..keys).map(hold).collect()
}

fn beside_keys_held(c: &mut Criterion) {
    for keys in [1_000, MANY] {
        let store = Store::in_memory().expect("a store");
        let held = hold_many(&store, keys, None);
        let lock = store.lock("summaries").open().expect("a lock");
        let mut next = 0;
        c.bench_function(&format!("hold + release/{keys} keys held"), |bench| {
            bench.iter(|| {
                next += 1;
                // Another key each time, so that not one place stays warm.
                let key = format!("chat {}", next % 4_096);
                lock.blocking_hold(&key, |lease| lease.fence())
            });
        });
        drop(held);
    }
}

/// A million leases reach their max-hold at one moment. Criterion's figure is
/// until the last has ended; the longest that another key's hold took meanwhile is
/// printed.
fn beside_leases_due(c: &mut Criterion) {
    let mut group = c.benchmark_group("a million leases due at one moment");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    let mut slowest = Vec::new();
    group.bench_function("until all have ended", |bench| {
        bench.iter_custom(|times| {
            let mut took = Duration::ZERO;
            for _ in 0..times {
                let (ended, longest_hold) = end_a_million();
                took += ended;
                slowest.push(longest_hold);
            }
            took
        });
    });
    group.finish();
    slowest.sort_unstable();
    if let (Some(median), Some(most)) = (slowest.get(slowest.len() / 2), slowest.last()) {
        println!("another key's longest hold meanwhile: median {median:?}, most {most:?}");
    }
}

fn end_a_million() -> (Duration, Duration) {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.expect("a runtime");
    let clock = ManualClock::default();
    let store = Store::builder().clock(clock.clone()).in_memory();
    let store = store.expect("a store");
    let leases = hold_many(&store, MANY, Some(Duration::from_secs(60)));
    let lock = store.lock("summaries").open().expect("a lock");
    let done = AtomicBool::new(false);
    let took = std::thread::scope(|scope| {
        let holder = scope.spawn(|| longest_hold(&lock, &done));
        let start = Instant::now();
        clock.advance(Duration::from_secs(60));
        while runtime
            .block_on(store.counts())
            .expect("an open store")
            .leases
            > 1
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        let ended = start.elapsed();
        done.store(true, Ordering::Release);
        (ended, holder.join().expect("no panic"))
    });
    assert!(leases.iter().all(|lease| lease.ended().is_some()));
    took
}

fn longest_hold(lock: &Lock, done: &AtomicBool) -> Duration {
    let mut longest = Duration::ZERO;
    while !done.load(Ordering::Acquire) {
        let start = Instant::now();
        lock.blocking_hold("chat-1", |_| ()).expect("a free key");
        longest = longest.max(start.elapsed());
        std::thread::sleep(Duration::from_micros(100));
    }
    longest
}

criterion_group!(benches, beside_keys_held, beside_leases_due);
criterion_main!(benches);
