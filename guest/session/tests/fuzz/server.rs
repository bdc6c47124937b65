//! The server with an engine behind it, and clients that say anything.

use fastrand::Rng;
use witlock_engine::Command;

use crate::memory;
use crate::passing::S;
use crate::runs::{Tally, run};
use crate::store::Store;

/// What clients and time do in one life.
const ACTS: usize = 200;

/// Longer than any lease, and than anything is known of who is gone.
const AFTERWARDS: u64 = 3_700;

/// What a server may keep of all that: tables that are kept small for the next few.
const KEPT: isize = 64 << 10;

fn live(rng: &mut Rng, tally: &mut Tally) {
    let mut store = Store::new(rng.u64(1..1_000) * S);
    std::mem::swap(&mut store.tally, tally);
    if rng.u8(..4) == 0 {
        let until = store.now + rng.u64(1..30) * S;
        store.server.unknown_until(until);
        store.driven.submitted.push(Command::Grace(until));
    }
    act(rng, &mut store, ACTS);
    if rng.u8(..8) == 0 {
        store.flood();
    }
    if rng.u8(..4) == 0 {
        store.close();
        act(rng, &mut store, ACTS / 10);
    }
    end(&mut store);
    std::mem::swap(&mut store.tally, tally);
    let before = memory::live();
    drop(store.server);
    let kept = before - memory::live();
    assert!(kept < KEPT, "the server keeps {kept} bytes");
}

fn act(rng: &mut Rng, store: &mut Store, acts: usize) {
    for _ in 0..acts {
        store.act(rng);
        store.go_on(rng);
    }
    store.settle();
}

/// Everyone goes; in the end nothing is left.
fn end(store: &mut Store) {
    store.go_all();
    let until = store.now + AFTERWARDS * S;
    while store.now < until {
        store.pass_by(4 * S);
        store.tick();
    }
    let kept = store.server.kept();
    assert_eq!((kept.sessions, kept.asks), (0, 0), "{kept:?}");
    assert_eq!((kept.connections, kept.under_way), (0, 0), "{kept:?}");
    assert!(store.server.is_idle());
    let counts = store.driven.counts();
    assert_eq!((counts.keys, counts.leases, counts.waiters), (0, 0, 0));
    let stale = store.driven.ledger.stale_sessions.len() as u64;
    assert!(counts.sessions <= stale, "{counts:?}");
}

// LOCK-09, LOCK-10, LOCK-12, LOCK-13
#[test]
fn whatever_is_said_to_it_the_server_keeps_order() {
    let tally = run("whatever_is_said_to_it_the_server_keeps_order", live);
    tally.assert_done(&[
        "messages",
        "asks",
        "granted",
        "refused",
        "renewed",
        "released",
        "broken",
        "ended otherwise",
        "cancelled",
        "lost",
        "lost at once",
        "another's",
        "operated",
        "resumed",
        "left",
        "given up",
        "wrong",
        "floods",
        "traps",
        "restarts",
        "restored",
        "unkept",
        "closings",
        "goodbye Malformed",
        "goodbye Token",
        "goodbye Silent",
        "goodbye Slow",
        "goodbye Replaced",
        "goodbye Stopping",
    ]);
}
