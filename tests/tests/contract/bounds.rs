//! LOCK-12: every bound is named in the answer, and nothing is kept of what was
//! refused.

use crate::face::{Face, Kind, Lock, Terms, Wait, Why};
use crate::scene::Scene;

/// Opening with these terms is refused, with a text that has all of this in it.
fn assert_invalid<F: Face>(face: &mut F, terms: &Terms, names: &[&str]) {
    let holder = face.holder(Kind::default());
    match face.open(holder, terms) {
        Err(Why::Invalid(why)) => assert_names(&why, names),
        other => panic!("{terms:?} was answered by {other:?}"),
    }
    face.end(holder);
    face.assert_nothing_kept();
}

fn assert_names(why: &str, names: &[&str]) {
    for name in names {
        assert!(why.contains(name), "{name:?} is not in {why:?}");
    }
}

/// Opening with these terms works, and so does holding a key.
fn assert_valid<F: Face>(face: &mut F, terms: &Terms) {
    let [lock] = face.opened_by(terms);
    let held = face.hold(lock, "k");
    if face.can_list() {
        let shown = face.holding("k");
        assert_eq!((&shown.name, &shown.label), (&terms.name, &terms.label));
        assert_eq!(shown.limit, terms.limit);
    }
    assert_eq!(face.release(held), Ok(()));
}

// LOCK-12, case J1
pub fn names<F: Face>(face: &mut F) {
    for name in [
        "n",
        &"n".repeat(128),
        &"é".repeat(64),
        "a/b c",
        "é",
        "e\u{301}",
    ] {
        assert_valid(face, &Terms::lock(name));
        assert_valid(face, &Terms::semaphore(name, 2));
    }
    for (name, bytes) in [
        ("", "0"),
        (&"n".repeat(129), "129"),
        (&"é".repeat(65), "130"),
    ] {
        let named = ["a name has 1 to 128 bytes", bytes];
        assert_invalid(face, &Terms::lock(name), &named);
    }
    for name in ["a\nb", "\0", "a\u{7f}", "\u{85}"] {
        let named = ["a name has no control characters"];
        assert_invalid(face, &Terms::lock(name), &named);
    }
}

// LOCK-12, case J5
pub fn labels<F: Face>(face: &mut F) {
    let labelled = |label: &str| Terms {
        label: Some(label.into()),
        ..Terms::lock("jobs")
    };
    for label in [
        "",
        "l",
        &"l".repeat(128),
        &"é".repeat(64),
        "pod-7 / worker 3",
    ] {
        assert_valid(face, &labelled(label));
    }
    for (label, bytes) in [(&"l".repeat(129), "129"), (&"é".repeat(65), "130")] {
        let named = ["a label has at most 128 bytes", bytes];
        assert_invalid(face, &labelled(label), &named);
    }
    let named = ["a label has no control characters"];
    assert_invalid(face, &labelled("a\tb"), &named);
}

// LOCK-12, case J1
pub fn keys<F: Face>(face: &mut F) {
    let [a, b] = face.jobs();
    let (most, most_wide) = ("k".repeat(1_024), "é".repeat(512));
    let distinct = [
        "k", "K", "é", "e\u{301}", "\0", "k\0", "\n", "a/b", " ", "k ", &most, &most_wide,
    ];
    let held = distinct.map(|key| face.hold(a, key));
    assert!(distinct.iter().all(|key| !face.takes(b, key)));
    if face.can_list() {
        let shown = face.all_holdings().into_iter().map(|held| held.key);
        let mut shown: Vec<_> = shown.collect();
        let mut asked = distinct.map(String::from);
        shown.sort_unstable();
        asked.sort_unstable();
        assert_eq!(shown, asked);
    }
    for ask in held {
        assert_eq!(face.release(ask), Ok(()));
    }
    for (key, bytes) in [
        ("", "0"),
        (&"k".repeat(1_025), "1025"),
        (&"é".repeat(513), "1026"),
    ] {
        let why = face.invalid(a, key);
        assert_names(&why, &["a key has 1 to 1024 bytes", bytes]);
        let tried = face.ask(a, key, Wait::Try);
        assert!(matches!(face.refusal(tried), Why::Invalid(_)));
    }
    face.assert_nothing_kept();
}

