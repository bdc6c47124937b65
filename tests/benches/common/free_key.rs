//! A free key, held and released.

use std::time::Instant;

use witlock::{LocksCtx, Store};
use witlock_engine::{Command, Engine, Event, Hold, LeaseId, OpenSession, Seed};
use witlock_tests::puppet::{NO_OPTIONS, SyncPuppet};
use witlock_tests::{Machine, Wasm};

use super::{Subject, hold_many, over_and_over};

const KEY: &str = "chat-1";

const SEED: Seed = Seed { low: 1, high: 2 };

/// Plenty of fences, and the session 1.
fn start() -> Vec<witlock_tests::Command> {
    let open = OpenSession {
        session: 1,
        ..OpenSession::default()
    };
    vec![Command::AddFences(1..1 << 53), Command::OpenSession(open)]
}

fn hold() -> Hold<'static> {
    Hold {
        ticket: 1,
        session: 1,
        name: "summaries".into(),
        key: KEY.into(),
        ..Hold::default()
    }
}

/// The engine linked in, stepped as the component steps it.
pub fn engine_natively() -> Subject {
    let mut engine = Engine::new(SEED);
    engine.step(0, &start());
    let mut events = Vec::new();
    over_and_over(move || {
        events.clear();
        engine.step_into(0, &[Command::Hold(hold())], &mut events);
        let Some(Event::Granted(grant)) = events.pop() else {
            unreachable!("a free key is given");
        };
        let (tag, lease) = (0, grant.lease);
        engine.step_into(0, &[Command::Release { tag, lease }], &mut events)
    })
}

/// `engine.wasm`, called as the host calls it.
pub fn engine_alone() -> Subject {
    let mut engine = Wasm::start(SEED);
    engine.step(0, start());
    let hold = hold();
    over_and_over(move || {
        let given = engine.hold(0, &hold).lease;
        let (fence, secret) = (given.fence, given.secret);
        engine.release(0, LeaseId { fence, secret })
    })
}

pub fn native_api() -> Subject {
    let store = Store::in_memory().expect("a store");
    let lock = store.lock("summaries").open().expect("a lock");
    over_and_over(move || {
        let held = lock.blocking_hold(KEY, |lease| lease.fence());
        held.expect("a free key")
    })
}

pub fn tinystore() -> Subject {
    let dir = tempfile::tempdir().expect("a directory");
    let store = tinystore::Store::open(dir.path(), Default::default()).expect("a store");
    let lock = store.lock("summaries").open().expect("a lock");
    over_and_over(move || {
        // Its locks do not keep it open.
        let _open = (&dir, &store);
        let held = lock.hold(KEY, |lease| Ok::<_, tinystore::Error>(lease.fence()));
        held.expect("a free key")
    })
}

/// A guest that holds, and drops the lease.
pub fn p2_guest() -> Subject {
    let store = Store::in_memory().expect("a store");
    let mut puppet = SyncPuppet::new(LocksCtx::new(&store)).expect("a guest");
    let (strings, guest) = puppet.strings();
    let opened = strings.call_open_lock(&mut *guest, "summaries", &NO_OPTIONS);
    let lock = opened.expect("no trap").expect("a lock");
    Box::new(move |times| {
        let (strings, guest) = puppet.strings();
        let start = Instant::now();
        let held = strings.call_hold_often(&mut *guest, lock, KEY, times);
        held.expect("no trap").expect("a free key");
        start.elapsed()
    })
}

/// The native API, while so many other keys are held. Each time another key, so
/// that not one place of the tables stays warm.
pub fn beside_keys_held(keys: usize) -> Subject {
    let store = Store::in_memory().expect("a store");
    let held = hold_many(&store, keys, None);
    let lock = store.lock("summaries").open().expect("a lock");
    let names: Vec<_> = (0..4_096).map(|n| format!("chat {n}")).collect();
    let mut next = 0;
    over_and_over(move || {
        let _held = &held;
        next = (next + 1) % names.len();
        let held = lock.blocking_hold(&names[next], |lease| lease.fence());
        held.expect("a free key")
    })
}
