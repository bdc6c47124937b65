//! Every step is bounded, and what is over is over whether or not a step has
//! had room for it.

use std::time::Instant;

use witlock_engine::{Ending, OpenSession, Options};
use witlock_tests::{Command, Event, Hold, Machine, Why};

use crate::steps::*;

/// How many leases are due at one moment where a step's bounds are passed.
const DUE: u64 = 5_000;

// LOCK-12
pub fn a_step_handles_1024_commands<M: Machine>() {
    let mut steps = Steps::<M>::new();
    let counts = |n: u64| (0..n).map(|tag| Command::Count { tag }).collect::<Vec<_>>();
    assert_eq!(steps.step(0, counts(1_024)).handled, 1_024);
    let outcome = steps.step(0, counts(3_000));
    assert_eq!((outcome.handled, outcome.events.len()), (1_024, 1_024));
    assert!(matches!(
        outcome.events[1_023],
        Event::Counted { tag: 1_023, .. }
    ));
}

// LOCK-12, LOCK-06
pub fn a_step_gives_4096_events<M: Machine>() {
    let mut steps = Steps::<M>::new();
    let sessions = 100..1_100;
    let mut commands = Vec::new();
    for session in sessions.clone() {
        let open = OpenSession {
            session,
            ..Default::default()
        };
        commands.push(Command::OpenSession(open));
        for n in 0..10 {
            let ticket = session * 10 + n;
            commands.push(ask(ticket, session, &ticket.to_string()));
        }
    }
    steps.all_at(0, commands);
    let ends: Vec<_> = sessions.map(Command::EndSession).collect();
    let outcome = steps.step(0, ends.clone());
    assert!(outcome.events.len() > 2_000, "a step that does too little");
    assert!(is_behind(outcome.next_deadline, 0));
    let rest = steps.all_at(0, ends[outcome.handled..].to_vec());
    assert_eq!(over(&outcome.events) + over(&rest), 10_000);
    assert_eq!(steps.counts(0).sessions, 9);
}

// LOCK-12
pub fn a_full_step_has_room_to_ask_for_fences<M: Machine>() {
    let mut steps = Steps::<M>::bare();
    let open = |session| {
        Command::OpenSession(OpenSession {
            session,
            ..OpenSession::default()
        })
    };
    // Few enough for the full step to go below half.
    let mut commands = vec![Command::AddFences(1..4_200), open(1), open(2)];
    for n in 0..2_024 {
        let key = n.to_string();
        let mut lease = hold(n, 1, &key);
        lease.options.max_hold = (n < 1_000).then_some(10_000);
        commands.extend([Command::Hold(lease), ask(10_000 + n, 2, &key)]);
    }
    steps.all_at(0, commands);
    // A thousand leases due, and as many broken as commands may be: each goes on.
    let mut breaks = Vec::new();
    for held in holdings(&mut steps) {
        breaks.push(Command::Break {
            tag: 4,
            fence: held.fence,
            place: held.place,
        });
    }
    let outcome = steps.step(10_000, breaks.split_off(1_000));
    assert!(matches!(
        outcome.events.last(),
        Some(Event::FencesLow { .. })
    ));
    assert!((4_090..=4_096).contains(&outcome.events.len()));
    assert!(is_behind(outcome.next_deadline, 10_000));
}

fn holdings<M: Machine>(steps: &mut Steps<M>) -> Vec<witlock_engine::Holding> {
    let mut all = Vec::new();
    let mut next = Some(0);
    while let Some(cursor) = next {
        let list = Command::ListHoldings { tag: 1, cursor };
        let events = steps.at(0, [list]);
        let Some(Event::Holdings { page, .. }) = events.into_iter().next() else {
            panic!("no listing");
        };
        all.extend(page.items);
        next = page.next;
    }
    all
}

// LOCK-12, case I4
pub fn a_step_handles_1000_deadlines<M: Machine>() {
    let mut steps = many_due::<M>(DUE);
    let mut ended = 0;
    for _ in 0..DUE / 1_000 {
        let outcome = steps.step(10_000, Vec::new());
        assert_eq!(over(&outcome.events), 1_000);
        ended += 1_000;
        assert_eq!(is_behind(outcome.next_deadline, 10_000), ended < DUE);
    }
    assert_eq!(steps.counts(10_000).keys, 0);
}

// LOCK-12, case I4
pub fn commands_get_their_turn_while_a_million_leases_are_due<M: Machine>() {
    let many = 1_000_000;
    let mut steps = many_due::<M>(many);
    let began = Instant::now();
    let mut ended = 0;
    let mut ticket = 2 * many;
    while ended < many as usize {
        let other = ask(ticket, 9, &format!("other {ticket}"));
        let events = steps.at(10_000, [other]);
        granted(&events, ticket);
        ended += over(&events);
        ticket += 1;
    }
    // The target is a second, optimised and alone on its machine.
    assert!(
        began.elapsed().as_secs() < 60,
        "a million leases end too slowly"
    );
    assert_eq!(steps.counts(10_000).leases, ticket - 2 * many);
}