// LOCK-12, case D8
pub fn limits<F: Face>(face: &mut F) {
    for limit in [1, 1_000] {
        assert_valid(face, &Terms::semaphore("pool", limit));
    }
    for limit in [0, 1_001, u32::MAX] {
        let named = ["a semaphore's limit is 1 to 1000", &limit.to_string()];
        assert_invalid(face, &Terms::semaphore("pool", limit), &named);
    }
}

// LOCK-12, LOCK-11, case F7
pub fn ttls<F: Face>(face: &mut F) {
    let with = |ttl| Terms {
        ttl: Some(ttl),
        ..Terms::lock("jobs")
    };
    for ttl in [1_000, 30_000, 3_600_000] {
        assert_valid(face, &with(ttl));
    }
    for ttl in [0, 1, 999, 3_600_001, u32::MAX] {
        let named = ["a ttl is 1000 to 3600000 ms", &ttl.to_string()];
        assert_invalid(face, &with(ttl), &named);
    }
}

// LOCK-12, LOCK-11, LOCK-03, case F7
pub fn max_holds<F: Face>(face: &mut F) {
    let with = |max_hold| Terms {
        max_hold: Some(max_hold),
        ..Terms::lock("jobs")
    };
    for max_hold in [1, 30_000, u32::MAX] {
        assert_valid(face, &with(max_hold));
    }
    assert_invalid(face, &with(0), &["a max-hold is 1 to 4294967295 ms, not 0"]);
}

// LOCK-12, LOCK-11, case F7, case F8, case F10
pub fn waits<F: Face>(face: &mut F) {
    let waiting = |wait| Terms {
        wait: Some(wait),
        ..Terms::lock("jobs")
    };
    for wait in [0, 1, 7_200_000, u32::MAX] {
        assert_valid(face, &waiting(wait));
    }
    let [a] = face.jobs();
    face.hold(a, "k");
    for lock in face.opened_by::<2>(&waiting(0)) {
        let tried = face.ask(lock, "k", Wait::AsOpened);
        assert_eq!(face.refusal(tried), Why::InUse);
    }
    face.assert_waiters(0);
    for wait in [1, 7_200_000, u32::MAX] {
        let [b] = face.opened_by(&waiting(wait));
        let asked = face.ask(b, "k", Wait::AsOpened);
        face.advance(u64::from(wait) - 1);
        assert!(face.is_waiting(asked), "a wait of {wait} ms was shortened");
        face.advance(1);
        assert_eq!(face.refusal(asked), Why::InUse);
    }
}

// LOCK-12
pub fn waiters_of_one_key<F: Face>(face: &mut F) {
    let [a, b, c] = face.jobs();
    let held = face.hold(a, "k");
    let line: Vec<_> = (0..10_000)
        .map(|n| {
            let lock = if n < 5_000 { a } else { b };
            face.line_up(lock, "k")
        })
        .collect();
    let over = face.ask(c, "k", Wait::AsOpened);
    assert_too_many(face, over, "10000 wait for this key");
    assert!(!face.takes(c, "k"));
    face.assert_waiters(10_000);
    let other = face.hold(c, "another key");
    assert_eq!(face.release(other), Ok(()));
    assert_eq!(face.release(held), Ok(()));
    assert!(face.is_held(line[0]));
    face.line_up(c, "k");
}

// LOCK-12
pub fn keys_of_one_holder<F: Face>(face: &mut F) {
    let [a, b] = face.jobs();
    assert_held_at_most(face, a, 10_000);
    assert_waits_at_most(face, b, a, 10_000);
}

