//! Each way to hold a key, by itself. To compare them, see `ratios`.
#![allow(missing_docs)]

mod common;

use common::Subject;
use criterion::{Criterion, criterion_group, criterion_main};

fn bench(c: &mut Criterion, name: &str, mut subject: Subject) {
    c.bench_function(name, |bench| bench.iter_custom(&mut subject));
}

fn free_key(c: &mut Criterion) {
    bench(c, "free key/engine natively", common::engine_natively());
    bench(c, "free key/engine.wasm alone", common::engine_alone());
    bench(c, "free key/native API", common::native_api());
    bench(c, "free key/p2 guest", common::p2_guest());
    bench(c, "free key/tinystore", common::tinystore());
}

fn hand_over(c: &mut Criterion) {
    bench(c, "hand-over/8 tasks", common::native_tasks());
    bench(
        c,
        "hand-over/8 tasks of one thread",
        common::tasks_of_one_thread(),
    );
    bench(c, "hand-over/8 threads", common::threads());
    bench(
        c,
        "hand-over/8 threads, tinystore",
        common::tinystore_threads(),
    );
}

fn scale(c: &mut Criterion) {
    bench(c, "1 000 keys held", common::beside_keys_held(1_000));
    bench(
        c,
        "1 000 000 keys held",
        common::beside_keys_held(1_000_000),
    );
}

criterion_group!(benches, free_key, hand_over, scale);
criterion_main!(benches);