/// So many keys, held by as many as it takes, by leases due at 10 s.
fn many_due<M: Machine>(many: u64) -> Steps<M> {
    let mut steps = Steps::<M>::new();
    let mut commands = Vec::new();
    for ticket in 0..many {
        let session = 100 + ticket / 10_000;
        if ticket % 10_000 == 0 {
            commands.push(Command::OpenSession(OpenSession {
                session,
                ..Default::default()
            }));
        }
        commands.push(brief(ticket, session));
        if commands.len() > 1_000 {
            steps.at(0, std::mem::take(&mut commands));
        }
    }
    steps.at(0, commands);
    assert_eq!(steps.counts(0).leases, many);
    steps
}

/// An ask of a key of its own, to be held for 10 s at most.
fn brief(ticket: u64, session: u64) -> Command {
    Command::Hold(Hold {
        options: Options {
            max_hold: Some(10_000),
            ..Options::default()
        },
        ..hold(ticket, session, &ticket.to_string())
    })
}

/// The last key that [`many_due`] leases are of, which a step ends last.
fn last() -> String {
    (DUE - 1).to_string()
}

// LOCK-05, LOCK-03, case L7
pub fn what_is_due_is_over_though_no_step_had_room<M: Machine>() {
    let mut steps = many_due::<M>(DUE);
    let again = steps.at(10_000, [ask(DUE, 2, &last())]);
    assert!(again.contains(&ended(DUE - 1, Ending::Revoked)));
    granted(&again, DUE);
    assert!(is_behind(
        steps.step(10_000, Vec::new()).next_deadline,
        10_000
    ));
}

// LOCK-05, LOCK-07, case L7
pub fn a_lease_that_is_due_is_not_released_renewed_or_broken<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    let asks =
        (0..DUE).map(|ticket| ask_as(ticket.into(), 10_000, hold(ticket, 1, &ticket.to_string())));
    let events = steps.all_at(0, asks.collect());
    let [one, two, three] = [1, 2, 3].map(|n| granted(&events, DUE - n).lease);
    let held = steps.at(
        0,
        [Command::ListHoldings {
            tag: 7,
            cursor: DUE - 3,
        }],
    );
    let Event::Holdings { page, .. } = &held[0] else {
        panic!("no listing: {held:?}");
    };
    let place = page.items[0].place;
    let broken = Command::Break {
        tag: 4,
        fence: three.fence,
        place,
    };
    let events = steps.at(10_000, [release(one), renew(two), broken]);
    for (ticket, tag) in [(DUE - 1, 1), (DUE - 2, 2), (DUE - 3, 4)] {
        let at = events
            .iter()
            .position(|event| *event == ended(ticket, Ending::Expired));
        let at = at.expect("the lease's end");
        assert_eq!(events[at + 1], Event::NotHeld { tag });
    }
    assert!(is_behind(
        steps.step(10_000, Vec::new()).next_deadline,
        10_000
    ));
}

// LOCK-09, case A12, case L7
pub fn asking_again_for_a_lease_that_is_due_is_a_new_ask<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    let asks =
        (0..DUE).map(|ticket| ask_as(ticket.into(), 10_000, hold(ticket, 1, &ticket.to_string())));
    let events = steps.all_at(0, asks.collect());
    let before = granted(&events, DUE - 1).lease.fence;
    let again = ask_as((DUE - 1).into(), 10_000, hold(DUE, 1, &last()));
    let events = steps.at(10_000, [again]);
    assert!(events.contains(&ended(DUE - 1, Ending::Expired)));
    assert!(granted(&events, DUE).lease.fence > before);
}

// LOCK-04, case L7
pub fn who_stands_still_is_not_in_its_own_way_by_what_is_due<M: Machine>() {
    let mut steps = many_due::<M>(DUE);
    let again = Command::Hold(Hold {
        alone: true,
        ..hold(DUE, 100, &last())
    });
    granted(&steps.at(10_000, [again]), DUE);
}

// LOCK-01, case L8
pub fn a_key_whose_lease_is_due_goes_to_who_waits_first<M: Machine>() {
    let mut steps = many_due::<M>(DUE);
    steps.at(0, [ask(DUE, 2, &last()), ask(DUE + 1, 3, &last())]);
    let events = steps.at(10_000, [ask(DUE + 2, 4, &last())]);
    granted(&events, DUE);
    assert_eq!(grants(&events).len(), 1);
    let events = steps.all_at(10_000, Vec::new());
    assert_eq!(grants(&events).len(), 0);
    assert_eq!(steps.counts(10_000).waiters, 2);
}