// LOCK-12
pub fn keys_held_with_a_bound_of_ones_own<F: Face>(face: &mut F) {
    let kind = Kind {
        max_held: Some(3),
        ..Kind::default()
    };
    let few = face.opened(kind, &Terms::lock("jobs"));
    assert_held_at_most(face, few, 3);
}

// LOCK-12
pub fn keys_waited_for_with_a_bound_of_ones_own<F: Face>(face: &mut F) {
    let kind = Kind {
        max_waiting: Some(2),
        ..Kind::default()
    };
    let few = face.opened(kind, &Terms::lock("jobs"));
    let [other] = face.jobs();
    assert_waits_at_most(face, few, other, 2);
}

/// Holds as many keys as it may, and one more; one less, and another.
fn assert_held_at_most<F: Face>(face: &mut F, lock: Lock, most: u32) {
    let held: Vec<_> = (0..most)
        .map(|n| face.hold(lock, &format!("held {n}")))
        .collect();
    let named = format!("holds {most} keys");
    for wait in [Wait::AsOpened, Wait::Try] {
        let over = face.ask(lock, "one more", wait);
        assert_too_many(face, over, &named);
    }
    face.assert_keys(u64::from(most));
    assert_eq!(face.release(held[0]), Ok(()));
    face.hold(lock, "one more");
    let over = face.ask(lock, "held 0", Wait::AsOpened);
    assert_too_many(face, over, &named);
}

/// Waits for as many keys as it may, all of another's, and one more.
fn assert_waits_at_most<F: Face>(face: &mut F, lock: Lock, other: Lock, most: u32) {
    let keys: Vec<_> = (0..most).map(|n| format!("wanted {n}")).collect();
    let in_the_way = face.opened(Kind::default(), &Terms::lock("jobs"));
    let held: Vec<_> = keys.iter().map(|key| face.hold(in_the_way, key)).collect();
    let line: Vec<_> = keys.iter().map(|key| face.line_up(lock, key)).collect();
    let [last] = face.jobs();
    face.hold(last, "wanted as well");
    let over = face.ask(lock, "wanted as well", Wait::AsOpened);
    assert_too_many(face, over, &format!("waits for {most} keys"));
    assert!(!face.takes(lock, "wanted as well"));
    assert!(!face.takes(other, "wanted as well"));
    face.assert_waiters(u64::from(most));
    assert_eq!(face.release(held[0]), Ok(()));
    assert!(face.is_held(line[0]));
    face.line_up(lock, "wanted as well");
}

fn assert_too_many<F: Face>(face: &mut F, ask: crate::face::Ask, named: &str) {
    match face.refusal(ask) {
        Why::TooMany(why) => assert!(why.contains(named), "{why}"),
        other => panic!("refused for another reason: {other:?}"),
    }
}

// LOCK-12, LOCK-01
pub fn who_may_hold_no_more_is_passed_over<F: Face>(face: &mut F) {
    let kind = Kind {
        max_held: Some(1),
        ..Kind::default()
    };
    let few = face.opened(kind, &Terms::lock("jobs"));
    let [a, b] = face.jobs();
    let held = face.hold(a, "k");
    let full = face.line_up(few, "k");
    face.hold(few, "another key");
    let next = face.line_up(b, "k");
    assert_eq!(face.release(held), Ok(()));
    assert_too_many(face, full, "holds 1 keys");
    assert!(face.is_held(next));
}
// LOCK-12, case A13
pub fn waits_for_fences_are_waits<F: Face>(face: &mut F) {
    let kind = Kind {
        max_waiting: Some(2),
        ..Kind::default()
    };
    let few = face.opened(kind, &Terms::lock("jobs"));
    crate::fences::use_up_fences(face);
    let waiting = ["k", "l"].map(|key| face.line_up(few, key));
    let over = face.ask(few, "m", Wait::AsOpened);
    assert_too_many(face, over, "waits for 2 keys");
    face.assert_keys(2);
    face.set_fences(crate::face::Fences::Come);
    assert!(waiting.iter().all(|ask| face.is_held(*ask)));
}
