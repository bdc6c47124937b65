//! What a hold and its release of a free key cost on each face, with the crate
//! `tinystore` beside them. Compare within one run; machines differ.
#![allow(missing_docs)]

mod common;

use std::time::Instant;

use common::Stepped;
use criterion::{Criterion, criterion_group, criterion_main};
use witlock::LocksCtx;
use witlock_tests::puppet::{NO_OPTIONS, SyncPuppet};
use witlock_tests::{Machine, Native, Wasm};

const KEY: &str = "chat-1";

fn native_api(c: &mut Criterion) {
    let store = witlock::Store::in_memory().expect("a store");
    let lock = store.lock("summaries").open().expect("a lock");
    c.bench_function("free key/native API", |bench| {
        bench.iter(|| lock.blocking_hold(KEY, |lease| lease.fence()));
    });
}

fn tinystore(c: &mut Criterion) {
    let dir = tempfile::tempdir().expect("a directory");
    let store = tinystore::Store::open(dir.path(), Default::default()).expect("a store");
    let lock = store.lock("summaries").open().expect("a lock");
    c.bench_function("free key/tinystore", |bench| {
        bench.iter(|| lock.hold(KEY, |lease| Ok::<_, tinystore::Error>(lease.fence())));
    });
}

fn p2_guest(c: &mut Criterion) {
    let store = witlock::Store::in_memory().expect("a store");
    let mut puppet = SyncPuppet::new(LocksCtx::new(&store)).expect("a guest");
    let (strings, guest) = puppet.strings();
    let opened = strings.call_open_lock(&mut *guest, "summaries", &NO_OPTIONS);
    let lock = opened.expect("no trap").expect("a lock");
    c.bench_function("free key/p2 guest", |bench| {
        bench.iter_custom(|times| {
            let start = Instant::now();
            let held = strings.call_hold_often(&mut *guest, lock, KEY, times);
            held.expect("no trap").expect("a free key");
            start.elapsed()
        });
    });
}

fn engine<M: Machine>(c: &mut Criterion) {
    let mut engine = Stepped::<M>::start();
    c.bench_function(&format!("free key/{}", M::NAME), |bench| {
        bench.iter(|| engine.hold_and_release(KEY));
    });
}

criterion_group!(
    benches,
    engine::<Native>,
    engine::<Wasm>,
    native_api,
    tinystore,
    p2_guest
);
criterion_main!(benches);
