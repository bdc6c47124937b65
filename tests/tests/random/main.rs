//! Random commands, beside a model that is plain enough to be right. A failure
//! names its seed; `WITLOCK_SEED=n` runs that one alone.

#![allow(clippy::expect_used)] // tests

mod model;

use std::collections::HashMap;

use model::{Happened, Model, REMOTE};
use witlock_engine::{Command, Hold, LeaseId, OpenSession, Options, Seed};
use witlock_tests::{Event, Machine, Native, Outcome};

const SEEDS: u64 = 300;
const STEPS: usize = 400;
const SESSIONS: u64 = 8;

// LOCK-01, LOCK-02, LOCK-03, LOCK-04, LOCK-05, LOCK-06, LOCK-10, LOCK-13
#[test]
fn the_engine_does_as_the_model() {
    let only = std::env::var("WITLOCK_SEED").ok();
    let only = only.map(|seed| seed.parse().expect("WITLOCK_SEED is a number"));
    let seeds = only.map_or(0..SEEDS, |seed| seed..seed + 1);
    let mut granted = 0;
    for seed in seeds {
        let _named = Named(seed);
        let mut run = Run::new(seed);
        (0..STEPS).for_each(|_| run.step());
        run.end();
        granted += run.leases.len();
        assert!(run.leases.len() > STEPS / 4, "too little was done");
    }
    println!("{granted} leases");
}

/// Says which seed it was.
struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("again with: WITLOCK_SEED={}", self.0);
        }
    }
}

struct Run {
    random: fastrand::Rng,
    engine: Native,
    model: Model,
    leases: HashMap<u64, LeaseId>,
    tickets: u64,
    last_fence: u64,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut engine = Native::start(Seed { low: seed, high: 0 });
        let mut commands = vec![Command::AddFences(1..1 << 40)];
        commands.extend((0..SESSIONS).map(open));
        engine.step(0, commands);
        Run {
            random: fastrand::Rng::with_seed(seed),
            engine,
            model: Model::default(),
            leases: HashMap::new(),
            tickets: 0,
            last_fence: 0,
        }
    }

    /// One step of both, late at times, with a few commands.
    fn step(&mut self) {
        let now = match (self.random.u32(0..10), self.model.next()) {
            (0..3, _) => self.model.now,
            (3..7, Some((at, ..))) => at.max(self.model.now),
            _ => self.model.now + self.random.u64(0..3_000_000_000),
        };
        self.model.move_to(now);
        let some = self.random.usize(0..6);
        let commands = (0..some).flat_map(|_| self.command()).collect();
        self.check(now, commands);
    }

    /// Everybody leaves, and nothing is kept.
    fn end(&mut self) {
        (0..SESSIONS).for_each(|session| self.model.end_session(session));
        let ends = (0..SESSIONS).map(Command::EndSession).collect();
        self.check(self.model.now, ends);
        let counts = self
            .engine
            .step(self.model.now, vec![Command::Count { tag: 0 }]);
        let Some(Event::Counted { counts, .. }) = counts.events.first() else {
            panic!("a count was answered by {counts:?}");
        };
        let kept = (counts.keys, counts.leases, counts.waiters, counts.sessions);
        assert_eq!(kept, (0, 0, 0, 0));
    }

    /// A command for the engine, done to the model. Both know only tickets that
    /// were given before this step.
    fn command(&mut self) -> Vec<Command> {
        let ticket = self.random.u64(0..=self.tickets);
        let lease = self.leases.get(&ticket).copied();
        match (self.random.u32(0..100), lease) {
            (0..50, _) => {
                let hold = self.some_hold();
                self.model.hold(hold.clone());
                vec![Command::Hold(hold)]
            }
            (50..65, _) => {
                let ticket = self.one_of_those(|model| &model.line).unwrap_or(ticket);
                self.model.cancel(ticket);
                vec![Command::Cancel(ticket)]
            }
            (65..85, _) => self.release(),
            (85..97, Some(lease)) => {
                self.model.renew(ticket);
                vec![Command::Renew { tag: 0, lease }]
            }
            (97.., _) => {
                let session = self.random.u64(0..SESSIONS);
                self.model.end_session(session);
                vec![Command::EndSession(session), open(session)]
            }
            _ => Vec::new(),
        }
    }

    /// Mostly of what is held, at times of what was.
    fn release(&mut self) -> Vec<Command> {
        let held = self.one_of_those(|model| &model.held);
        let ticket = held.filter(|_| self.random.u32(0..5) > 0);
        let ticket = ticket.unwrap_or_else(|| self.random.u64(0..=self.tickets));
        let Some(lease) = self.leases.get(&ticket).copied() else {
            return Vec::new();
        };
        self.model.release(ticket);
        vec![Command::Release { tag: 0, lease }]
    }

    fn one_of_those(&mut self, those: impl Fn(&Model) -> &Vec<model::Entry>) -> Option<u64> {
        let those = those(&self.model);
        self.random.choice(those).map(|entry| entry.hold.ticket)
    }

    fn some_hold(&mut self) -> Hold {
        self.tickets += 1;
        let random = &mut self.random;
        Hold {
            ticket: self.tickets,
            session: random.u64(0..SESSIONS),
            name: "jobs".into(),
            limit: random.bool().then(|| random.u32(1..4)),
            key: random.u32(0..4).to_string(),
            wait: Some(random.u32(0..6) * 1_000),
            options: Options {
                ttl: Some(random.u32(1..6) * 1_000),
                max_hold: random.bool().then(|| random.u32(1..6) * 1_000),
                label: None,
            },
            request: None,
            alone: random.bool(),
        }
    }

    fn check(&mut self, now: u64, commands: Vec<Command>) {
        let given = commands.len();
        let outcome = self.engine.step(now, commands);
        assert_eq!(outcome.handled, given);
        self.note_leases(&outcome);
        let expected = std::mem::take(&mut self.model.happened);
        let happened: Vec<_> = outcome.events.iter().map(happened).collect();
        assert_eq!(happened, expected);
        let next = self.model.next().map(|due| due.0);
        assert_eq!(outcome.next_deadline, next);
    }

    fn note_leases(&mut self, outcome: &Outcome) {
        for event in &outcome.events {
            if let Event::Granted(grant) = event {
                assert!(grant.lease.fence > self.last_fence);
                self.last_fence = grant.lease.fence;
                self.leases.insert(grant.ticket, grant.lease);
            }
        }
    }
}

fn open(session: u64) -> Command {
    Command::OpenSession(OpenSession {
        session,
        remote: session < REMOTE,
        ..OpenSession::default()
    })
}

fn happened(event: &Event) -> Happened {
    let moment = |at: Option<u64>| at.unwrap_or(u64::MAX);
    match event {
        Event::Granted(grant) => Happened::Granted {
            ticket: grant.ticket,
            fence: grant.lease.fence,
            until: moment(grant.expires).min(moment(grant.revoked)),
        },
        Event::Refused { ticket, why } => Happened::Refused(*ticket, why.clone()),
        Event::Ended { ticket, how } => Happened::Ended(*ticket, *how),
        Event::Renewed { deadline, .. } => Happened::Renewed(moment(*deadline)),
        Event::NotHeld { .. } => Happened::NotHeld,
        other => panic!("{other:?}"),
    }
}
