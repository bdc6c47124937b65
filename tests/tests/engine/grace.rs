//! The grace: after a restart no key is given while a lease from before may be
//! live.

use witlock_engine::Ending;
use witlock_tests::{Command, Event, Hold, Machine, Why};

use crate::steps::*;

fn grace(ms: u64) -> Command {
    Command::Grace(ms * 1_000_000)
}

fn waits(ticket: u64, key: &str, wait: u32) -> Command {
    Command::Hold(Hold {
        wait: Some(wait),
        ..hold(ticket, 1, key)
    })
}

fn next<M: Machine>(steps: &mut Steps<M>, ms: u64) -> Option<u64> {
    steps.step(ms, Vec::new()).next_deadline
}

// LOCK-08, case G7, case E7, case L3
pub fn no_key_is_given_before_the_grace_is_over<M: Machine>() {
    let mut steps = Steps::<M>::new();
    assert_eq!(steps.at(0, [grace(30_000)]), []);
    assert_eq!(next(&mut steps, 0), Some(30_000 * 1_000_000));
    assert_eq!(steps.at(0, [ask(1, 1, "k"), ask(2, 2, "l")]), []);
    assert_eq!(
        steps.at(0, [waits(3, "m", 0), waits(4, "k", 0)]),
        [refused(3, Why::InUse), refused(4, Why::InUse)]
    );
    let counts = steps.counts(0);
    assert_eq!((counts.keys, counts.waiters, counts.leases), (2, 2, 0));
    assert_eq!(
        steps.at(29_999, [waits(5, "m", 0)]),
        [refused(5, Why::InUse)]
    );
    let events = steps.at(30_000, [waits(6, "m", 0)]);
    let given: Vec<_> = grants(&events).iter().map(|it| it.ticket).collect();
    assert_eq!(given, [1, 2, 6]);
}

// LOCK-01, case D1, case G7: in the order in which they came, as many as fit.
pub fn a_line_of_the_grace_keeps_its_order<M: Machine>() {
    let mut steps = Steps::<M>::new();
    let pooled = |ticket, session| {
        Command::Hold(Hold {
            limit: Some(2),
            ..hold(ticket, session, "pool")
        })
    };
    let asks = [pooled(1, 1), pooled(2, 2), pooled(3, 3), pooled(4, 4)];
    steps.at(0, [grace(5_000)].into_iter().chain(asks));
    assert_eq!(
        steps.at(1_000, [Command::Cancel(1)]),
        [refused(1, Why::Cancelled)]
    );
    let events = steps.at(5_000, []);
    assert_eq!(grants(&events).len(), 2);
    let lease = granted(&events, 2).lease;
    granted(&events, 3);
    granted(&steps.at(5_000, [release(lease), pooled(5, 5)]), 4);
}

// LOCK-12, LOCK-13: and nothing is kept of who left.
pub fn a_wait_runs_out_in_the_grace_as_behind_a_holder<M: Machine>() {
    let mut steps = Steps::<M>::new();
    let asks = [waits(1, "k", 4_999), waits(2, "k", 5_000), waits(3, "l", 1)];
    steps.at(0, [grace(5_000)].into_iter().chain(asks));
    assert_eq!(steps.at(1, []), [refused(3, Why::InUse)]);
    assert_eq!(steps.counts(1).keys, 1);
    assert_eq!(steps.at(4_999, []), [refused(1, Why::InUse)]);
    // The grace is over before a wait that ends at its moment.
    granted(&steps.at(5_000, []), 2);

    let mut late = Steps::<M>::new();
    let asks = [
        waits(1, "k", 4_999),
        waits(2, "k", 5_000),
        waits(3, "k", 6_000),
    ];
    late.at(0, [grace(5_000)].into_iter().chain(asks));
    let events = late.at(9_000, []);
    assert_eq!(events[0], refused(1, Why::InUse));
    granted(&events, 2);
    assert_eq!(events[2..], [refused(3, Why::InUse)]);
}

