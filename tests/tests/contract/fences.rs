//! LOCK-02: every lease has a larger fence than all before.

use crate::face::{Answer, Ask, Face, Fences, Terms, Wait, Why};
use crate::scene::Scene;

/// Fences stay below this.
const END: u64 = 1 << 53;

// LOCK-02
pub fn fences_grow_over_all_locks_and_keys<F: Face>(face: &mut F) {
    let [lock, waiter] = face.jobs();
    let [pool] = face.opened_by(&Terms::semaphore("pool", 3));
    let mut last = 0;
    for round in 0..F::OFTEN / 5 {
        let key = format!("key {}", round % 7);
        let held = face.hold(lock, &key);
        last = larger(face, held, last);
        let share = face.hold(pool, &key);
        last = larger(face, share, last);
        let waiting = face.line_up(waiter, &key);
        assert_eq!(face.release(held), Ok(()));
        last = larger(face, waiting, last);
        assert_eq!(face.release(waiting), Ok(()));
        assert_eq!(face.release(share), Ok(()));
    }
}

// LOCK-02, case G1, case G3, case G5
pub fn fences_grow_over_restarts<F: Face>(face: &mut F) {
    let mut last = 0;
    for _ in 0..20 {
        let [lock] = face.jobs();
        let first = face.hold(lock, "k");
        last = larger(face, first, last);
        let second = face.hold(lock, "l");
        last = larger(face, second, last);
        face.reopen();
    }
}

fn larger<F: Face>(face: &mut F, ask: Ask, last: u64) -> u64 {
    let fence = face.fence(ask);
    assert!(fence > last, "{fence} after {last}");
    assert!(fence < END);
    fence
}

// LOCK-02, LOCK-12, case A13
pub fn without_fences_asks_wait_for_them<F: Face>(face: &mut F) {
    let [a, b, c, d] = face.jobs();
    let held = face.hold(a, "held");
    use_up_fences(face);
    let briefly = face.ask(b, "k", Wait::For(1_000));
    let trying = face.ask(c, "l", Wait::Try);
    let longer = face.ask(d, "m", Wait::For(8_000));
    face.advance(4_999);
    assert!(face.is_waiting(briefly) && face.is_waiting(trying));
    face.advance(1);
    assert_names_seconds(face, briefly);
    assert_names_seconds(face, trying);
    face.advance(2_999);
    assert!(face.is_waiting(longer));
    face.advance(1);
    assert_names_seconds(face, longer);
    face.assert_keys(1);
    assert!(face.is_held(held));
    assert_eq!(face.release(held), Ok(()));
}

fn assert_names_seconds<F: Face>(face: &mut F, ask: Ask) {
    match face.refusal(ask) {
        Why::Unavailable(why) => assert!(why.contains("5000 ms"), "{why}"),
        other => panic!("refused for another reason: {other:?}"),
    }
}

// LOCK-02, case A13
pub fn who_waits_for_a_fence_is_served_when_it_comes<F: Face>(face: &mut F) {
    let [a, b, c, d] = face.jobs();
    let held = face.hold(a, "k");
    let before = face.fence(held);
    let second = face.line_up(b, "k");
    use_up_fences(face);
    assert_eq!(face.release(held), Ok(()));
    assert!(face.is_waiting(second), "granted without a fence");
    let third = face.line_up(c, "k");
    let other = face.ask(d, "l", Wait::Try);
    assert!(face.is_waiting(other));
    face.set_fences(Fences::Come);
    assert!(face.fence(second) > before);
    assert!(face.is_held(other));
    assert!(face.is_waiting(third));
}

// LOCK-02, case A13
pub fn who_waits_for_a_fence_may_leave<F: Face>(face: &mut F) {
    let [a, b, c] = face.jobs();
    let held = face.hold(a, "k");
    use_up_fences(face);
    let (second, third) = (face.line_up(b, "k"), face.line_up(c, "k"));
    assert_eq!(face.release(held), Ok(()));
    face.cancel(second);
    face.set_fences(Fences::Come);
    assert!(face.is_held(third));
    assert_eq!(face.release(third), Ok(()));
    face.assert_nothing_kept();
}

// LOCK-02, LOCK-12, case A13, case G10
pub fn fences_that_fail_are_said_to<F: Face>(face: &mut F) {
    let [a, b, c] = face.jobs();
    let held = face.hold(a, "held");
    let in_line = face.line_up(b, "held");
    use_up_fences(face);
    face.set_fences(Fences::Fail("the disk is full"));
    let refused = face.ask(c, "k", Wait::AsOpened);
    assert_says(face, refused, "the disk is full");
    assert!(face.is_held(held) && face.is_waiting(in_line));
    face.assert_keys(1);
    face.set_fences(Fences::Come);
    let [d] = face.jobs();
    face.hold(d, "k");
    assert_eq!(face.release(held), Ok(()));
    assert!(face.is_held(in_line));
}

fn assert_says<F: Face>(face: &mut F, ask: Ask, reason: &str) {
    match face.refusal(ask) {
        Why::Unavailable(why) => assert!(why.contains(reason), "{why}"),
        other => panic!("refused for another reason: {other:?}"),
    }
}

/// No fence is left, and none comes.
pub fn use_up_fences<F: Face>(face: &mut F) {
    face.set_fences(Fences::Stall);
    let [lock] = face.opened_by(&Terms::lock("fences to use up"));
    for _ in 0..1 << 22 {
        let ask = face.ask(lock, "k", Wait::Try);
        if face.answer(ask) == Answer::Waiting {
            return face.cancel(ask);
        }
        assert_eq!(face.release(ask), Ok(()));
    }
    panic!("fences never end");
}
