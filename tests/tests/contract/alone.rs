//! LOCK-04: who stands still while it waits is told at once that only itself
//! could let the key go.

use crate::face::{Face, Kind, Terms, Wait, Why};
use crate::scene::Scene;

// LOCK-04, case H7
pub fn holding_what_one_holds_is_refused_at_once<F: Face>(face: &mut F) {
    let a = face.opened(Kind::alone(), &Terms::lock("jobs"));
    let held = face.hold(a, "k");
    let again = face.ask(a, "k", Wait::AsOpened);
    assert_eq!(face.refusal(again), Why::HeldByCaller);
    assert!(!face.takes(a, "k"));
    assert!(face.is_held(held));
    face.hold(a, "another key");
    assert_eq!(face.release(held), Ok(()));
    face.hold(a, "k");
}

// LOCK-04
pub fn two_handles_of_one_holder_are_one_holder<F: Face>(face: &mut F) {
    let holder = face.holder(Kind::alone());
    let terms = Terms::lock("jobs");
    let one = face.open(holder, &terms).expect("a lock");
    let two = face.open(holder, &terms).expect("a lock");
    face.hold(one, "k");
    let again = face.ask(two, "k", Wait::AsOpened);
    assert_eq!(face.refusal(again), Why::HeldByCaller);
}

// LOCK-04
pub fn nobody_else_is_refused_so<F: Face>(face: &mut F) {
    let a = face.opened(Kind::alone(), &Terms::lock("jobs"));
    let b = face.opened(Kind::alone(), &Terms::lock("jobs"));
    let held = face.hold(a, "k");
    let waiting = face.line_up(b, "k");
    assert_eq!(face.release(held), Ok(()));
    let back = face.line_up(a, "k");
    assert_eq!(face.release(waiting), Ok(()));
    assert!(face.is_held(back));
}

// LOCK-04
pub fn a_semaphore_is_refused_once_its_limit_is_ones_own<F: Face>(face: &mut F) {
    let pool = Terms::semaphore("pool", 3);
    let a = face.opened(Kind::alone(), &pool);
    let b = face.opened(Kind::alone(), &pool);
    let other = face.hold(b, "k");
    face.hold(a, "k");
    face.hold(a, "k");
    // The other could let go: this waits.
    let third = face.line_up(a, "k");
    assert_eq!(face.release(other), Ok(()));
    assert!(face.is_held(third));
    let fourth = face.ask(a, "k", Wait::AsOpened);
    assert_eq!(face.refusal(fourth), Why::HeldByCaller);
    assert!(!face.takes(a, "k"));
    face.line_up(b, "k");
}

// LOCK-04, LOCK-03, case L7
pub fn a_lease_that_is_over_is_not_in_ones_own_way<F: Face>(face: &mut F) {
    let brief = Terms {
        max_hold: Some(10_000),
        ..Terms::lock("jobs")
    };
    let a = face.opened(Kind::alone(), &brief);
    face.hold(a, "k");
    face.sleep(10_000);
    face.hold(a, "k");
}

// LOCK-04, LOCK-05, case H7
pub fn a_lease_whose_ttl_ran_out_is_not_in_ones_own_way<F: Face>(face: &mut F) {
    let kind = Kind {
        ttl: true,
        ..Kind::alone()
    };
    let a = face.opened(kind, &Terms::lock("jobs"));
    face.hold(a, "k");
    face.sleep(29_999);
    let early = face.ask(a, "k", Wait::AsOpened);
    assert_eq!(face.refusal(early), Why::HeldByCaller);
    face.sleep(1);
    face.hold(a, "k");
}
