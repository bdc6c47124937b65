//! The same seed and the same steps give the same events, wherever the engine
//! runs.

use witlock_engine::{OpenSession, Options, Seed};
use witlock_tests::{Command, Machine, Native, Outcome};

use crate::steps::*;

const STEPS: usize = 2_000;

// LOCK-01, LOCK-02
pub fn the_same_steps_give_the_same_events<M: Machine>() {
    let history = history(17);
    let native = outcomes::<Native>(&history, Seed { low: 1, high: 2 });
    let first = outcomes::<M>(&history, Seed { low: 1, high: 2 });
    assert_eq!(native.len(), STEPS);
    for (at, (native, first)) in native.iter().zip(&first).enumerate() {
        assert_eq!(native, first, "step {at}");
    }
}

// LOCK-10
pub fn another_seed_changes_nothing_but_the_secrets<M: Machine>() {
    let history = history(18);
    let one = outcomes::<M>(&history, Seed { low: 1, high: 2 });
    let other = outcomes::<M>(&history, Seed { low: 3, high: 4 });
    for (one, other) in one.iter().zip(&other) {
        let grants = grants(&one.events).into_iter().zip(grants(&other.events));
        for (one, other) in grants {
            assert_eq!(
                (one.ticket, one.lease.fence),
                (other.ticket, other.lease.fence)
            );
            assert_ne!(one.lease.secret, other.lease.secret);
        }
        assert_eq!(one.events.len(), other.events.len());
        assert_eq!(one.next_deadline, other.next_deadline);
    }
}

fn outcomes<M: Machine>(history: &[(u64, Vec<Command>)], seed: Seed) -> Vec<Outcome> {
    let mut machine = M::start(seed);
    let steps = history.iter().cloned();
    steps
        .map(|(now, commands)| machine.step(now, commands))
        .collect()
}

/// Steps with everything in them that needs no lease's id.
fn history(seed: u64) -> Vec<(u64, Vec<Command>)> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut now = 0;
    let mut ticket = 0;
    (0..STEPS)
        .map(|_| {
            now += random.u64(0..2_000_000_000);
            let some = random.usize(0..20);
            let commands = (0..some).map(|_| command(&mut random, &mut ticket));
            (now, commands.collect())
        })
        .collect()
}

fn command(random: &mut fastrand::Rng, ticket: &mut u64) -> Command {
    let session = random.u64(0..10);
    let tag = random.u64(..);
    match random.u32(0..100) {
        0..10 => Command::OpenSession(OpenSession {
            session,
            remote: random.bool(),
            ..OpenSession::default()
        }),
        10..13 => Command::EndSession(session),
        13..16 => Command::Suspend(session),
        16..18 => resume(session, &[], &[random.u128(0..50)]),
        18..30 => Command::Cancel(random.u64(0..=*ticket)),
        30..33 => Command::ListHoldings {
            tag,
            cursor: random.u64(0..50),
        },
        33..36 => Command::ListWaiters {
            tag,
            cursor: (random.u64(0..9), 0),
        },
        36..40 => Command::Count { tag },
        40..45 => {
            let first = random.u64(0..1_000_000);
            Command::AddFences(first..first + random.u64(0..1_000))
        }
        45..47 => Command::FencesFailed("no fences".into()),
        47 => Command::Grace(random.u64(0..20_000_000_000)),
        48..50 => Command::Break {
            tag,
            fence: random.u64(0..1_000),
            place: random.u32(0..9),
        },
        _ => {
            *ticket += 1;
            ask_anything(random, *ticket, session)
        }
    }
}

fn ask_anything(random: &mut fastrand::Rng, ticket: u64, session: u64) -> Command {
    let mut ask = hold(ticket, session, &random.u32(0..6).to_string());
    ask.limit = random.bool().then(|| random.u32(0..4));
    ask.wait = random.bool().then(|| random.u32(0..20_000));
    ask.alone = random.bool();
    ask.request = random.bool().then(|| random.u128(0..50));
    ask.options = Options {
        ttl: random.bool().then(|| random.u32(900..20_000)),
        max_hold: random.bool().then(|| random.u32(0..20_000)),
        label: random.bool().then(|| "é".repeat(random.usize(0..70))),
    };
    Command::Hold(ask)
}
