//! The client, and a server that says anything.

use fastrand::Rng;
use witlock_session::client::ANSWER_WAIT;

use crate::holder::Holder;
use crate::holding::LONGEST;
use crate::memory;
use crate::passing::{MS, S};
use crate::runs::{Tally, run};

/// What happens in one life.
const ACTS: usize = 300;

/// What a client of which nothing is left may keep.
const KEPT: isize = 16 << 10;

fn live(rng: &mut Rng, tally: &mut Tally) {
    let mut holder = Holder::new(rng.u64(1..1_000) * S, rng.u64(..));
    std::mem::swap(&mut holder.tally, tally);
    for _ in 0..ACTS {
        holder.act(rng);
    }
    end(rng, &mut holder);
    std::mem::swap(&mut holder.tally, tally);
    let before = memory::live();
    drop(holder.client);
    let kept = before - memory::live();
    assert!(kept < KEPT, "the client keeps {kept} bytes");
}

/// The server says nothing more, or the client ends: in the end nothing is left.
fn end(rng: &mut Rng, holder: &mut Holder) {
    if rng.bool() {
        // What it is told nothing of ends by itself.
        let until = holder.now + 2 * u64::from(LONGEST) * MS + ANSWER_WAIT;
        while holder.now < until {
            holder.pass(rng, 2 * S);
        }
        assert!(holder.asks.is_empty(), "{:?}", holder.asks);
    }
    holder.client.end_sessions(holder.now);
    holder.look();
    assert!(holder.asks.is_empty(), "{:?}", holder.asks);
    holder.cut();
    let until = holder.now + u64::from(LONGEST) * MS + ANSWER_WAIT;
    while holder.now < until {
        holder.pass(rng, 2 * S);
        holder.cut();
    }
    assert!(!holder.client.has_sessions());
}

// LOCK-07, LOCK-08, LOCK-12
#[test]
fn whatever_it_is_told_the_client_keeps_order() {
    let tally = run("whatever_it_is_told_the_client_keeps_order", live);
    tally.assert_done(&[
        "asks",
        "said",
        "pieces",
        "granted",
        "refused",
        "renewed",
        "retried",
        "cancelled",
        "answered",
        "welcomes",
        "denied",
        "Released",
        "Expired",
        "Revoked",
        "Broken",
        "Closed",
        "Unreachable",
    ]);
}
