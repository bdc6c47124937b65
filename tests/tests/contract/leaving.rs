//! LOCK-06: who leaves lets its keys go, and closing the store ends all.

use crate::face::{Ask, Ending, Face, Kind, Lock, Terms, Wait, Why};
use crate::scene::Scene;

// LOCK-06, case E9, case K1
pub fn who_ends_lets_its_keys_go<F: Face>(face: &mut F) {
    let gone = face.holder(Kind::default());
    let a = face.open(gone, &Terms::lock("jobs")).expect("a lock");
    let pool = Terms::semaphore("pool", 2);
    let share = face.open(gone, &pool).expect("a semaphore");
    let [b, c] = face.jobs();
    let [d, e] = face.opened_by(&pool);
    face.hold(a, "k");
    face.hold(a, "l");
    face.hold(share, "k");
    face.hold(d, "k");
    let waiting = [(b, "k"), (c, "l"), (e, "k")].map(|(lock, key)| face.line_up(lock, key));
    let is_counted = face.can_list() && face.can_leave();
    let sessions = is_counted.then(|| face.counts().sessions);
    face.end(gone);
    for ask in waiting {
        assert!(face.is_held(ask));
    }
    if let Some(sessions) = sessions {
        assert!(face.counts().sessions < sessions);
    }
}

// LOCK-06, LOCK-01, case D11
pub fn who_ends_leaves_the_line<F: Face>(face: &mut F) {
    let [a, c] = face.jobs();
    let gone = face.holder(Kind::default());
    let b = face.open(gone, &Terms::lock("jobs")).expect("a lock");
    let held = face.hold(a, "k");
    face.line_up(b, "k");
    let next = face.line_up(c, "k");
    face.end(gone);
    face.assert_waiters(1);
    assert_eq!(face.release(held), Ok(()));
    assert!(face.is_held(next));
}

// LOCK-06, case C13, case D12
pub fn what_is_dropped_is_free_at_once<F: Face>(face: &mut F) {
    let [a, b, c] = face.jobs();
    let held = face.hold(a, "k");
    face.cancel(held);
    assert!(face.takes(b, "k"));
    let waiting = face.line_up(c, "k");
    face.cancel(waiting);
    face.assert_waiters(0);
}

// LOCK-06, LOCK-07
pub fn closing_ends_every_lease_and_answers_everyone<F: Face>(face: &mut F) {
    let [a, b, c] = face.jobs();
    let held = face.hold(a, "k");
    let other = face.hold(a, "l");
    let waiting = [(b, "k"), (c, "k")].map(|(lock, key)| face.line_up(lock, key));
    face.close();
    for ask in [held, other] {
        assert_eq!(face.ended(ask), Some(Ending::Closed));
        assert_eq!(face.release(ask), Err(Ending::Closed));
    }
    for ask in waiting {
        assert_eq!(face.refusal(ask), Why::Closed);
    }
    for wait in [Wait::AsOpened, Wait::Try] {
        let late = face.ask(a, "free", wait);
        assert_eq!(face.refusal(late), Why::Closed);
    }
}

// LOCK-06, LOCK-07
pub fn closing_twice_is_closing_once<F: Face>(face: &mut F) {
    let [a] = face.jobs();
    let held = face.hold(a, "k");
    face.close();
    face.close();
    assert_eq!(face.ended(held), Some(Ending::Closed));
}

// LOCK-06, LOCK-05, case L3
pub fn closing_leaves_leases_over_connections<F: Face>(face: &mut F) {
    let jobs = Terms {
        ttl: Some(10_000),
        ..Terms::lock("jobs")
    };
    let [a, b] = std::array::from_fn(|_| face.opened(Kind::with_ttl(), &jobs));
    let held = face.hold(a, "k");
    let other = face.hold(a, "l");
    let waiting = face.line_up(b, "k");
    face.advance(5_000);
    face.close();
    assert_eq!(face.refusal(waiting), Why::Closed);
    assert!(face.is_held(held) && face.is_held(other));
    assert_eq!(face.renew(held), Ok(Some(10_000)));
    assert_eq!(face.release(other), Ok(()));
    face.advance(9_999);
    assert!(face.is_held(held));
    face.advance(1);
    assert_eq!(face.ended(held), Some(Ending::Expired));
}

// LOCK-06, case E7
pub fn a_store_opened_again_begins_with_free_keys<F: Face>(face: &mut F) {
    let [a] = face.jobs();
    face.hold(a, "k");
    face.reopen();
    face.assert_nothing_kept();
    let [b] = face.jobs();
    face.hold(b, "k");
}

// LOCK-06
pub fn a_crowd_of_keys_goes_with_its_holder<F: Face>(face: &mut F) {
    let gone = face.holder(Kind::default());
    let a = face.open(gone, &Terms::lock("jobs")).expect("a lock");
    let [others, b] = face.jobs();
    for n in 0..10_000 {
        face.hold(a, &format!("held {n}"));
        face.hold(others, &format!("wanted {n}"));
    }
    let waiting: Vec<Ask> = (0..10_000)
        .map(|n| face.line_up(a, &format!("wanted {n}")))
        .collect();
    let heirs: Vec<Ask> = heirs(face, b);
    face.end(gone);
    assert!(waiting.iter().all(|ask| !face.is_waiting(*ask)));
    assert!(heirs.iter().all(|ask| face.is_held(*ask)));
    face.assert_waiters(0);
    face.assert_leases(20_000);
}

fn heirs<F: Face>(face: &mut F, lock: Lock) -> Vec<Ask> {
    (0..10_000)
        .map(|n| face.line_up(lock, &format!("held {n}")))
        .collect()
}

// LOCK-06
pub fn a_crowd_of_leases_is_closed<F: Face>(face: &mut F) {
    let [a, b, c] = face.jobs();
    let mut held = Vec::new();
    for n in 0..10_000 {
        held.push(face.hold(a, &format!("a {n}")));
        held.push(face.hold(b, &format!("b {n}")));
    }
    let waiting: Vec<Ask> = (0..10_000)
        .map(|n| face.line_up(c, &format!("a {n}")))
        .collect();
    face.close();
    let closed = Some(Ending::Closed);
    assert!(held.iter().all(|ask| face.ended(*ask) == closed));
    assert!(waiting.iter().all(|ask| face.refusal(*ask) == Why::Closed));
    face.assert_nothing_kept();
}
