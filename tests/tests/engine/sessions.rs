//! Sessions that end, are cut and come back, and the closing of the store, with
//! more to end than a step can.

use witlock_engine::{Ending, OpenSession};
use witlock_tests::{Command, Event, Hold, Machine, Why};

use crate::steps::*;

const MANY: u64 = 10_000;

/// Session 1 holds 10 000 keys and waits for as many that session 2 holds.
/// Gives the leases: one of session 1, one of session 2, and so on.
fn crowded<M: Machine>(mut steps: Steps<M>) -> (Steps<M>, Vec<witlock_engine::LeaseId>) {
    let mut commands = Vec::new();
    for n in 0..MANY {
        let (held, wanted) = (format!("held {n}"), format!("wanted {n}"));
        commands.push(ask_as(u128::from(n), 10_000, hold(n, 1, &held)));
        commands.push(ask(MANY + n, 2, &wanted));
        let request = u128::from(MANY + n);
        commands.push(ask_as(request, 10_000, hold(2 * MANY + n, 1, &wanted)));
    }
    let events = steps.all_at(0, commands);
    let leases = grants(&events).into_iter().map(|grant| grant.lease);
    (steps, leases.collect())
}

fn last_held() -> String {
    format!("held {}", MANY - 1)
}

// LOCK-06, LOCK-12
pub fn a_session_ends_in_bounded_steps<M: Machine>() {
    let (mut steps, _) = crowded(Steps::<M>::new());
    let outcome = steps.step(1, vec![Command::EndSession(1)]);
    let mut all = outcome.events;
    assert!(is_behind(outcome.next_deadline, 1));
    all.extend(steps.all_at(1, Vec::new()));
    let leases = (0..MANY).map(|n| ended(n, Ending::Released));
    let asks = (2 * MANY..3 * MANY).map(|n| refused(n, Why::Closed));
    for event in leases.chain(asks).step_by(97) {
        assert!(all.contains(&event), "{event:?} is missing");
    }
    assert_eq!(over(&all) as u64, 2 * MANY);
    let counts = steps.counts(1);
    assert_eq!(
        (counts.leases, counts.waiters, counts.sessions),
        (MANY, 0, 8)
    );
}

// LOCK-06, LOCK-07
pub fn what_a_session_gave_up_is_over_though_no_step_had_room<M: Machine>() {
    let (mut steps, leases) = crowded(Steps::<M>::new());
    let last = leases[leases.len() - 2];
    let second_last = leases[leases.len() - 4];
    let wanted = format!("wanted {}", MANY - 1);
    steps.at(
        0,
        [
            ask(5 * MANY, 3, &last_held()),
            ask(5 * MANY + 1, 4, &wanted),
        ],
    );
    let commands = [
        Command::EndSession(1),
        release(last),
        renew(second_last),
        ask(5 * MANY + 2, 5, &last_held()),
    ];
    let events = steps.at(1, commands);
    assert!(events.contains(&ended(MANY - 1, Ending::Released)));
    assert!(events.contains(&Event::NotHeld { tag: 1 }));
    assert!(events.contains(&Event::NotHeld { tag: 2 }));
    let events = [events, steps.all_at(1, Vec::new())].concat();
    granted(&events, 5 * MANY);
    assert_eq!(grants(&events).len(), 1, "someone was served out of turn");
}

// LOCK-06, LOCK-01
pub fn a_key_of_a_session_that_ended_is_free_at_once<M: Machine>() {
    let (mut steps, _) = crowded(Steps::<M>::new());
    let mut trying = hold(5 * MANY, 3, &last_held());
    trying.wait = Some(0);
    let events = steps.at(1, [Command::EndSession(1), Command::Hold(trying)]);
    granted(&events, 5 * MANY);
    let counts = steps.counts(1);
    assert!(counts.leases > 2 * MANY / 2, "all was swept at once");
}

// LOCK-06
pub fn a_session_that_ended_asks_for_nothing_more<M: Machine>() {
    let (mut steps, _) = crowded(Steps::<M>::new());
    let late = [Command::EndSession(1), ask(5 * MANY, 1, "free")];
    let events = steps.at(1, late);
    assert!(events.contains(&refused(5 * MANY, Why::Closed)));
    let events = steps.at(1, [resume(1, &[], &[])]);
    assert!(events.contains(&Event::NotHeld { tag: 3 }));
    steps.all_at(1, Vec::new());
    let open = Command::OpenSession(OpenSession {
        session: 1,
        ..OpenSession::default()
    });
    granted(&steps.at(1, [open, ask(1, 1, "free")]), 1);
}

