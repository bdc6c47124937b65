//! What an operator sees.

use crate::face::{Face, Holding, Terms, Wait, Waiting};
use crate::scene::Scene;

// LOCK-10, case J5, case B3
pub fn a_listing_shows_who_holds_what<F: Face>(face: &mut F) {
    let terms = Terms {
        max_hold: Some(60_000),
        label: Some("worker 3".into()),
        ..Terms::semaphore("pool", 2)
    };
    let [a] = face.opened_by(&terms);
    let held = face.hold(a, "k");
    let fence = face.fence(held);
    face.advance(1_500);
    let [shown] = &face.all_holdings()[..] else {
        panic!("not one holding");
    };
    let expected = Holding {
        name: "pool".into(),
        limit: Some(2),
        key: "k".into(),
        label: Some("worker 3".into()),
        fence,
        place: shown.place,
        held: 1_500,
        left: Some(58_500),
    };
    assert_eq!(shown, &expected);
    assert_eq!(face.release(held), Ok(()));
    assert_eq!(face.all_holdings(), []);
}

// LOCK-01, case J5
pub fn a_listing_shows_who_waits_in_their_order<F: Face>(face: &mut F) {
    let [a] = face.jobs();
    face.hold(a, "k");
    for n in 0..3 {
        let labelled = Terms {
            label: Some(n.to_string()),
            ..Terms::lock("jobs")
        };
        let [lock] = face.opened_by(&labelled);
        face.line_up(lock, "k");
        face.advance(100);
    }
    let expected: Vec<_> = (0..3)
        .map(|n| Waiting {
            name: "jobs".into(),
            limit: None,
            key: "k".into(),
            label: Some(n.to_string()),
            waited: 300 - n * 100,
            left: 60_000 - (300 - n * 100),
        })
        .collect();
    assert_eq!(face.all_waiters(), expected);
}

// LOCK-12, case L13
pub fn a_listing_comes_in_pages<F: Face>(face: &mut F) {
    let [a, b] = face.jobs();
    let keys: Vec<_> = (0..600).map(|n| format!("key {n:03}")).collect();
    for key in &keys {
        face.hold(a, key);
        face.ask(b, key, Wait::For(60_000));
    }
    let mut held: Vec<_> = face.all_holdings().into_iter().map(|it| it.key).collect();
    held.sort_unstable();
    assert_eq!(held, keys);
    let mut wanted: Vec<_> = face.all_waiters().into_iter().map(|it| it.key).collect();
    wanted.sort_unstable();
    assert_eq!(wanted, keys);
}

// LOCK-12, case L13
pub fn what_stays_is_listed_once_while_things_go_on<F: Face>(face: &mut F) {
    let [a, b] = face.jobs();
    let held: Vec<_> = (0..1_000).map(|n| face.hold(a, &n.to_string())).collect();
    let mut seen = Vec::new();
    let mut cursor = None;
    let mut round = 0;
    loop {
        let page = face.holdings(cursor);
        seen.extend(page.items.into_iter().map(|held| held.key));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
        for ask in &held[round * 100..round * 100 + 50] {
            assert_eq!(face.release(*ask), Ok(()));
        }
        face.hold(b, &format!("new {round}"));
        round += 1;
    }
    assert!(round >= 3, "too few pages to be a test");
    for n in (0..1_000).filter(|n| n % 100 >= 50 || *n >= round * 100) {
        let times = seen.iter().filter(|key| **key == n.to_string()).count();
        assert_eq!(times, 1, "key {n}");
    }
}
