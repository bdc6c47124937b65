//! LOCK-07 and LOCK-10: a holder can learn how its lease ended, and nothing but
//! its own id releases it.

use crate::face::{Ask, Ending, Face, Kind, Terms};
use crate::scene::Scene;

// LOCK-07, LOCK-10, case B9
pub fn the_second_release_says_so_and_changes_nothing<F: Face>(face: &mut F) {
    let [a, b] = face.jobs();
    let held = face.hold(a, "k");
    assert_eq!(face.release(held), Ok(()));
    assert_eq!(face.ended(held), Some(Ending::Released));
    assert_eq!(face.release(held), Err(Ending::Released));
    let next = face.hold(b, "k");
    assert_eq!(face.release(held), Err(Ending::Released));
    assert!(face.is_held(next));
}

// LOCK-07, LOCK-10, LOCK-02, case J5, case J8
pub fn an_operator_breaks_what_a_listing_shows<F: Face>(face: &mut F) {
    let labelled = Terms {
        label: Some("job 7 on host b".into()),
        ..Terms::lock("jobs")
    };
    let [a] = face.opened_by(&labelled);
    let [b] = face.jobs();
    let held = face.hold(a, "k");
    let shown = face.holding("k");
    assert_eq!(shown.label.as_deref(), Some("job 7 on host b"));
    assert_eq!(shown.fence, face.fence(held));
    let waiting = face.line_up(b, "k");
    assert!(face.break_lease(&shown));
    assert_eq!(face.ended(held), Some(Ending::Broken));
    assert_eq!(face.release(held), Err(Ending::Broken));
    assert!(face.fence(waiting) > shown.fence);
    assert!(!face.break_lease(&shown), "an old id broke a new lease");
    assert!(face.is_held(waiting));
}

// LOCK-07, case J8
pub fn every_ending_is_told_apart<F: Face>(face: &mut F) {
    let brief = Terms {
        max_hold: Some(1_000),
        ..Terms::lock("jobs")
    };
    let [a, b] = face.jobs();
    let [c] = face.opened_by(&brief);
    let released = face.hold(a, "released");
    let broken = face.hold(a, "broken");
    let revoked = face.hold(c, "revoked");
    let closed = face.hold(b, "closed");
    assert_eq!(face.release(released), Ok(()));
    let shown = face.holding("broken");
    assert!(face.break_lease(&shown));
    face.advance(1_000);
    assert_eq!(face.ended(closed), None);
    face.close();
    let told = [released, broken, revoked, closed].map(|ask| face.ended(ask));
    let all = [
        Ending::Released,
        Ending::Broken,
        Ending::Revoked,
        Ending::Closed,
    ];
    assert_eq!(told, all.map(Some));
}

// LOCK-07
pub fn an_ending_stays_told<F: Face>(face: &mut F) {
    let brief = Terms {
        max_hold: Some(1_000),
        ..Terms::lock("jobs")
    };
    let [a] = face.opened_by(&brief);
    let revoked = face.hold(a, "k");
    face.advance(1_000);
    for _ in 0..3 {
        assert_eq!(face.ended(revoked), Some(Ending::Revoked));
        assert_eq!(face.release(revoked), Err(Ending::Revoked));
    }
    face.close();
    assert_eq!(face.ended(revoked), Some(Ending::Revoked));
}

// LOCK-10, LOCK-05, case H1
pub fn one_lease_of_a_semaphore_is_not_another<F: Face>(face: &mut F) {
    let pool = Terms::semaphore("pool", 2);
    let [a, b, c] = std::array::from_fn(|_| face.opened(Kind::default(), &pool));
    let first = face.hold(a, "k");
    let second = face.hold(b, "k");
    assert_eq!(face.release(first), Ok(()));
    assert!(face.release(first).is_err());
    assert!(face.is_held(second));
    let third: Ask = face.hold(c, "k");
    assert!(face.release(first).is_err());
    assert!(face.is_held(second) && face.is_held(third));
}
