//! A million leases that are due at one moment, and who holds another key meanwhile.
#![allow(missing_docs)]

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use witlock::clock::ManualClock;
use witlock::{Lock, Store};

const MANY: usize = 1_000_000;

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
    let leases = common::hold_many(&store, MANY, Some(Duration::from_secs(60)));
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

criterion_group!(benches, beside_leases_due);
criterion_main!(benches);
