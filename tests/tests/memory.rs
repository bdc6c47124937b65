//! LOCK-13, in bytes: whatever was held, waited for or refused, the engine's
//! memory comes back to what it was.

#![allow(clippy::expect_used)] // tests

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use witlock_engine::bounds::STEP_COMMANDS;
use witlock_engine::{Engine, Event, LeaseId, OpenSession, Seed};
use witlock_tests::{Command, Hold};

/// Distinct keys of one test.
const KEYS: u64 = 100_000;

/// What may stay: tables that are kept small for the next few keys.
const KEPT: isize = 32 * 1_024;

struct Counting;

thread_local! {
    /// Bytes allocated by this thread and not freed yet. (A test's engine stays
    /// on its thread.)
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    LIVE.with(|live| live.set(live.get() + bytes));
}

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// An engine, and a way through a test that allocates nothing itself.
struct Fixture {
    engine: Engine,
    now: u64,
}

impl Fixture {
    fn new() -> Self {
        let engine = Engine::new(Seed { low: 1, high: 2 });
        let mut fixture = Fixture { engine, now: 0 };
        fixture.step(vec![Command::AddFences(1..1 << 50)]);
        for session in [1, 2, 3] {
            fixture.step(vec![open(session, false)]);
        }
        fixture
    }

    /// Does as many steps as it takes, and hands the events on.
    fn each(&mut self, commands: Vec<Command>, mut with: impl FnMut(Event)) {
        let mut rest = commands;
        loop {
            let batch = &rest[..rest.len().min(STEP_COMMANDS)];
            let outcome = self.engine.step(self.now, batch);
            rest.drain(..outcome.handled);
            outcome.events.into_iter().for_each(&mut with);
            if rest.is_empty() && outcome.next_deadline != Some(self.now) {
                return;
            }
        }
    }

    fn step(&mut self, commands: Vec<Command>) {
        self.each(commands, |_| {});
    }

    /// Asks for a key of each number.
    fn hold_all(&mut self, with: impl Fn(u64) -> Hold) {
        for n in 0..KEYS {
            self.step(vec![Command::Hold(with(n))]);
        }
    }

    /// Asks for a free key.
    fn hold(&mut self, hold: Hold) -> LeaseId {
        let mut given = None;
        self.each(vec![Command::Hold(hold)], |event| match event {
            Event::Granted(grant) => given = Some(grant.lease),
            other => panic!("{other:?}"),
        });
        given.expect("a grant")
    }
}

fn open(session: u64, remote: bool) -> Command {
    Command::OpenSession(OpenSession {
        session,
        remote,
        max_held: Some(u32::MAX),
        max_waiting: Some(u32::MAX),
    })
}

fn hold(n: u64, session: u64) -> Hold {
    Hold {
        ticket: session * KEYS + n,
        session,
        name: "jobs".into(),
        key: format!("a key of some length {n}").into(),
        ..Hold::default()
    }
}

/// Runs a test twice: what is kept after the first time is kept.
fn comes_back(test: impl Fn(&mut Fixture)) {
    let mut fixture = Fixture::new();
    let before = LIVE.get();
    for _ in 0..2 {
        test(&mut fixture);
        let counts = fixture.engine.counts();
        assert_eq!((counts.keys, counts.leases, counts.waiters), (0, 0, 0));
        let kept = LIVE.get() - before;
        assert!(kept < KEPT, "{kept} bytes are kept");
    }
}

// LOCK-13, case I1
#[test]
fn of_keys_held_and_released_one_by_one() {
    comes_back(|fixture| {
        for n in 0..KEYS {
            let lease = fixture.hold(hold(n, 1));
            fixture.step(vec![Command::Release { tag: 0, lease }]);
        }
    });
}

// LOCK-13, case I1
#[test]
fn of_keys_held_at_once_and_ended_with_their_holder() {
    comes_back(|fixture| {
        fixture.hold_all(|n| hold(n, 1));
        assert_eq!(fixture.engine.counts().leases, KEYS);
        fixture.step(vec![Command::EndSession(1), open(1, false)]);
        fixture.step(vec![open(1, false)]);
    });
}

