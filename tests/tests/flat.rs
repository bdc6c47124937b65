//! LOCK-13, as the system sees it: the memory of `engine.wasm`, which never
//! shrinks, grows to what is held at once, and then no more, however many keys
//! come and go.

#![allow(clippy::expect_used)] // tests

use witlock_engine::bounds::KEY_BYTES;
use witlock_engine::{Counts, LeaseId, OpenSession, Options, Seed};
use witlock_tests::{Command, Event, Hold, Machine, Wasm, watchdog};

/// Distinct keys of each kind in a round: a million of each in all.
const KEYS: u64 = 100_000;

const ROUNDS: usize = 10;

/// Commands of one step, few enough that their events have room.
const BATCH: u64 = 500;

/// Longer than a second, the shortest ttl.
const SECOND: u64 = 1_000_000_000;

const LOCAL: u64 = 1;
const OTHER: u64 = 2;
const REMOTE: u64 = 3;

struct Store {
    engine: Wasm,
    now: u64,
    /// Distinct from all keys before.
    keys: u64,
}

impl Store {
    fn new() -> Self {
        let mut engine = Wasm::start(Seed { low: 1, high: 2 });
        let mut start = vec![Command::AddFences(1..1 << 50)];
        start.extend([LOCAL, OTHER, REMOTE].map(|session| {
            Command::OpenSession(OpenSession {
                session,
                remote: session == REMOTE,
                max_held: Some(u32::MAX),
                max_waiting: Some(u32::MAX),
            })
        }));
        engine.step(0, start);
        Store {
            engine,
            now: 0,
            keys: 0,
        }
    }

    /// As many commands as there are keys in a round, and their events.
    fn all(&mut self, command: impl Fn(u64) -> Command) -> Vec<Event> {
        let mut events = Vec::new();
        for first in (0..KEYS).step_by(BATCH as usize) {
            let batch = first..(first + BATCH).min(KEYS);
            let commands: Vec<_> = batch.map(|n| command(self.keys + n)).collect();
            let given = commands.len();
            let outcome = self.engine.step(self.now, commands);
            assert_eq!(outcome.handled, given);
            events.extend(outcome.events);
        }
        events
    }

    fn hold_all(&mut self, session: u64) -> Vec<LeaseId> {
        let granted = |event| match event {
            Event::Granted(grant) => grant.lease,
            other => panic!("a free key is given: {other:?}"),
        };
        let events = self.all(|n| hold(session, n, None));
        events.into_iter().map(granted).collect()
    }

    fn release_all(&mut self, leases: &[LeaseId]) {
        let first = self.keys;
        let events = self.all(|n| Command::Release {
            tag: 0,
            lease: leases[(n - first) as usize],
        });
        assert_eq!(events.len(), leases.len());
        self.keys += KEYS;
    }

    fn released(&mut self) {
        let leases = self.hold_all(LOCAL);
        self.release_all(&leases);
    }

    fn expired(&mut self) {
        self.hold_all(REMOTE);
        self.now += 30 * SECOND;
        while self.engine.step(self.now, Vec::new()).next_deadline == Some(self.now) {}
        self.keys += KEYS;
    }

    fn cancelled(&mut self) {
        let leases = self.hold_all(LOCAL);
        let waiting = self.all(|n| hold(OTHER, n, None));
        assert_eq!(waiting.len(), 0);
        assert_eq!(self.counts().waiters, KEYS);
        let refused = self.all(|n| Command::Cancel(ticket(OTHER, n)));
        assert_eq!(refused.len() as u64, KEYS);
        self.release_all(&leases);
    }

    fn refused(&mut self) {
        let leases = self.hold_all(LOCAL);
        let in_use = self.all(|n| hold(OTHER, n, Some(0)));
        let invalid = self.all(|n| too_long(OTHER, n));
        for event in in_use.iter().chain(&invalid) {
            assert!(matches!(event, Event::Refused { .. }), "{event:?}");
        }
        self.release_all(&leases);
    }

    fn counts(&mut self) -> Counts {
        let outcome = self.engine.step(self.now, vec![Command::Count { tag: 0 }]);
        match outcome.events[..] {
            [Event::Counted { counts, .. }] => counts,
            ref other => panic!("a count gave {other:?}"),
        }
    }
}

fn ticket(session: u64, n: u64) -> u64 {
    n << 2 | session
}

fn hold(session: u64, n: u64, wait: Option<u32>) -> Command {
    Command::Hold(Hold {
        ticket: ticket(session, n),
        session,
        name: "jobs".into(),
        key: format!("key {n} of some length").into(),
        wait,
        options: Options {
            ttl: Some(30_000),
            ..Options::default()
        },
        ..Hold::default()
    })
}

fn too_long(session: u64, n: u64) -> Command {
    let mut long = hold(session, n, None);
    if let Command::Hold(hold) = &mut long {
        hold.key = format!("{n:>width$}", width = KEY_BYTES + 1).into();
    }
    long
}

// LOCK-13, case I1
#[test]
fn a_million_keys_of_each_kind_come_and_go() {
    watchdog();
    let mut store = Store::new();
    let mut sizes = Vec::new();
    for _ in 0..ROUNDS {
        store.released();
        store.expired();
        store.cancelled();
        store.refused();
        let Counts {
            keys,
            leases,
            waiters,
            ..
        } = store.counts();
        assert_eq!((keys, leases, waiters), (0, 0, 0));
        sizes.push(store.engine.memory_bytes());
    }
    assert_eq!(store.keys, 4 * KEYS * ROUNDS as u64);
    println!("bytes of memory after each round: {sizes:?}");
    // A round may find the free memory cut up otherwise than one before: a page or
    // two. A byte kept of each key would be eight times as much as this.
    let grown = sizes[ROUNDS - 1] - sizes[0];
    assert!(grown < sizes[0] / 100, "{sizes:?}");
}
