//! LOCK-01: one holder at a time, as many as the limit, in the order they came.

use crate::face::{Act, Ask, Face, Lock, Terms, Wait, Why};
use crate::scene::Scene;

// LOCK-01
pub fn one_holder_at_a_time<F: Face>(face: &mut F) {
    let [a, b, c] = face.jobs();
    let first = face.hold(a, "k");
    assert!(!face.takes(b, "k"));
    let second = face.line_up(b, "k");
    assert!(!face.takes(c, "k"));
    assert_eq!(face.release(first), Ok(()));
    assert!(face.is_held(second));
    assert!(!face.takes(c, "k"));
    assert_eq!(face.release(second), Ok(()));
    assert!(face.takes(c, "k"));
}

// LOCK-01, case D8
pub fn as_many_holders_as_the_limit<F: Face>(face: &mut F) {
    for limit in [1, 2, 1_000] {
        let [a, b] = face.opened_by(&Terms::semaphore("pool", limit));
        let key = format!("of {limit}");
        let held: Vec<_> = (0..limit).map(|_| face.hold(a, &key)).collect();
        assert!(!face.takes(b, &key));
        assert_eq!(face.release(held[0]), Ok(()));
        assert!(face.takes(b, &key));
        assert!(!face.takes(b, &key));
    }
}

// LOCK-01
pub fn first_come_first_served<F: Face>(face: &mut F) {
    let [a] = face.jobs();
    let mut held = face.hold(a, "k");
    let line: Vec<Ask> = (0..10).map(|_| newcomer(face)).collect();
    for (at, next) in line.iter().enumerate() {
        assert!(line[at..].iter().all(|ask| face.is_waiting(*ask)));
        assert_eq!(face.release(held), Ok(()));
        held = *next;
        assert!(face.is_held(held));
    }
}

// LOCK-01, case D3
pub fn who_left_the_line_holds_up_nobody<F: Face>(face: &mut F) {
    let [a] = face.jobs();
    let mut held = face.hold(a, "k");
    let line: Vec<Ask> = (0..100).map(|_| newcomer(face)).collect();
    let mut random = fastrand::Rng::with_seed(3);
    let mut shuffled = line.clone();
    random.shuffle(&mut shuffled);
    for ask in &shuffled[10..] {
        face.cancel(*ask);
    }
    face.assert_waiters(10);
    let stayed = line.iter().filter(|ask| shuffled[..10].contains(ask));
    for next in stayed {
        assert_eq!(face.release(held), Ok(()));
        held = *next;
        assert!(face.is_held(held));
    }
    assert_eq!(face.release(held), Ok(()));
    face.assert_nothing_kept();
}

// LOCK-01, case D1, case D2, case B7
pub fn head_is_cancelled_as_the_key_comes_free<F: Face>(face: &mut F) {
    for cancelled_first in [true, false] {
        let [a, b, c] = face.jobs();
        let held = face.hold(a, "k");
        let (second, third) = (face.line_up(b, "k"), face.line_up(c, "k"));
        let mut acts = [Act::Cancel(second), Act::Release(held)];
        if !cancelled_first {
            acts.reverse();
        }
        face.together(&acts);
        assert!(!face.is_held(second) && !face.is_waiting(second));
        assert!(face.is_held(third));
        face.assert_leases(1);
        assert_eq!(face.release(third), Ok(()));
        face.assert_nothing_kept();
    }
}

// LOCK-01, case D1, case E9
pub fn head_ends_as_the_key_comes_free<F: Face>(face: &mut F) {
    for ended_first in [true, false] {
        let [a, c] = face.jobs();
        let gone = face.holder(Default::default());
        let b = face.open(gone, &Terms::lock("jobs")).expect("a lock");
        let held = face.hold(a, "k");
        let (second, third) = (face.line_up(b, "k"), face.line_up(c, "k"));
        let mut acts = [Act::End(gone), Act::Release(held)];
        if !ended_first {
            acts.reverse();
        }
        face.together(&acts);
        assert!(!face.is_held(second));
        assert!(face.is_held(third));
        assert_eq!(face.release(third), Ok(()));
        face.assert_nothing_kept();
    }
}