// LOCK-12
pub fn the_latest_grace_counts<M: Machine>() {
    let mut steps = Steps::<M>::new();
    steps.at(0, [grace(5_000), grace(3_000), ask(1, 1, "k")]);
    assert_eq!(steps.at(2_999, []), []);
    granted(&steps.at(3_000, []), 1);
    steps.at(3_000, [grace(9_000), ask(2, 1, "l"), waits(3, "l", 1_000)]);
    assert_eq!(steps.at(4_000, [grace(7_000)]), [refused(3, Why::InUse)]);
    assert_eq!(next(&mut steps, 4_000), Some(7_000 * 1_000_000));
    assert_eq!(steps.at(6_999, []), []);
    // One that is past ends it.
    granted(&steps.at(6_999, [grace(6_999)]), 2);
    assert_eq!(steps.at(7_000, [grace(1)]), []);
}

// LOCK-11
pub fn a_grace_till_the_end_of_time_is_survived<M: Machine>() {
    let mut steps = Steps::<M>::new();
    steps.at(0, [Command::Grace(u64::MAX)]);
    assert_eq!(next(&mut steps, 0), None);
    assert_eq!(steps.at(9_000, [waits(1, "k", 1)]), []);
    assert_eq!(steps.at(9_001, []), [refused(1, Why::InUse)]);
    let commands = vec![waits(2, "k", 0)];
    let outcome = steps.machine.step(u64::MAX, commands);
    granted(&outcome.events, 2);
}

// LOCK-10, LOCK-05: what is held goes on, and is not given on.
pub fn what_is_held_in_the_grace_is_renewed_and_released<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    let asks = [
        ask_as(1, 10_000, hold(1, 1, "k")),
        ask_as(2, 10_000, hold(2, 1, "l")),
        ask_as(3, 2_000, hold(3, 1, "m")),
        ask(4, 2, "k"),
        ask(5, 2, "m"),
    ];
    let events = steps.at(0, asks);
    let (released, renewed) = (granted(&events, 1).lease, granted(&events, 2).lease);
    steps.at(1_000, [grace(5_000)]);
    assert_eq!(steps.at(1_000, [renew(renewed)]).len(), 1);
    // Asked again, the lease is told again.
    granted(&steps.at(1_000, [ask_as(2, 10_000, hold(6, 1, "l"))]), 6);
    let events = steps.at(1_500, [release(released)]);
    assert_eq!(events, [ended(1, Ending::Released)]);
    assert_eq!(steps.at(2_000, []), [ended(3, Ending::Expired)]);
    let events = steps.at(5_000, []);
    granted(&events, 4);
    granted(&events, 5);
}

// LOCK-02, case A13: who waits for a fence as a grace begins stands in line, and
// is told of no fence that fails meanwhile.
pub fn fences_come_and_fail_in_the_grace<M: Machine>() {
    let mut steps = Steps::<M>::bare();
    let open = Command::OpenSession(witlock_engine::OpenSession {
        session: 1,
        ..Default::default()
    });
    let low = [Event::FencesLow { left: 0 }];
    assert_eq!(steps.at(0, [open, ask(1, 1, "k")]), low);
    assert_eq!(steps.at(0, [grace(5_000), ask(2, 1, "l")]), []);
    let failed = || Command::FencesFailed("the disk is full".into());
    assert_eq!(
        steps.at(1_000, [failed(), waits(3, "m", 0)]),
        [refused(3, Why::InUse)]
    );
    assert_eq!(steps.counts(1_000).waiters, 2);
    // They want one from now on.
    assert_eq!(steps.at(5_000, []), low);
    let events = steps.at(5_000, [Command::AddFences(1..2)]);
    granted(&events, 1);
    let why = Why::Unavailable("the disk is full".into());
    assert_eq!(steps.at(5_000, [failed()])[0], refused(2, why));

    assert_eq!(
        steps.at(5_000, [grace(9_000), waits(4, "m", 2_000), ask(5, 1, "n")]),
        []
    );
    assert_eq!(steps.at(7_000, []), [refused(4, Why::InUse)]);
    assert_eq!(steps.at(7_000, [Command::AddFences(2..9)]), []);
    granted(&steps.at(9_000, []), 5);
}

