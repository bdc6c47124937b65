//! What only an operator may.

use witlock::{BreakError, Connector, Ending, LeaseRef, ListError, Store};

use crate::common::block_on;
use crate::stage::{ADMIN_TOKEN, Stage, TOKEN, Waiter, holdings, lock};

/// What a client may that is no operator.
fn is_denied(store: &Store, lease: LeaseRef) {
    let denied = ListError::Denied;
    assert_eq!(block_on(store.holdings(None)).unwrap_err(), denied);
    assert_eq!(block_on(store.waiters(None)).unwrap_err(), denied);
    assert_eq!(block_on(store.counts()).unwrap_err(), denied);
    let broken = block_on(store.break_lease(lease));
    assert_eq!(broken, Err(BreakError::Asking(denied)));
}

// LOCK-10, case J6
#[test]
fn a_plain_client_over_tcp_neither_lists_nor_breaks() {
    let stage = Stage::new();
    let by = |token| Connector::new(stage.tcp()).token(token).connect().unwrap();
    let plain = by(TOKEN);
    let held = lock(&plain).blocking_lease("k").unwrap();
    let lease = holdings(&stage.store)[0].lease;
    is_denied(&plain, lease);
    assert_eq!(held.ended(), None);
    for operator in [by(ADMIN_TOKEN), stage.client("A")] {
        let listed = holdings(&operator);
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].lease.fence, lease.fence);
        assert_eq!(block_on(operator.counts()).unwrap().leases, 1);
    }
    // An operator holds as everybody does, and breaks.
    let operator = by(ADMIN_TOKEN);
    let waiter = Waiter::in_line(&stage, &lock(&operator), "k");
    block_on(operator.break_lease(lease)).unwrap();
    assert_eq!(block_on(held.until_ended()), Ending::Broken);
    assert_eq!(held.blocking_release(), Err(Ending::Broken));
    assert!(waiter.answer().unwrap().fence() > held.fence());
    assert_eq!(
        block_on(operator.break_lease(lease)),
        Err(BreakError::NotHeld)
    );
}

// LOCK-12: by pages, each answered while others are served.
#[test]
fn a_listing_goes_on_from_page_to_page() {
    let stage = Stage::new();
    let store = stage.client("A");
    let here = lock(&stage.store);
    let keys: Vec<String> = (0..600).map(|key| format!("{key:03}")).collect();
    let lease = |key: &String| here.blocking_lease(key).unwrap();
    let _held: Vec<_> = keys.iter().map(lease).collect();
    let mut listed = Vec::new();
    let mut from = None;
    loop {
        let page = block_on(store.holdings(from)).unwrap();
        assert!(page.items.len() <= 256);
        listed.extend(page.items.into_iter().map(|held| held.key));
        from = page.next;
        if from.is_none() {
            break;
        }
    }
    listed.sort();
    assert_eq!(listed, keys);
}