// LOCK-13, case I1
#[test]
fn of_keys_that_were_revoked() {
    comes_back(|fixture| {
        fixture.hold_all(|n| {
            let mut brief = hold(n, 1);
            brief.options.max_hold = Some(1_000);
            brief
        });
        fixture.now += 1_000_000_000;
        fixture.step(Vec::new());
    });
}

// LOCK-13, LOCK-09, case I1
#[test]
fn of_requests_whose_leases_expired() {
    comes_back(|fixture| {
        fixture.step(vec![open(7, true)]);
        fixture.hold_all(|n| Hold {
            request: Some(n.into()),
            ..hold(n, 7)
        });
        fixture.step(vec![Command::Suspend(7)]);
        fixture.now += 30_000_000_000;
        fixture.step(Vec::new());
    });
}

// LOCK-13, case I1
#[test]
fn of_places_in_line_that_were_cancelled() {
    comes_back(|fixture| {
        fixture.hold_all(|n| hold(n, 1));
        fixture.hold_all(|n| hold(n, 2));
        assert_eq!(fixture.engine.counts().waiters, KEYS);
        let cancels = (0..KEYS).map(|n| Command::Cancel(2 * KEYS + n));
        fixture.step(cancels.collect());
        fixture.step(vec![Command::EndSession(1)]);
        fixture.step(vec![open(1, false)]);
    });
}

// LOCK-13, case I1
#[test]
fn of_shares_of_semaphores() {
    comes_back(|fixture| {
        let share = |n, session| Hold {
            limit: Some(2),
            ..hold(n, session)
        };
        fixture.hold_all(|n| share(n, 1));
        fixture.hold_all(|n| share(n, 2));
        fixture.hold_all(|n| share(n, 3));
        fixture.now += 10_000_000_000;
        let ends = [1, 2].map(Command::EndSession);
        fixture.step(ends.into());
        fixture.step(vec![open(1, false), open(2, false)]);
    });
}

// LOCK-13, LOCK-09, case I1
#[test]
fn of_a_crowd_that_came_and_went_beside_one_who_stays() {
    let mut fixture = Fixture::new();
    fixture.step(vec![open(7, true), open(8, true)]);
    let asked = |n, session| Hold {
        limit: Some(2),
        request: Some(n),
        ..hold(n as u64, session)
    };
    let before = LIVE.get();
    // Half of the crowd comes before those who stay, half after.
    for n in 0..u128::from(KEYS) {
        if n == u128::from(KEYS) / 2 {
            let stay = [(1, 0), (1, 1), (2, 0)].map(|(session, n)| Hold {
                limit: Some(2),
                key: "stays".into(),
                wait: Some(u32::MAX),
                ..hold(n, session)
            });
            fixture.step(stay.map(Command::Hold).into());
        }
        let shares = [asked(n, 7), asked(n + u128::from(KEYS), 7), asked(n, 8)];
        fixture.step(vec![open(100 + n as u64, true)]);
        fixture.step(shares.map(Command::Hold).into());
    }
    let counts = fixture.engine.counts();
    assert_eq!(counts.keys, 2 * KEYS + 1);
    let ends = (3..200 + KEYS).map(Command::EndSession);
    fixture.step(ends.collect());
    let counts = fixture.engine.counts();
    assert_eq!((counts.keys, counts.leases, counts.waiters), (1, 2, 1));
    // A byte or two of each key, so that those who stay keep their places.
    let kept = LIVE.get() - before;
    assert!(kept < 3 * KEYS as isize, "{kept} bytes are kept");
}

// LOCK-13, LOCK-12, case I1
#[test]
fn of_asks_that_were_refused() {
    comes_back(|fixture| {
        let lease = fixture.hold(hold(0, 1));
        fixture.hold_all(|n| Hold {
            wait: Some(0),
            ..hold(0, 2 + n % 2)
        });
        fixture.hold_all(|n| Hold {
            limit: Some(0),
            request: Some(n.into()),
            ..hold(n, 2)
        });
        fixture.hold_all(|n| hold(n, 77));
        fixture.step(vec![Command::Release { tag: 0, lease }]);
    });
}