// LOCK-06, LOCK-12
pub fn a_store_closes_in_bounded_steps<M: Machine>() {
    let (mut steps, _) = crowded(Steps::<M>::new());
    let outcome = steps.step(1, vec![Command::Close, ask(5 * MANY, 3, "free")]);
    assert!(outcome.events.contains(&refused(5 * MANY, Why::Closed)));
    assert!(is_behind(outcome.next_deadline, 1));
    let rest = steps.all_at(1, Vec::new());
    let all = [outcome.events, rest].concat();
    let closed = |event: &&Event| {
        matches!(
            event,
            Event::Ended {
                how: Ending::Closed,
                ..
            }
        ) || matches!(
            event,
            Event::Refused {
                why: Why::Closed,
                ..
            }
        )
    };
    assert_eq!(all.iter().filter(closed).count() as u64, 3 * MANY + 1);
    assert_eq!(grants(&all), []);
    let counts = steps.counts(1);
    assert_eq!((counts.keys, counts.leases, counts.waiters), (0, 0, 0));
}

// LOCK-06, LOCK-07
pub fn ending_after_closing_does_not_call_a_loss_a_release<M: Machine>() {
    let (mut steps, leases) = crowded(Steps::<M>::new());
    let last = leases[leases.len() - 2];
    let commands = vec![Command::Close, Command::EndSession(1), release(last)];
    let all = steps.all_at(1, commands);
    let told = |how| {
        all.iter().filter(|event| matches!(event, Event::Ended { ticket, how: it } if *ticket < MANY && *it == how)).count()
    };
    assert_eq!(told(Ending::Closed) as u64, MANY);
    assert_eq!(told(Ending::Released), 0);
}

// LOCK-09, LOCK-06, LOCK-12
pub fn a_session_comes_back_in_bounded_steps<M: Machine>() {
    let (mut steps, leases) = crowded(Steps::<M>::remote());
    steps.at(1, [Command::Suspend(1)]);
    let named: Vec<_> = leases.iter().copied().step_by(4).collect();
    let requests: Vec<_> = (0..MANY).step_by(2).map(|n| u128::from(MANY + n)).collect();
    let outcome = steps.step(4_000, vec![resume(1, &named, &requests)]);
    assert!(is_behind(outcome.next_deadline, 4_000));
    let all = [outcome.events, steps.all_at(4_000, Vec::new())].concat();
    assert!(all.contains(&Event::Fine { tag: 3 }));
    assert_eq!(over(&all) as u64, MANY);
    assert!(all.contains(&ended(1, Ending::Released)));
    assert!(all.contains(&refused(2 * MANY + 1, Why::Closed)));
    // Those kept were renewed.
    let events = steps.all_at(13_999, Vec::new());
    assert!(!events.contains(&ended(0, Ending::Expired)));
    let events = steps.all_at(14_000, Vec::new());
    assert!(events.contains(&ended(0, Ending::Expired)));
}

// LOCK-09, LOCK-12, LOCK-01, case L4
pub fn who_gave_up_its_keys_is_served_its_place<M: Machine>() {
    let (mut steps, leases) = crowded(Steps::<M>::remote());
    for late in [9_000, 18_000, 27_000] {
        let renewals = leases.iter().step_by(2).map(|lease| renew(*lease));
        steps.all_at(late, renewals.collect());
    }
    let first_wanted = u128::from(MANY);
    let back = [Command::Suspend(1), resume(1, &[], &[first_wanted])];
    steps.at(29_999, back);
    // The leases of 2 run out while most of what 1 gave up is yet to be ended.
    let events = steps.all_at(30_000, Vec::new());
    granted(&events, 2 * MANY);
    assert_eq!(steps.counts(30_000).leases, 1);
}