// LOCK-11
pub fn what_is_due_ends_in_the_order_of_its_deadlines<M: Machine>() {
    let mut steps = Steps::<M>::new();
    let mut commands = Vec::new();
    for ticket in 0..500_u32 {
        let mut late = hold(ticket.into(), 1, &ticket.to_string());
        late.options.max_hold = Some(1_000 + ticket * 7_919 % 500);
        commands.push(Command::Hold(late));
    }
    steps.at(0, commands);
    let events = steps.at(60_000, []);
    let order = events.iter().map(|event| match event {
        Event::Ended { ticket, .. } => ticket * 7_919 % 500,
        other => panic!("{other:?}"),
    });
    assert!(order.eq(0..500));
}

// LOCK-12, case L13
pub fn a_step_lists_once_and_at_most_256<M: Machine>() {
    let mut steps = Steps::<M>::new();
    let asks = (0..600).map(|n| ask(n, 1, &n.to_string()));
    steps.at(0, asks);
    let list = Command::ListHoldings { tag: 1, cursor: 0 };
    let line = Command::ListWaiters {
        tag: 2,
        cursor: (0, 0),
    };
    let count = Command::Count { tag: 3 };
    let outcome = steps.step(0, vec![list.clone(), count, line, list]);
    assert_eq!(outcome.handled, 2);
    let Event::Holdings { page, .. } = &outcome.events[0] else {
        panic!("no listing: {:?}", outcome.events[0]);
    };
    assert_eq!(page.items.len(), 256);
    assert!(page.next.is_some());
}

// LOCK-12, case L13
pub fn a_listing_passes_over_empty_places_in_bounded_steps<M: Machine>() {
    let mut steps = Steps::<M>::new();
    let open = (0..2).map(|n| {
        Command::OpenSession(OpenSession {
            session: 100 + n,
            max_held: Some(100_000),
            ..Default::default()
        })
    });
    steps.at(0, open);
    let asks = (0..50_000).map(|n| ask(n, 100, &n.to_string()));
    steps.all_at(0, asks.collect());
    steps.at(0, [ask(50_000, 101, "last")]);
    steps.all_at(0, vec![Command::EndSession(100)]);
    let (mut cursor, mut pages, mut found) = (Some(0), 0, 0);
    while let Some(at) = cursor {
        let events = steps.at(0, [Command::ListHoldings { tag: 1, cursor: at }]);
        let Event::Holdings { page, .. } = &events[0] else {
            panic!("no listing: {events:?}");
        };
        (pages, found) = (pages + 1, found + page.items.len());
        cursor = page.next;
    }
    assert_eq!(found, 1);
    assert!(pages > 10, "one step passed over 50 000 places");
    for cursor in [u64::MAX, u64::from(u32::MAX), u64::from(u32::MAX) + 1] {
        let lists = [Command::ListHoldings { tag: 1, cursor }];
        let events = steps.at(0, lists);
        assert!(matches!(&events[0], Event::Holdings { page, .. } if page.next.is_none()));
        let lists = [Command::ListWaiters {
            tag: 1,
            cursor: (cursor, cursor),
        }];
        let events = steps.at(0, lists);
        assert!(matches!(&events[0], Event::Waiters { page, .. } if page.next.is_none()));
    }
}

// LOCK-12, LOCK-01
pub fn a_long_line_is_refused_in_bounded_steps<M: Machine>() {
    let mut steps = Steps::<M>::new();
    let mut commands = vec![ask(0, 1, "k")];
    for ticket in 1..=10_000 {
        let mut short = hold(ticket, 2, "k");
        short.wait = Some(1_000);
        commands.push(Command::Hold(short));
    }
    steps.all_at(0, commands);
    let outcome = steps.step(1_000, Vec::new());
    assert_eq!(over(&outcome.events), 1_000);
    assert!(is_behind(outcome.next_deadline, 1_000));
    let rest = steps.all_at(1_000, Vec::new());
    assert_eq!(over(&rest), 9_000);
    assert_eq!(rest[0], refused(1_001, Why::InUse));
}

// LOCK-12, LOCK-01
pub fn a_line_left_for_want_of_room_keeps_its_order<M: Machine>() {
    let mut steps = Steps::<M>::new();
    let pool = |ticket, session| {
        Command::Hold(Hold {
            limit: Some(1_000),
            ..hold(ticket, session, "k")
        })
    };
    let mut commands: Vec<_> = (0..1_000).map(|ticket| pool(ticket, 1)).collect();
    commands.extend((1_000..5_000).map(|ticket| pool(ticket, 2)));
    // A thousand leases that end first, and fill the step's events.
    commands.extend((10_000..13_000).map(|ticket| ask(ticket, 3, &ticket.to_string())));
    steps.all_at(0, commands);
    let ends = vec![
        Command::EndSession(3),
        Command::EndSession(1),
        pool(5_000, 4),
    ];
    let events = steps.all_at(0, ends);
    let served: Vec<_> = grants(&events).iter().map(|grant| grant.ticket).collect();
    assert!(served.into_iter().eq(1_000..2_000));
    assert_eq!(steps.counts(0).waiters, 3_001);
}
