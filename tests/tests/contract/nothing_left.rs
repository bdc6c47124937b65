//! LOCK-13: a key that nobody holds or waits for, and a waiter that left, are
//! not kept.

use crate::face::{Face, Kind, Terms, Wait, Why};
use crate::scene::Scene;

// LOCK-13, case I1
pub fn nothing_is_kept_of_a_key_that_is_not_used<F: Face>(face: &mut F) {
    let brief = Terms {
        max_hold: Some(1_000),
        ..Terms::lock("jobs")
    };
    let [a, b] = face.jobs();
    let [c] = face.opened_by(&brief);
    for n in 0..1_000 {
        let held = face.hold(a, &format!("released {n}"));
        assert_eq!(face.release(held), Ok(()));
        face.hold(c, &format!("revoked {n}"));
        face.advance(1_000);
        let held = face.hold(a, "busy");
        assert!(!face.takes(b, "busy"));
        assert_eq!(face.release(held), Ok(()));
        let dropped = face.hold(a, &format!("dropped {n}"));
        face.cancel(dropped);
        let refused = face.ask(a, "", Wait::AsOpened);
        assert!(matches!(face.refusal(refused), Why::Invalid(_)));
    }
    face.assert_nothing_kept();
}

// LOCK-13
pub fn nothing_is_kept_of_who_left_the_line<F: Face>(face: &mut F) {
    let [a] = face.jobs();
    let held = face.hold(a, "k");
    for n in 0..100 {
        let holder = face.holder(Kind::default());
        let b = face.open(holder, &Terms::lock("jobs")).expect("a lock");
        let waiting = face.ask(b, "k", Wait::For(1_000));
        match n % 3 {
            0 => face.cancel(waiting),
            1 => face.advance(1_000),
            _ => {}
        }
        face.end(holder);
        face.assert_waiters(0);
    }
    assert_eq!(face.release(held), Ok(()));
    face.assert_nothing_kept();
}

// LOCK-13
pub fn nothing_is_kept_of_holders_that_ended<F: Face>(face: &mut F) {
    let before = face.counts();
    for n in 0..100 {
        let holder = face.holder(Kind::default());
        let lock = face.open(holder, &Terms::lock("jobs")).expect("a lock");
        face.hold(lock, &format!("key {n}"));
        face.end(holder);
    }
    assert_eq!(face.counts().sessions, before.sessions);
    face.assert_nothing_kept();
}