// LOCK-09, LOCK-12, case L4
pub fn what_was_given_up_by_coming_back_does_not_count_against_the_bounds<M: Machine>() {
    let (mut steps, _) = crowded(Steps::<M>::remote());
    let wanted = format!("wanted {}", MANY - 1);
    let commands = vec![
        Command::Suspend(1),
        resume(1, &[], &[]),
        ask(5 * MANY, 1, "another"),
        ask(5 * MANY + 1, 1, &wanted),
    ];
    let events = steps.all_at(1, commands);
    granted(&events, 5 * MANY);
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, Event::Refused { ticket, .. } if *ticket > 3 * MANY))
    );
}

// LOCK-09, LOCK-04, case L4
pub fn what_was_given_up_by_coming_back_is_not_in_ones_own_way<M: Machine>() {
    let (mut steps, _) = crowded(Steps::<M>::remote());
    let wanted = format!("wanted {}", MANY - 1);
    let alone = |hold| {
        Command::Hold(Hold {
            alone: true,
            ..hold
        })
    };
    let commands = vec![
        Command::Suspend(1),
        resume(1, &[], &[]),
        alone(hold(5 * MANY, 1, &wanted)),
        alone(hold(5 * MANY + 1, 1, &last_held())),
    ];
    let events = steps.all_at(1, commands);
    granted(&events, 5 * MANY + 1);
    let own = |event: &&Event| {
        matches!(
            event,
            Event::Refused {
                why: Why::HeldByCaller,
                ..
            }
        )
    };
    assert_eq!(events.iter().find(own), None);
}

// LOCK-09, LOCK-01, case D1
pub fn a_place_is_given_up_as_the_key_comes_free<M: Machine>() {
    for lost in [false, true] {
        let mut steps = Steps::<M>::remote();
        let asks = [
            ask_as(1, 5_000, hold(1, 1, "k")),
            ask_as(2, 5_000, hold(2, 2, "k")),
            ask_as(3, 5_000, hold(3, 3, "k")),
            Command::Suspend(2),
        ];
        let lease = granted(&steps.at(0, asks), 1).lease;
        let events = match lost {
            // At one moment the lease runs out, and 2 is not back.
            true => steps.at(5_000, []),
            false => {
                steps.at(4_000, [renew(lease)]);
                steps.at(5_000, [release(lease)])
            }
        };
        let gone = match lost {
            true => ended(2, Ending::Expired),
            false => refused(2, Why::Closed),
        };
        assert!(events.contains(&gone));
        granted(&events, 3);
        assert_eq!(steps.counts(5_000).leases, 1);
    }
}

// LOCK-09, case E3
pub fn a_session_may_come_back_before_it_was_missed<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    let asks = [
        ask_as(1, 10_000, hold(1, 1, "kept")),
        ask_as(2, 10_000, hold(2, 1, "given up")),
        ask(3, 2, "wanted"),
        ask_as(4, 10_000, hold(4, 1, "wanted")),
        ask_as(5, 10_000, hold(5, 3, "wanted")),
    ];
    let kept = granted(&steps.at(0, asks), 1).lease;
    let events = steps.at(1_000, [resume(1, &[kept, kept], &[4, 4, 9])]);
    assert_eq!(events, [Event::Fine { tag: 3 }, ended(2, Ending::Released)]);
    assert_eq!(steps.at(9_999, []), []);
    let events = steps.at(10_000, [Command::EndSession(2)]);
    granted(&events, 4);
    assert_eq!(steps.at(10_999, []), []);
    assert_eq!(steps.at(11_000, []), [ended(1, Ending::Expired)]);
}

// LOCK-09, LOCK-10
pub fn nobody_comes_back_to_anothers_lease<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    let asks = [
        ask_as(7, 10_000, hold(1, 1, "k")),
        ask_as(7, 10_000, hold(2, 2, "l")),
    ];
    let lease = granted(&steps.at(0, asks), 1).lease;
    let events = steps.at(1_000, [resume(2, &[lease], &[])]);
    assert_eq!(events, [Event::Fine { tag: 3 }, ended(2, Ending::Released)]);
    assert_eq!(steps.at(10_000, []), [ended(1, Ending::Expired)]);
}

// LOCK-09
pub fn places_are_given_up_in_bounded_steps<M: Machine>() {
    let (mut steps, _) = crowded(Steps::<M>::remote());
    steps.at(0, [Command::Suspend(1)]);
    let outcome = steps.step(5_000, Vec::new());
    assert!(is_behind(outcome.next_deadline, 5_000));
    let all = [outcome.events, steps.all_at(5_000, Vec::new())].concat();
    assert_eq!(over(&all) as u64, MANY);
    assert_eq!(steps.counts(5_000).waiters, 0);
    assert_eq!(steps.counts(5_000).leases, 2 * MANY);
    steps.all_at(10_000, Vec::new());
    assert_eq!(steps.counts(10_000).sessions, 8);
}