// LOCK-01, case D1, case D2
pub fn head_is_cancelled_before_it_learns_that_it_was_served<F: Face>(face: &mut F) {
    let [a, b, c] = face.jobs();
    let held = face.hold(a, "k");
    let (second, third) = (face.line_up(b, "k"), face.line_up(c, "k"));
    assert_eq!(face.release(held), Ok(()));
    face.cancel(second);
    assert!(face.is_held(third));
    face.assert_leases(1);
}

// LOCK-01, case D1
pub fn head_waited_too_long_as_the_key_comes_free<F: Face>(face: &mut F) {
    let [a, b, c] = face.jobs();
    let held = face.hold(a, "k");
    let second = face.ask(b, "k", Wait::For(1_000));
    let third = face.line_up(c, "k");
    face.sleep(1_000);
    assert_eq!(face.release(held), Ok(()));
    assert_eq!(face.refusal(second), Why::InUse);
    assert!(face.is_held(third));
}

// LOCK-01, LOCK-03, case D1
pub fn who_waited_when_a_lease_ended_is_served_however_late<F: Face>(face: &mut F) {
    let brief = Terms {
        max_hold: Some(10_000),
        ..Terms::lock("jobs")
    };
    let [a, b, c] = face.opened_by(&brief);
    face.hold(a, "k");
    let too_short = face.ask(b, "k", Wait::For(9_999));
    let long_enough = face.ask(c, "k", Wait::For(10_000));
    face.sleep(50_000);
    let [d] = face.jobs();
    assert!(!face.takes(d, "k"));
    assert_eq!(face.refusal(too_short), Why::InUse);
    assert!(face.is_held(long_enough));
    assert_eq!(face.holding("k").left, Some(10_000));
}

// LOCK-01, LOCK-03, case D5
pub fn all_that_fit_are_served_at_once<F: Face>(face: &mut F) {
    let waiters = full_semaphore_of_three(face, 60_000);
    face.sleep(10_001);
    let [other] = face.jobs();
    face.hold(other, "something else");
    assert!(waiters.iter().all(|ask| face.is_held(*ask)));
}

// LOCK-01, case L8
pub fn leases_end_before_waits_run_out<F: Face>(face: &mut F) {
    for late in [0, 2_000] {
        let waiters = full_semaphore_of_three(face, 10_000);
        face.sleep(10_000 + late);
        face.advance(0);
        assert!(waiters.iter().all(|ask| face.is_held(*ask)));
        face.advance(10_000);
        face.assert_nothing_kept();
    }
}

/// Three that wait so long, and three leases of 10 s that are in their way.
fn full_semaphore_of_three<F: Face>(face: &mut F, wait: u32) -> Vec<Ask> {
    let three = Terms {
        max_hold: Some(10_000),
        ..Terms::semaphore("pool", 3)
    };
    let locks: [Lock; 6] = face.opened_by(&three);
    for lock in &locks[..3] {
        face.hold(*lock, "k");
    }
    let waiters = locks[3..].iter();
    waiters
        .map(|lock| face.ask(*lock, "k", Wait::For(wait)))
        .collect()
}

// LOCK-01, case D6
pub fn nobody_takes_a_key_from_who_waits<F: Face>(face: &mut F) {
    let [mut a, mut b] = face.jobs();
    let mut held = face.hold(a, "k");
    for _ in 0..F::OFTEN {
        let waiting = face.line_up(b, "k");
        assert_eq!(face.release(held), Ok(()));
        assert!(!face.takes(a, "k"));
        assert!(face.is_held(waiting));
        held = waiting;
        (a, b) = (b, a);
    }
}

// LOCK-01, case I7
pub fn one_release_serves_one<F: Face>(face: &mut F) {
    let [a] = face.jobs();
    let held = face.hold(a, "k");
    let line: Vec<Ask> = (0..1_000).map(|_| newcomer(face)).collect();
    assert_eq!(face.release(held), Ok(()));
    assert!(face.is_held(line[0]));
    assert!(line[1..].iter().all(|ask| face.is_waiting(*ask)));
}

