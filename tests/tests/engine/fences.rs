//! LOCK-02: fences come in ranges from outside.

use std::ops::Range;

use witlock_engine::Ending;
use witlock_tests::{Command, Event, Machine, Why};

use crate::steps::*;

/// An engine with the sessions 1 to 9 and no fences.
fn without_fences<M: Machine>() -> Steps<M> {
    let mut steps = Steps::<M>::bare();
    let sessions = (1..10).map(|session| {
        Command::OpenSession(witlock_engine::OpenSession {
            session,
            ..Default::default()
        })
    });
    assert_eq!(steps.at(0, sessions), []);
    steps
}

// LOCK-02, case G3
pub fn no_fence_is_given_twice_or_below_another<M: Machine>() {
    let mut steps = without_fences::<M>();
    let backwards = Range { start: 20, end: 11 };
    let ranges = [0..3, 2..5, 1..4, 9..10, 5..9, 12..12, backwards, 10..13];
    steps.at(0, ranges.map(Command::AddFences));
    let asks = (0..8).map(|n| ask(n, 1, &n.to_string()));
    let events = steps.at(0, asks);
    let fences: Vec<_> = grants(&events).iter().map(|it| it.lease.fence).collect();
    assert_eq!(fences, [1, 2, 3, 4, 9, 10, 11, 12]);
}

// LOCK-02, case G10
pub fn fences_end_below_2_to_the_53<M: Machine>() {
    let end = 1 << 53;
    let mut steps = without_fences::<M>();
    steps.at(0, [Command::AddFences(end - 10..u64::MAX)]);
    let asks = (0..11).map(|n| ask(n, 1, &n.to_string()));
    let events = steps.at(0, asks);
    let fences = grants(&events).into_iter().map(|it| it.lease.fence);
    assert!(fences.eq(end - 10..end));
    let none = Command::FencesFailed("the fences are exhausted".into());
    let events = steps.at(0, [Command::AddFences(end..end + 10), none]);
    let why = "the fences are exhausted";
    assert_eq!(events[0], refused(10, Why::Unavailable(why.into())));
}

// LOCK-02
pub fn few_fences_are_said_once<M: Machine>() {
    let mut steps = without_fences::<M>();
    let first = steps.at(0, [ask(100, 9, "first")]);
    assert_eq!(first, [Event::FencesLow { left: 0 }]);
    granted(&steps.at(0, [Command::AddFences(1..12)]), 100);
    let low = |events: &[Event]| -> Vec<u64> {
        let low = |event: &Event| match event {
            Event::FencesLow { left } => Some(*left),
            _ => None,
        };
        events.iter().filter_map(low).collect()
    };
    let mut said = Vec::new();
    for n in 0..10 {
        said.extend(low(&steps.at(0, [ask(n, 1, &n.to_string())])));
    }
    assert_eq!(said, [4], "11 were added last, 4 are fewer than half");
    assert_eq!(steps.at(0, [ask(10, 1, "10"), ask(11, 1, "11")]), []);
    assert!(low(&steps.at(0, [Command::AddFences(20..30)])).is_empty());
    assert_eq!(steps.counts(0).fences, 8);
}

// LOCK-02, LOCK-12, case A13
pub fn no_fences_are_told_to_all_who_wait_in_bounded_steps<M: Machine>() {
    let mut steps = without_fences::<M>();
    let asks = (0..8_000).map(|n| ask(n, 1, &n.to_string()));
    steps.all_at(0, asks.collect());
    assert_eq!(steps.counts(0).waiters, 8_000);
    let failed = Command::FencesFailed("the disk is full".into());
    let outcome = steps.step(1, vec![failed]);
    assert!(is_behind(outcome.next_deadline, 1));
    let all = [outcome.events, steps.all_at(1, Vec::new())].concat();
    let why = Why::Unavailable("the disk is full".into());
    assert!(
        (0..8_000)
            .step_by(97)
            .all(|n| all.contains(&refused(n, why.clone())))
    );
    assert_eq!(over(&all), 8_000);
    assert_eq!(steps.counts(1).keys, 0);
    // Who asks now waits for what comes next.
    let events = steps.at(1, [ask(9_000, 1, "k"), Command::AddFences(1..10)]);
    granted(&events, 9_000);
}

// LOCK-02, case A13
pub fn fences_that_come_serve_all_who_wait_in_bounded_steps<M: Machine>() {
    let mut steps = without_fences::<M>();
    let asks = (0..8_000).map(|n| ask(n, 1, &n.to_string()));
    steps.all_at(0, asks.collect());
    let outcome = steps.step(1, vec![Command::AddFences(1..7_001)]);
    assert!(is_behind(outcome.next_deadline, 1));
    let all = [outcome.events, steps.all_at(1, Vec::new())].concat();
    let served = grants(&all);
    assert!(served.iter().map(|grant| grant.ticket).eq(0..7_000));
    assert!(served.iter().map(|grant| grant.lease.fence).eq(1..7_001));
    assert_eq!(steps.counts(1).waiters, 1_000);
    let low = all
        .iter()
        .filter(|event| matches!(event, Event::FencesLow { .. }));
    assert_eq!(low.count(), 1);
}

// LOCK-02, LOCK-03, LOCK-05, case A13
pub fn what_is_held_goes_on_without_fences<M: Machine>() {
    let mut steps = without_fences::<M>();
    let mut brief = hold(1, 1, "k");
    brief.options.max_hold = Some(7_000);
    let hold = [
        Command::AddFences(5..7),
        Command::Hold(brief),
        ask(2, 1, "l"),
    ];
    let events = steps.at(0, hold);
    let lease = granted(&events, 2).lease;
    let mut patient = hold_for(3, 20_000);
    patient.key = "k".into();
    let mut brisk = hold_for(4, 8_000);
    brisk.key = "k".into();
    steps.at(0, [Command::Hold(patient), Command::Hold(brisk)]);
    steps.at(0, [Command::FencesFailed("no".into())]);
    assert_eq!(steps.at(6_999, [renew(lease)]).len(), 1);
    let events = steps.at(7_000, []);
    assert_eq!(events[0], ended(1, Ending::Revoked));
    assert_eq!(steps.at(8_000, []), [refused(4, Why::InUse)]);
    let events = steps.at(20_000, [release(lease)]);
    assert!(matches!(
        &events[0],
        Event::Refused {
            ticket: 3,
            why: Why::Unavailable(_)
        }
    ));
    assert_eq!(events[1], ended(2, Ending::Released));
    assert_eq!(steps.counts(20_000).keys, 0);
}

// LOCK-01, LOCK-02: found by the simulation.
pub fn a_line_that_came_empty_has_lost_its_turn_for_a_fence<M: Machine>() {
    let mut steps = without_fences::<M>();
    let pooled = |ticket| {
        let limit = Some(2);
        Command::Hold(witlock_tests::Hold {
            limit,
            ..hold(ticket, 1, "pool")
        })
    };
    let events = steps.at(0, [Command::AddFences(1..2), pooled(1)]);
    granted(&events, 1);
    // The pool wants a fence before the lock does, then nobody waits for it.
    steps.at(0, [pooled(2), ask(3, 2, "k"), Command::Cancel(2)]);
    steps.at(0, [pooled(4)]);
    let events = steps.at(0, [Command::AddFences(2..3)]);
    granted(&events, 3);
    let events = steps.at(0, [Command::AddFences(3..4)]);
    granted(&events, 4);
}

fn hold_for(ticket: u64, wait: u32) -> witlock_tests::Hold {
    let mut hold = hold(ticket, 2, "");
    hold.wait = Some(wait);
    hold
}
