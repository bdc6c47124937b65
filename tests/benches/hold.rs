//! What a hold and its release of a free key cost: by the native API, and by the
//! engine alone, natively. Compare the two of one run; machines differ.
#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use witlock_engine::{Command, Engine, Event, Hold, LeaseId, OpenSession, Seed};

fn native_api(c: &mut Criterion) {
    let store = witlock::Store::in_memory().expect("a store");
    let lock = store.lock("summaries").open().expect("a lock");
    c.bench_function("hold + release, native API", |bench| {
        bench.iter(|| lock.blocking_hold("chat-1", |lease| lease.fence()));
    });
}

fn engine_alone(c: &mut Criterion) {
    let mut engine = Engine::new(Seed { low: 1, high: 2 });
    let open = OpenSession {
        session: 1,
        ..OpenSession::default()
    };
    let start = vec![Command::AddFences(1..1 << 53), Command::OpenSession(open)];
    engine.step(0, start);
    c.bench_function("hold + release, the engine natively", |bench| {
        bench.iter(|| {
            let lease = hold(&mut engine);
            engine.step(0, vec![Command::Release { tag: 0, lease }])
        });
    });
}

fn hold(engine: &mut Engine) -> LeaseId {
    let hold = Command::Hold(Hold {
        ticket: 1,
        session: 1,
        name: "summaries".into(),
        key: "chat-1".into(),
        ..Hold::default()
    });
    match engine.step(0, vec![hold]).events[..] {
        [Event::Granted(grant)] => grant.lease,
        ref other => unreachable!("a free key is given: {other:?}"),
    }
}

criterion_group!(benches, native_api, engine_alone);
criterion_main!(benches);
