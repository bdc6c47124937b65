//! LOCK-09: asking again is safe, and who comes back finds its place.

use crate::face::{Ask, Ending, Face, Holder, Kind, Lock, Terms, Wait, Why};
use crate::scene::Scene;

/// Holders over connections, each with `jobs` open and leases of 10 s.
fn connected<F: Face, const N: usize>(face: &mut F) -> [(Holder, Lock); N] {
    let terms = Terms {
        ttl: Some(10_000),
        ..Terms::lock("jobs")
    };
    std::array::from_fn(|_| {
        let holder = face.holder(Kind::with_ttl());
        (holder, face.open(holder, &terms).expect("a lock"))
    })
}

// LOCK-09, case E5, case E1, case E11
pub fn asking_again_keeps_the_place<F: Face>(face: &mut F) {
    let [(_, a), (b_holder, b), (_, c)] = connected(face);
    let held = face.hold(a, "k");
    let mut second = face.line_up(b, "k");
    let third = face.line_up(c, "k");
    for _ in 0..5 {
        face.cut(b_holder);
        assert!(face.come_back(b_holder, &[], &[second]));
        second = face.ask_again(second);
        face.assert_waiters(2);
    }
    assert_eq!(face.release(held), Ok(()));
    assert!(face.is_held(second) && face.is_waiting(third));
    face.assert_leases(1);
    assert_eq!(face.release(second), Ok(()));
    assert!(face.is_held(third));
}

// LOCK-09, case E11, case L2
pub fn asking_again_finds_the_lease_and_renews_it<F: Face>(face: &mut F) {
    let [(a_holder, a), (_, b)] = connected(face);
    let held = face.hold(a, "k");
    let fence = face.fence(held);
    face.advance(8_000);
    face.cut(a_holder);
    assert!(face.come_back(a_holder, &[], &[held]));
    let again = face.ask_again(held);
    assert_eq!(face.fence(again), fence);
    assert_eq!(face.holding("k").left, Some(10_000));
    face.assert_leases(1);
    assert_eq!(face.release(again), Ok(()));
    assert!(face.takes(b, "k"));
}

// LOCK-09, case A12
pub fn asking_again_after_the_lease_ended_is_a_new_ask<F: Face>(face: &mut F) {
    let [(_, a), (_, b)] = connected(face);
    let held = face.hold(a, "k");
    let before = face.fence(held);
    let next = face.line_up(b, "k");
    face.advance(10_000);
    assert_eq!(face.ended(held), Some(Ending::Expired));
    let again = face.ask_again(held);
    assert!(face.is_held(next) && face.is_waiting(again));
    assert_eq!(face.release(next), Ok(()));
    assert!(face.fence(again) > before);
}

// LOCK-09, LOCK-05, case A12, case L7
pub fn asking_again_late_is_late_however_late_the_engine<F: Face>(face: &mut F) {
    let [(_, a)] = connected(face);
    let held = face.hold(a, "k");
    let before = face.fence(held);
    face.sleep(10_000);
    let again = face.ask_again(held);
    assert_eq!(face.ended(held), Some(Ending::Expired));
    assert!(face.fence(again) > before);
}

// LOCK-09
pub fn asking_again_after_a_release_or_a_refusal_is_a_new_ask<F: Face>(face: &mut F) {
    let [(_, a), (_, b)] = connected(face);
    let held = face.hold(a, "k");
    let refused = face.ask(b, "k", Wait::For(1_000));
    face.advance(1_000);
    assert_eq!(face.refusal(refused), Why::InUse);
    assert_eq!(face.release(held), Ok(()));
    let again = face.ask_again(refused);
    assert_eq!(face.release(again), Ok(()));
    let again = face.ask_again(held);
    assert!(face.is_held(again));
}

