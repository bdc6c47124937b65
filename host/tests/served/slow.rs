//! Clients that don't read.

use witlock_session::wire::goodbye::Reason;
use witlock_session::wire::{self, to_store};

use crate::raw::{Raw, hold};
use crate::stage::{Bystander, PLACE_KEPT, Stage, Waiter, lock, until};

/// Keys whose listing is large.
fn hold_much(stage: &Stage) -> Vec<witlock::Lease> {
    let here = lock(&stage.store);
    let key = |number: usize| format!("{number:01024}");
    let lease = |number| here.blocking_lease(&key(number)).unwrap();
    (0..256).map(lease).collect()
}

/// Pages that are more than a socket has room for, and less than may wait for a
/// reader; and pages that are more than that.
const SOME: u64 = 6;
const MANY: u64 = 100;

fn ask_for_pages(raw: &mut Raw, pages: u64) {
    for tag in 0..pages {
        let list = wire::ListHoldings { tag, cursor: 0 };
        raw.say(0, to_store::Body::ListHoldings(list));
    }
}

// LOCK-12, case I8
#[test]
fn a_client_that_does_not_read_is_told_so_when_it_does() {
    let stage = Stage::new();
    let bystander = Bystander::new(&stage);
    let _held = hold_much(&stage);
    let mut raw = Raw::entered(&stage.address(), 1);
    ask_for_pages(&mut raw, MANY);
    raw.is_dismissed(Reason::Slow, "not read");
    bystander.noticed_nothing();
}

// LOCK-12, LOCK-09, case I8: it may never read at all. What it waits for goes to
// others, and its connection is closed.
#[test]
fn a_client_that_never_reads_is_cut_off() {
    let stage = Stage::new();
    let bystander = Bystander::new(&stage);
    let _held = hold_much(&stage);
    let held = lock(&stage.store).blocking_lease("k").unwrap();
    let mut raw = Raw::entered(&stage.address(), 1);
    ask_for_pages(&mut raw, SOME);
    raw.say(1, to_store::Body::Hold(hold(1, "k")));
    stage.until_waiting(2);
    let behind = Waiter::in_line(&stage, &lock(&stage.store), "k");
    ask_for_pages(&mut raw, MANY);
    let ping = || to_store::Body::Ping(wire::Ping {});
    until(|| raw.try_say(0, ping()).is_err());
    stage.clock.advance(PLACE_KEPT);
    drop(held);
    behind.answer().unwrap();
    bystander.noticed_nothing();
}