// LOCK-01
pub fn keys_and_locks_are_apart<F: Face>(face: &mut F) {
    let [a] = face.jobs();
    let [b] = face.opened_by(&Terms::lock("other"));
    let [c] = face.opened_by(&Terms::semaphore("jobs", 1));
    face.hold(a, "k");
    face.hold(a, "l");
    face.hold(b, "k");
    face.hold(c, "k");
    // Where a name ends and a key begins is never in doubt.
    let [d] = face.opened_by(&Terms::lock("job"));
    face.hold(d, "sk");
    face.assert_keys(5);
}

// LOCK-01, LOCK-12, case D8
pub fn a_key_has_one_limit_while_it_is_used<F: Face>(face: &mut F) {
    let [two] = face.opened_by(&Terms::semaphore("pool", 2));
    let held = face.hold(two, "k");
    let [three] = face.opened_by(&Terms::semaphore("pool", 3));
    for wait in [Wait::AsOpened, Wait::Try] {
        let refused = face.ask(three, "k", wait);
        let Why::Invalid(why) = face.refusal(refused) else {
            panic!("refused for another reason");
        };
        assert!(why.contains('2') && why.contains('3'), "{why}");
    }
    face.assert_waiters(0);
    face.hold(three, "another key");
    assert_eq!(face.release(held), Ok(()));
    face.hold(three, "k");
}

// LOCK-01, case B8, case E13
pub fn a_wait_runs_out_when_it_says<F: Face>(face: &mut F) {
    let [a, b, c] = face.jobs();
    let held = face.hold(a, "k");
    let waiting = face.ask(b, "k", Wait::For(1_000));
    face.advance(999);
    assert!(face.is_waiting(waiting));
    face.advance(1);
    assert_eq!(face.refusal(waiting), Why::InUse);
    face.assert_waiters(0);
    assert_eq!(face.release(held), Ok(()));
    assert_eq!(face.refusal(waiting), Why::InUse);
    assert!(face.takes(c, "k"));
}

// LOCK-01, case D11
pub fn a_hold_waits_10_seconds_unless_it_says<F: Face>(face: &mut F) {
    let [a, b] = face.jobs();
    face.hold(a, "k");
    let waiting = face.ask(b, "k", Wait::AsOpened);
    face.advance(9_999);
    assert!(face.is_waiting(waiting));
    face.advance(1);
    assert_eq!(face.refusal(waiting), Why::InUse);

    let patient = Terms {
        wait: Some(20_000),
        ..Terms::lock("jobs")
    };
    let [c] = face.opened_by(&patient);
    let waiting = face.ask(c, "k", Wait::AsOpened);
    face.advance(19_999);
    assert!(face.is_waiting(waiting));
    face.advance(1);
    assert_eq!(face.refusal(waiting), Why::InUse);
}

// LOCK-01, LOCK-10, case H1
pub fn releasing_twice_adds_no_place<F: Face>(face: &mut F) {
    let [a, b] = face.opened_by(&Terms::semaphore("pool", 2));
    let held = face.hold(a, "k");
    assert_eq!(face.release(held), Ok(()));
    assert!(face.release(held).is_err());
    assert!(face.takes(a, "k"));
    assert!(face.takes(b, "k"));
    assert!(!face.takes(b, "k"));
}

// LOCK-01, LOCK-04, case H7
pub fn who_goes_on_while_it_waits_stands_in_its_own_line<F: Face>(face: &mut F) {
    let [a] = face.jobs();
    let held = face.hold(a, "k");
    let again = face.ask(a, "k", Wait::For(1_000));
    let third = face.line_up(a, "k");
    face.advance(1_000);
    assert_eq!(face.refusal(again), Why::InUse);
    assert_eq!(face.release(held), Ok(()));
    assert!(face.is_held(third));
}

/// Another holder in line for the key.
fn newcomer<F: Face>(face: &mut F) -> Ask {
    let [lock] = face.jobs();
    face.line_up(lock, "k")
}