// LOCK-09
pub fn asking_again_is_survived_by_a_session_that_is_gone<M: Machine>() {
    for waits in [false, true] {
        let mut steps = Steps::<M>::remote();
        let mut commands = Vec::new();
        for n in 0..3_000 {
            commands.push(ask_as(n.into(), 1_000, hold(n, 2, &n.to_string())));
        }
        if waits {
            commands.push(ask(4_000, 3, "k"));
        }
        let mut brief = hold(5_000, 1, "k");
        brief.wait = Some(1_000);
        commands.push(ask_as(7, 1_000, brief.clone()));
        commands.push(Command::Suspend(1));
        steps.all_at(0, commands);
        // All it has is over, and with it the session, but that is not told.
        brief.ticket = 5_001;
        let events = steps.at(1_000, [ask_as(7, 1_000, brief)]);
        let told = match waits {
            false => ended(5_000, Ending::Expired),
            true => refused(5_000, Why::InUse),
        };
        assert!(events.contains(&told));
        assert!(events.contains(&refused(5_001, Why::Closed)));
    }
}

// LOCK-06, LOCK-12
pub fn who_is_not_there_is_told_so<M: Machine>() {
    let mut steps = Steps::<M>::new();
    let commands = [
        ask(1, 77, "k"),
        Command::EndSession(77),
        Command::Suspend(77),
        resume(77, &[], &[5]),
        Command::Cancel(77),
    ];
    let events = steps.at(0, commands);
    let told = [refused(1, Why::Closed), Event::NotHeld { tag: 3 }];
    assert_eq!(events, told);
    assert_eq!(steps.counts(0).sessions, 9);
}

// LOCK-06
pub fn opening_a_session_twice_changes_nothing<M: Machine>() {
    let mut steps = Steps::<M>::new();
    let stricter = Command::OpenSession(OpenSession {
        session: 1,
        max_held: Some(0),
        ..OpenSession::default()
    });
    granted(&steps.at(0, [stricter, ask(1, 1, "k")]), 1);
    assert_eq!(steps.counts(0).sessions, 9);
}

// LOCK-04, case L12
pub fn places_in_line_count_as_what_is_held<M: Machine>() {
    let mut steps = Steps::<M>::new();
    let alone = |ticket, session| {
        Command::Hold(Hold {
            alone: true,
            ..hold(ticket, session, "k")
        })
    };
    // A task of 1 waits behind 2; then 1 stands still.
    let events = steps.at(
        0,
        [ask(1, 2, "k"), ask(2, 1, "k"), alone(3, 1), alone(4, 3)],
    );
    assert_eq!(events.len(), 2);
    assert_eq!(events[1], refused(3, Why::HeldByCaller));
    let events = steps.at(0, [Command::Cancel(2), alone(5, 1)]);
    assert_eq!(events, [refused(2, Why::Cancelled)]);
    let lease = granted(&steps.at(0, [Command::EndSession(2)]), 4).lease;
    granted(&steps.at(0, [release(lease)]), 5);
}

// LOCK-04, case L12
pub fn places_in_line_of_a_semaphore_count_with_what_is_held<M: Machine>() {
    let mut steps = Steps::<M>::new();
    let of_three = |ticket, session, alone| {
        Command::Hold(Hold {
            limit: Some(3),
            alone,
            ..hold(ticket, session, "k")
        })
    };
    let asks = [
        of_three(1, 2, false),
        of_three(2, 2, false),
        of_three(3, 1, false),
        of_three(4, 1, false),
    ];
    steps.at(0, asks);
    // One held and one waited for: two of three, so this may wait.
    assert_eq!(steps.at(0, [of_three(5, 1, true)]), []);
    let events = steps.at(0, [of_three(6, 1, true)]);
    assert_eq!(events, [refused(6, Why::HeldByCaller)]);
    let events = steps.at(0, [Command::EndSession(2), of_three(7, 1, true)]);
    assert_eq!(grants(&events).len(), 2);
    assert!(events.contains(&refused(7, Why::HeldByCaller)));
}