// LOCK-09, case D10
pub fn what_was_granted_during_a_cut_is_there<F: Face>(face: &mut F) {
    let [(_, a), (b_holder, b)] = connected(face);
    let held = face.hold(a, "k");
    let waiting = face.line_up(b, "k");
    face.cut(b_holder);
    assert_eq!(face.release(held), Ok(()));
    face.advance(4_999);
    assert!(face.come_back(b_holder, &[], &[waiting]));
    let again = face.ask_again(waiting);
    assert!(face.is_held(again));
    assert_eq!(face.holding("k").left, Some(10_000));
    face.advance(9_999);
    assert!(face.is_held(again));
}

// LOCK-09, case D11
pub fn a_place_without_a_connection_is_kept_5_seconds<F: Face>(face: &mut F) {
    let [(_, a), (b_holder, b), (_, c)] = connected(face);
    face.hold(a, "k");
    let lost = face.line_up(b, "k");
    let next = face.line_up(c, "k");
    face.cut(b_holder);
    face.advance(4_999);
    assert!(face.is_waiting(lost));
    face.advance(1);
    assert_eq!(face.refusal(lost), Why::Closed);
    face.assert_waiters(1);
    assert!(!face.come_back(b_holder, &[], &[lost]));
    face.advance(5_000);
    assert!(face.is_held(next));
}

// LOCK-09
pub fn a_lease_nobody_can_have_seen_ends_with_the_5_seconds<F: Face>(face: &mut F) {
    let [(_, a), (b_holder, b), (_, c)] = connected(face);
    let held = face.hold(a, "k");
    let unseen = face.line_up(b, "k");
    let next = face.line_up(c, "k");
    face.cut(b_holder);
    face.advance(3_000);
    assert_eq!(face.release(held), Ok(()));
    assert!(face.is_held(unseen));
    face.advance(1_999);
    assert!(face.is_held(unseen));
    face.advance(1);
    assert_eq!(face.ended(unseen), Some(Ending::Expired));
    assert!(face.is_held(next));
}

// LOCK-09, LOCK-05
pub fn leases_outlast_a_cut_by_their_ttl<F: Face>(face: &mut F) {
    let [(a_holder, a), (_, b)] = connected(face);
    let held = face.hold(a, "k");
    face.cut(a_holder);
    face.advance(9_999);
    assert!(face.is_held(held));
    assert!(face.come_back(a_holder, &[held], &[]));
    assert!(face.is_held(held) && !face.takes(b, "k"));
    assert_eq!(face.renew(held), Ok(Some(10_000)));
    face.cut(a_holder);
    face.advance(10_000);
    assert_eq!(face.ended(held), Some(Ending::Expired));
    assert!(!face.come_back(a_holder, &[held], &[]));
}

// LOCK-09, case L4, case L5
pub fn who_comes_back_loses_what_it_does_not_name<F: Face>(face: &mut F) {
    let [(a_holder, a), (_, b), (_, c)] = connected(face);
    let kept = face.hold(a, "kept");
    let given_up = face.hold(a, "given up");
    face.hold(b, "wanted");
    face.hold(b, "not wanted");
    let wanted = face.line_up(a, "wanted");
    let not_wanted = face.line_up(a, "not wanted");
    let next = face.line_up(c, "given up");
    face.cut(a_holder);
    face.advance(1_000);
    assert!(face.come_back(a_holder, &[kept], &[wanted]));
    assert!(face.is_held(kept) && face.is_waiting(wanted));
    assert_eq!(face.ended(given_up), Some(Ending::Released));
    assert_eq!(face.refusal(not_wanted), Why::Closed);
    assert!(face.is_held(next));
    assert_eq!(face.release(next), Ok(()));
    face.hold(a, "given up");
}

// LOCK-09, case L5
pub fn an_ask_given_up_by_coming_back_is_a_new_ask<F: Face>(face: &mut F) {
    let [(_, a), (b_holder, b)] = connected(face);
    let held = face.hold(a, "k");
    let before: Ask = face.line_up(b, "k");
    face.cut(b_holder);
    assert!(face.come_back(b_holder, &[], &[]));
    face.assert_waiters(0);
    assert_eq!(face.release(held), Ok(()));
    face.assert_nothing_kept();
    let again = face.ask_again(before);
    assert!(face.is_held(again));
}