// LOCK-13, LOCK-06
#[test]
fn of_sessions_that_ended() {
    comes_back(|fixture| {
        for n in 0..KEYS {
            let session = 100 + n;
            fixture.step(vec![open(session, n % 2 == 0)]);
            fixture.step(vec![Command::Hold(hold(n, session))]);
        }
        let ends = (0..KEYS).map(|n| match n % 3 {
            0 => Command::Suspend(100 + n),
            _ => Command::EndSession(100 + n),
        });
        fixture.step(ends.collect());
        fixture.now += 30_000_000_000;
        let ends = (0..100 + KEYS).map(Command::EndSession);
        fixture.step(ends.collect());
        assert_eq!(fixture.engine.counts().sessions, 0);
    });
}

// LOCK-13, LOCK-12, case A13
#[test]
fn of_waits_for_fences_that_were_cancelled() {
    let mut fixture = Fixture {
        engine: Engine::new(Seed::default()),
        now: 0,
    };
    fixture.step(vec![open(1, false)]);
    let before = LIVE.get();
    for n in 0..KEYS {
        let ask = hold(n, 1);
        let cancel = Command::Cancel(ask.ticket);
        fixture.step(vec![Command::Hold(ask), cancel]);
    }
    assert_eq!(fixture.engine.counts().keys, 0);
    let kept = LIVE.get() - before;
    assert!(kept < KEPT, "{kept} bytes are kept");
}

// LOCK-13, LOCK-02, case A13
#[test]
fn of_waits_for_fences_that_failed() {
    comes_back(|fixture| {
        let mut engine = Engine::new(Seed::default());
        std::mem::swap(&mut fixture.engine, &mut engine);
        let before = LIVE.get();
        fixture.step(vec![open(1, false)]);
        fixture.hold_all(|n| hold(n, 1));
        assert_eq!(fixture.engine.counts().waiters, KEYS);
        fixture.step(vec![Command::FencesFailed("no".into())]);
        assert_eq!(fixture.engine.counts().keys, 0);
        let kept = LIVE.get() - before;
        assert!(kept < KEPT, "{kept} bytes are kept");
        std::mem::swap(&mut fixture.engine, &mut engine);
    });
}

// LOCK-13, LOCK-06
#[test]
fn of_sessions_that_ended_after_the_store_closed() {
    let mut fixture = Fixture::new();
    let before = LIVE.get();
    fixture.step(
        (100..100 + KEYS)
            .map(|session| open(session, true))
            .collect(),
    );
    fixture.step(vec![Command::Close]);
    fixture.step((0..100 + KEYS).map(Command::EndSession).collect());
    assert_eq!(fixture.engine.counts().sessions, 0);
    let kept = LIVE.get() - before;
    assert!(kept < KEPT, "{kept} bytes are kept");
}

// LOCK-13, LOCK-06
#[test]
fn of_a_store_that_closed() {
    let mut fixture = Fixture::new();
    let before = LIVE.get();
    fixture.hold_all(|n| hold(n, 1));
    fixture.hold_all(|n| hold(n, 2));
    fixture.step(vec![Command::Close]);
    assert_eq!(fixture.engine.counts().keys, 0);
    let kept = LIVE.get() - before;
    assert!(kept < KEPT, "{kept} bytes are kept");
}

// LOCK-13
#[test]
fn a_key_held_and_a_waiter_take_at_most_250_bytes_beside_their_texts() {
    let text = |n| {
        let hold = hold(n, 1);
        (hold.name.len() + hold.key.len()) as isize
    };
    let texts: isize = (0..KEYS).map(text).sum();
    let mut fixture = Fixture::new();
    let before = LIVE.get();
    fixture.hold_all(|n| hold(n, 1));
    let held = LIVE.get() - before - texts;
    fixture.hold_all(|n| hold(n, 2));
    let waiting = LIVE.get() - before - texts - held;
    let each = [held, waiting].map(|bytes| bytes / KEYS as isize);
    println!("{} bytes for a key held, {} for a waiter", each[0], each[1]);
    assert!(each.into_iter().all(|bytes| bytes <= 250), "{each:?}");
}
