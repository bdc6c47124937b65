//! LOCK-05: a lease over a connection lasts its ttl from its last renewal.

use crate::face::{Act, Ending, Face, Kind, Lock, Terms, Wait};
use crate::scene::Scene;

/// Opens `jobs` for so many holders whose leases have this ttl.
fn remote<F: Face, const N: usize>(face: &mut F, ttl: u32) -> [Lock; N] {
    let terms = Terms {
        ttl: Some(ttl),
        ..Terms::lock("jobs")
    };
    std::array::from_fn(|_| face.opened(Kind::with_ttl(), &terms))
}

// LOCK-05, LOCK-12, case F7
pub fn a_lease_lasts_its_ttl<F: Face>(face: &mut F) {
    for ttl in [1_000, 3_600_000] {
        let [a] = remote(face, ttl);
        let held = face.hold(a, "k");
        face.advance(u64::from(ttl) - 1);
        assert!(face.is_held(held));
        face.advance(1);
        assert_eq!(face.ended(held), Some(Ending::Expired));
        face.assert_nothing_kept();
    }
}

// LOCK-05
pub fn a_ttl_is_30_seconds_unless_given<F: Face>(face: &mut F) {
    let a = face.opened(Kind::with_ttl(), &Terms::lock("jobs"));
    let held = face.hold(a, "k");
    face.advance(29_999);
    assert!(face.is_held(held));
    face.advance(1);
    assert_eq!(face.ended(held), Some(Ending::Expired));
}

// LOCK-05, LOCK-07, case A3, case C4, case C6
pub fn a_lease_lasts_from_its_last_renewal<F: Face>(face: &mut F) {
    let [a, b] = remote(face, 10_000);
    for _ in 0..2 {
        let held = face.hold(a, "k");
        let waiting = face.line_up(b, "k");
        for _ in 0..3 {
            face.advance(9_999);
            assert_eq!(face.renew(held), Ok(Some(10_000)));
        }
        face.advance(9_999);
        assert!(face.is_held(held) && face.is_waiting(waiting));
        face.advance(1);
        assert_eq!(face.ended(held), Some(Ending::Expired));
        assert_eq!(face.release(waiting), Ok(()));
    }
}

// LOCK-05, case C5
pub fn what_ran_out_is_never_renewed<F: Face>(face: &mut F) {
    let [a, b] = remote(face, 10_000);
    let held = face.hold(a, "k");
    let before = face.fence(held);
    face.advance(10_000);
    assert_eq!(face.renew(held), Err(Ending::Expired));
    let next = face.hold(b, "k");
    assert!(face.fence(next) > before);
    assert_eq!(face.renew(held), Err(Ending::Expired));
    assert!(face.is_held(next));
}

// LOCK-05, LOCK-07, case L7
pub fn a_late_renewal_is_late_however_late_the_engine<F: Face>(face: &mut F) {
    for late in [0, 1, 60_000] {
        let [a] = remote(face, 10_000);
        let held = face.hold(a, "k");
        face.sleep(10_000 + late);
        assert_eq!(face.renew(held), Err(Ending::Expired));
        let held = face.hold(a, "k");
        face.sleep(10_000 + late);
        assert_eq!(face.release(held), Err(Ending::Expired));
        let held = face.hold(a, "k");
        face.sleep(9_999);
        assert_eq!(face.renew(held), Ok(Some(10_000)));
        assert_eq!(face.release(held), Ok(()));
    }
}

// LOCK-05, LOCK-10, case B2
pub fn releasing_late_changes_nothing<F: Face>(face: &mut F) {
    let [a, b, c] = remote(face, 10_000);
    let held = face.hold(a, "k");
    let next = face.line_up(b, "k");
    face.advance(10_000);
    assert_eq!(face.release(held), Err(Ending::Expired));
    assert!(face.is_held(next));
    assert!(!face.takes(c, "k"));
}

// LOCK-05, LOCK-10, case C1
pub fn nothing_revives_what_was_released<F: Face>(face: &mut F) {
    let [a] = remote(face, 10_000);
    let held = face.hold(a, "k");
    assert_eq!(face.renew(held), Ok(Some(10_000)));
    assert_eq!(face.release(held), Ok(()));
    assert_eq!(face.renew(held), Err(Ending::Released));
    face.assert_nothing_kept();
}

// LOCK-05, case A1
pub fn a_ttl_begins_at_the_grant<F: Face>(face: &mut F) {
    let [a] = remote(face, 20_000);
    let [b] = remote(face, 5_000);
    face.hold(a, "k");
    let waiting = face.line_up(b, "k");
    face.advance(20_000);
    assert!(face.is_held(waiting));
    assert_eq!(face.holding("k").left, Some(5_000));
    face.advance(4_999);
    assert!(face.is_held(waiting));
    face.advance(1);
    assert_eq!(face.ended(waiting), Some(Ending::Expired));
}

// LOCK-05, LOCK-10, case C7
pub fn a_renewal_keeps_one_lease<F: Face>(face: &mut F) {
    let pool = Terms {
        ttl: Some(10_000),
        ..Terms::semaphore("pool", 2)
    };
    let [dead, alive, next] = std::array::from_fn(|_| face.opened(Kind::with_ttl(), &pool));
    let lost = face.hold(dead, "k");
    let kept = face.hold(alive, "k");
    for second in 1..=50 {
        face.advance(1_000);
        assert_eq!(face.renew(kept), Ok(Some(10_000)));
        assert_eq!(face.is_held(lost), second < 10);
    }
    assert!(face.takes(next, "k"));
}

// LOCK-05, LOCK-01, case L8, case D5
pub fn ttls_end_before_waits_run_out<F: Face>(face: &mut F) {
    let pool = Terms {
        ttl: Some(10_000),
        wait: Some(10_000),
        ..Terms::semaphore("pool", 3)
    };
    for late in [0, 5_000] {
        let locks: [Lock; 6] = std::array::from_fn(|_| face.opened(Kind::with_ttl(), &pool));
        let all = locks.map(|lock| face.ask(lock, "k", Wait::AsOpened));
        assert!(all[..3].iter().all(|ask| face.is_held(*ask)));
        face.sleep(10_000 + late);
        face.advance(0);
        assert!(all[3..].iter().all(|ask| face.is_held(*ask)));
        face.advance(10_000);
        face.assert_nothing_kept();
    }
}

// LOCK-05, LOCK-01, case D1
pub fn head_is_cancelled_as_the_lease_runs_out<F: Face>(face: &mut F) {
    let [a, b, c] = remote(face, 10_000);
    let held = face.hold(a, "k");
    let (second, third) = (face.line_up(b, "k"), face.line_up(c, "k"));
    face.sleep(10_000);
    face.together(&[Act::Cancel(second), Act::Release(held)]);
    assert_eq!(face.ended(held), Some(Ending::Expired));
    assert!(!face.is_held(second));
    assert!(face.is_held(third));
}

// LOCK-11, LOCK-05, case F3
pub fn what_is_left_of_a_lease_is_never_negative<F: Face>(face: &mut F) {
    let [a] = remote(face, 10_000);
    face.hold(a, "k");
    face.sleep(9_999);
    let shown = face.holding("k");
    assert_eq!((shown.held, shown.left), (9_999, Some(1)));
    face.sleep(1);
    assert_eq!(face.all_holdings(), []);
    face.sleep(1);
    assert_eq!(face.all_holdings(), []);
}