// LOCK-12: the bound of keys held is looked at as the key is given.
pub fn the_bounds_of_a_holder_hold_in_the_grace<M: Machine>() {
    let mut steps = Steps::<M>::new();
    let open = Command::OpenSession(witlock_engine::OpenSession {
        session: 20,
        max_held: Some(1),
        max_waiting: Some(2),
        ..Default::default()
    });
    steps.at(0, [grace(5_000), open]);
    let asks = [ask(1, 20, "k"), ask(2, 20, "l"), ask(3, 20, "m")];
    let events = steps.at(0, asks);
    assert!(matches!(
        events[..],
        [Event::Refused {
            ticket: 3,
            why: Why::TooMany(_)
        }]
    ));
    let events = steps.at(5_000, []);
    granted(&events, 1);
    assert!(matches!(
        events[1..],
        [Event::Refused {
            ticket: 2,
            why: Why::TooMany(_)
        }]
    ));
}

// LOCK-09: a place of the grace is asked for again, and given up.
pub fn sessions_come_and_go_in_the_grace<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    let commands = [
        grace(30_000),
        ask_as(1, 10_000, hold(1, 1, "k")),
        ask(2, 2, "k"),
        ask(3, 3, "k"),
        Command::Suspend(2),
    ];
    steps.at(0, commands);
    let again = steps.at(1_000, [ask_as(1, 10_000, hold(4, 1, "k"))]);
    assert_eq!(again, [Event::Superseded(1)]);
    assert_eq!(steps.at(5_000, []), [refused(2, Why::Closed)]);
    assert_eq!(
        steps.at(6_000, [Command::EndSession(1)]),
        [refused(4, Why::Closed)]
    );
    granted(&steps.at(30_000, []), 3);
}

// LOCK-06
pub fn closing_in_the_grace_answers_everyone<M: Machine>() {
    let mut steps = Steps::<M>::new();
    steps.at(0, [grace(5_000), ask(1, 1, "k"), ask(2, 2, "l")]);
    let events = steps.all_at(1, vec![Command::Close, ask(3, 1, "m")]);
    for ticket in 1..4 {
        assert!(events.contains(&refused(ticket, Why::Closed)));
    }
    assert_eq!(steps.counts(1).keys, 0);
    assert_eq!(steps.all_at(5_000, Vec::new()), []);
}

// LOCK-12
pub fn lines_of_the_grace_are_served_in_bounded_steps<M: Machine>() {
    const MANY: u64 = 8_000;
    let mut steps = Steps::<M>::new();
    let asks = (0..MANY).map(|n| ask(n, n % 9 + 1, &n.to_string()));
    let commands = [grace(5_000)].into_iter().chain(asks);
    steps.all_at(0, commands.collect());
    assert_eq!(next(&mut steps, 4_999), Some(5_000 * 1_000_000));
    let outcome = steps.step(5_000, vec![ask(MANY, 1, "free"), ask(MANY + 1, 1, "7999")]);
    assert!(is_behind(outcome.next_deadline, 5_000));
    // Commands get their turn meanwhile, and nobody barges in.
    granted(&outcome.events, MANY);
    let all = [outcome.events, steps.all_at(5_000, Vec::new())].concat();
    let served = grants(&all).into_iter().map(|it| it.ticket);
    assert!(served.filter(|ticket| *ticket != MANY).eq(0..MANY));
    assert_eq!(steps.counts(5_000).waiters, 1);
}

// LOCK-12: a command does not find a grace that is over, though no step had room
// for all the waits that ran out before its end.
pub fn a_grace_is_over_though_no_step_had_room<M: Machine>() {
    let mut steps = Steps::<M>::new();
    let asks = (0..8_000).map(|n| waits(n, &n.to_string(), 1_000));
    let commands = [grace(5_000)].into_iter().chain(asks);
    steps.all_at(0, commands.collect());
    let outcome = steps.step(5_000, vec![waits(9_000, "free", 0)]);
    granted(&outcome.events, 9_000);
    let all = [outcome.events, steps.all_at(5_000, Vec::new())].concat();
    assert_eq!(grants(&all).len(), 1);
    assert_eq!(over(&all), 8_000);
    assert_eq!(steps.counts(5_000).keys, 1);
}
