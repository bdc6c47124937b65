//! LOCK-03: a lease with a max-hold ends at that time from its grant.

use crate::face::{Ending, Face, Kind, Terms};
use crate::scene::Scene;

fn brief(max_hold: u32) -> Terms {
    Terms {
        max_hold: Some(max_hold),
        ..Terms::lock("jobs")
    }
}

// LOCK-03, LOCK-07, case A3
pub fn a_lease_ends_at_its_max_hold_and_the_key_goes_on<F: Face>(face: &mut F) {
    let [a] = face.opened_by(&brief(10_000));
    let [b] = face.jobs();
    let held = face.hold(a, "k");
    let waiting = face.line_up(b, "k");
    face.advance(9_999);
    assert!(face.is_held(held) && face.is_waiting(waiting));
    face.advance(1);
    assert_eq!(face.ended(held), Some(Ending::Revoked));
    assert!(face.is_held(waiting));
    assert_eq!(face.release(held), Err(Ending::Revoked));
    assert!(face.is_held(waiting));
}

// LOCK-03, LOCK-11, case F7
pub fn max_hold_at_its_bounds<F: Face>(face: &mut F) {
    for max_hold in [1, u32::MAX] {
        let [a] = face.opened_by(&brief(max_hold));
        let held = face.hold(a, "k");
        face.advance(u64::from(max_hold) - 1);
        assert!(face.is_held(held));
        face.advance(1);
        assert_eq!(face.ended(held), Some(Ending::Revoked));
        face.assert_nothing_kept();
    }
}

// LOCK-03
pub fn max_hold_counts_from_the_grant<F: Face>(face: &mut F) {
    let [a] = face.jobs();
    let [b] = face.opened_by(&brief(10_000));
    let held = face.hold(a, "k");
    let waiting = face.line_up(b, "k");
    face.advance(8_000);
    assert_eq!(face.release(held), Ok(()));
    face.advance(9_999);
    assert!(face.is_held(waiting));
    face.advance(1);
    assert_eq!(face.ended(waiting), Some(Ending::Revoked));
}

// LOCK-03, LOCK-11, case L7
pub fn a_lease_past_its_max_hold_is_over_however_late<F: Face>(face: &mut F) {
    let [a] = face.opened_by(&brief(10_000));
    let [b] = face.jobs();
    let held = face.hold(a, "k");
    face.sleep(10_001);
    assert_eq!(face.release(held), Err(Ending::Revoked));
    let held = face.hold(a, "k");
    face.sleep(10_000);
    assert!(face.takes(b, "k"));
    assert_eq!(face.ended(held), Some(Ending::Revoked));
}

// LOCK-03, LOCK-11
pub fn no_lease_of_this_process_ends_by_itself<F: Face>(face: &mut F) {
    let terms = Terms {
        ttl: Some(1_000),
        ..Terms::lock("jobs")
    };
    let [a] = face.opened_by(&terms);
    let held = face.hold(a, "k");
    let ten_years = 10 * 365 * 86_400_000;
    face.advance(ten_years);
    assert!(face.is_held(held));
    let shown = face.holding("k");
    assert_eq!((shown.held, shown.left), (ten_years, None));
}

// LOCK-03, LOCK-05
pub fn renewing_does_not_outlast_max_hold<F: Face>(face: &mut F) {
    let terms = Terms {
        ttl: Some(3_000),
        ..brief(10_000)
    };
    let a = face.opened(Kind::with_ttl(), &terms);
    let [b] = face.jobs();
    let held = face.hold(a, "k");
    let waiting = face.line_up(b, "k");
    for second in 1..10 {
        face.advance(1_000);
        let left = 3_000.min(10_000 - second * 1_000);
        assert_eq!(face.renew(held), Ok(Some(left)));
    }
    face.advance(999);
    assert!(face.is_held(held));
    face.advance(1);
    assert_eq!(face.ended(held), Some(Ending::Revoked));
    assert_eq!(face.renew(held), Err(Ending::Revoked));
    assert!(face.is_held(waiting));
}

// LOCK-03, LOCK-05
pub fn ttl_and_max_hold_at_one_moment<F: Face>(face: &mut F) {
    let terms = Terms {
        ttl: Some(3_000),
        ..brief(3_000)
    };
    let a = face.opened(Kind::with_ttl(), &terms);
    let held = face.hold(a, "k");
    face.advance(3_000);
    assert_eq!(face.ended(held), Some(Ending::Revoked));
}
