//! LOCK-11: the time is an argument, and nothing overflows.

use witlock_engine::{Ending, OpenSession, Options, Seed};
use witlock_tests::{Command, Event, Hold, Machine, Why};

use crate::steps::*;

// LOCK-11, case F1, case F2
pub fn a_time_set_back_counts_as_the_one_seen<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    let events = steps.at(5_000, [ask_as(1, 10_000, hold(1, 1, "k"))]);
    assert_eq!(granted(&events, 1).expires, Some(15_000_000_000));
    let events = steps.at(0, [renew(granted(&events, 1).lease), ask(2, 2, "k")]);
    let renewed = Event::Renewed {
        tag: 2,
        deadline: Some(15_000_000_000),
    };
    assert_eq!(events, [renewed]);
    assert_eq!(steps.at(14_999, []), []);
    let events = steps.at(15_000, []);
    assert_eq!(events[0], ended(1, Ending::Expired));
    granted(&events, 2);
}

// LOCK-11, case F7
pub fn moments_past_the_end_of_time_never_come<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    let end = u64::MAX / 1_000_000;
    let longest = Hold {
        wait: Some(u32::MAX),
        options: Options {
            ttl: Some(3_600_000),
            max_hold: Some(u32::MAX),
            label: None,
        },
        ..hold(1, 1, "k")
    };
    let waiting = Hold {
        ticket: 2,
        session: 2,
        ..longest.clone()
    };
    let events = steps.at(end - 1, [Command::Hold(longest), Command::Hold(waiting)]);
    let grant = granted(&events, 1);
    assert_eq!((grant.expires, grant.revoked), (None, None));
    assert_eq!(events.len(), 1);
    let events = steps.at(end, [renew(grant.lease), Command::Suspend(2)]);
    assert_eq!(
        events,
        [Event::Renewed {
            tag: 2,
            deadline: None
        }]
    );
    let events = steps.at(end, [release(grant.lease)]);
    granted(&events, 2);
}

// LOCK-11
pub fn the_end_of_time_is_survived<M: Machine>() {
    let mut machine = M::start(Seed::default());
    let open = Command::OpenSession(OpenSession {
        session: 1,
        remote: true,
        ..OpenSession::default()
    });
    let fences = Command::AddFences(1..100);
    machine.step(0, vec![fences, open, ask(1, 1, "k")]);
    machine.step(u64::MAX, vec![ask(2, 1, "k"), ask(3, 1, "k")]);
    machine.step(u64::MAX, vec![ask(4, 1, "l"), Command::EndSession(1)]);
    machine.step(u64::MAX, Vec::new());
    let counted = machine.step(u64::MAX, vec![Command::Count { tag: 1 }]);
    let Some(Event::Counted { counts, .. }) = counted.events.first() else {
        panic!("a count was answered by {:?}", counted.events);
    };
    assert_eq!((counts.keys, counts.sessions), (0, 0));
}

// LOCK-11, LOCK-05, case F7
pub fn spans_are_counted_to_the_nanosecond<M: Machine>() {
    let mut steps = Steps::<M>::new();
    let mut odd = hold(1, 1, "k");
    odd.options.max_hold = Some(1);
    let mut short = hold(2, 2, "k");
    short.wait = Some(1);
    let began = 7;
    let asks = vec![Command::Hold(odd), Command::Hold(short)];
    let outcome = steps.machine.step(began, asks);
    assert_eq!(outcome.next_deadline, Some(began + 1_000_000));
    let outcome = steps.machine.step(began + 999_999, Vec::new());
    assert_eq!(outcome.events, []);
    let outcome = steps.machine.step(began + 1_000_000, Vec::new());
    assert_eq!(outcome.events[0], ended(1, Ending::Revoked));
    granted(&outcome.events, 2);
    assert_eq!(outcome.next_deadline, None);
}

// LOCK-11
pub fn a_wait_of_nothing_is_refused_at_once<M: Machine>() {
    let mut steps = Steps::<M>::new();
    steps.at(0, [ask(1, 1, "k")]);
    let mut trying = hold(2, 2, "k");
    trying.wait = Some(0);
    let events = steps.at(0, [Command::Hold(trying)]);
    assert_eq!(events, [refused(2, Why::InUse)]);
}
