//! LOCK-09: what the engine says of asks that are asked again.

use witlock_engine::Ending;
use witlock_tests::{Command, Event, Hold, Machine, Why};

use crate::steps::*;

// LOCK-09, case E5
pub fn the_older_ticket_is_superseded<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    let in_line = |ticket| ask_as(7, 10_000, hold(ticket, 1, "k"));
    let lease = granted(&steps.at(0, [ask(1, 2, "k")]), 1).lease;
    assert_eq!(steps.at(0, [in_line(2)]), []);
    assert_eq!(steps.at(1, [in_line(3)]), [Event::Superseded(2)]);
    assert_eq!(steps.at(2, [in_line(3)]), [], "the same ticket again");
    let events = steps.at(3, [Command::Cancel(2), release(lease)]);
    let first = granted(&events, 3);
    let events = steps.at(4, [in_line(4)]);
    assert_eq!(events[0], Event::Superseded(3));
    assert_eq!(granted(&events, 4).lease, first.lease);
    assert_eq!(granted(&events, 4).expires, Some(10_004_000_000));
    let events = steps.at(10_004, []);
    assert_eq!(events, [ended(4, Ending::Expired)]);
}

// LOCK-09
pub fn the_wait_of_an_ask_is_that_of_the_first_time<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    steps.at(0, [ask(1, 2, "k")]);
    let in_line = |ticket, wait| {
        let hold = Hold {
            wait: Some(wait),
            ..hold(ticket, 1, "k")
        };
        ask_as(7, 10_000, hold)
    };
    steps.at(0, [in_line(2, 5_000)]);
    steps.at(4_000, [in_line(3, 5_000)]);
    assert_eq!(steps.at(5_000, []), [refused(3, Why::InUse)]);
}

// LOCK-09, LOCK-12
pub fn a_request_names_one_key<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    let of = |ticket, session, limit, key: &str| {
        let hold = Hold {
            limit,
            ..hold(ticket, session, key)
        };
        ask_as(7, 10_000, hold)
    };
    let why = "the request named another key before";
    let events = steps.at(0, [of(1, 1, Some(2), "k"), of(2, 1, Some(2), "l")]);
    assert_eq!(events[1], refused(2, Why::Invalid(why.into())));
    let events = steps.at(0, [of(3, 1, None, "k")]);
    assert_eq!(events, [refused(3, Why::Invalid(why.into()))]);
    // Another session's request of the same number is another.
    let events = steps.at(0, [of(4, 2, Some(2), "l"), of(5, 2, Some(2), "l")]);
    assert_eq!(events[1], Event::Superseded(4));
    assert_eq!(steps.counts(0).leases, 2);
}

// LOCK-09, LOCK-12, case D8
pub fn asking_again_under_another_limit_is_refused<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    let of = |ticket, limit| {
        let hold = Hold {
            limit: Some(limit),
            ..hold(ticket, 1, "k")
        };
        ask_as(7, 10_000, hold)
    };
    granted(&steps.at(0, [of(1, 2)]), 1);
    let events = steps.at(0, [of(2, 3)]);
    let why = "the key is in use under the limit 2, not 3";
    assert_eq!(events, [refused(2, Why::Invalid(why.into()))]);
}

// LOCK-09, case E1
pub fn asking_again_counts_once_against_the_bounds<M: Machine>() {
    let mut steps = Steps::<M>::bare();
    let open = |session| {
        Command::OpenSession(witlock_engine::OpenSession {
            session,
            remote: true,
            max_held: Some(1),
            max_waiting: Some(1),
        })
    };
    let fences = Command::AddFences(1..100);
    steps.at(0, [fences, open(1), open(2)]);
    let held = |ticket| ask_as(1, 10_000, hold(ticket, 1, "k"));
    let in_line = |ticket| ask_as(1, 10_000, hold(ticket, 2, "k"));
    let events = steps.at(0, [held(1), in_line(2), held(3), in_line(4)]);
    let superseded = [Event::Superseded(1), Event::Superseded(2)];
    assert!(superseded.iter().all(|event| events.contains(event)));
    let lease = granted(&events, 3).lease;
    granted(&steps.at(0, [release(lease)]), 4);
}
