//! Steps, told shortly.

use witlock_engine::bounds::{STEP_COMMANDS, STEP_EVENTS};
use witlock_engine::{Counts, Ending, Grant, LeaseId, OpenSession, Options, Request, Resume, Seed};
use witlock_tests::{Command, Event, Hold, Machine, Outcome, Why};

const NS_PER_MS: u64 = 1_000_000;

/// An engine, stepped by hand; moments are in ms.
pub struct Steps<M> {
    pub machine: M,
}

impl<M: Machine> Steps<M> {
    /// An engine without fences.
    pub fn bare() -> Self {
        let machine = M::start(Seed { low: 3, high: 5 });
        Steps { machine }
    }

    /// An engine with plenty of fences, and the sessions 1 to 9.
    pub fn new() -> Self {
        Steps::with(|session| OpenSession {
            session,
            ..OpenSession::default()
        })
    }

    /// The same, with sessions whose leases have a ttl.
    pub fn remote() -> Self {
        Steps::with(|session| OpenSession {
            session,
            remote: true,
            ..OpenSession::default()
        })
    }

    fn with(open: fn(u64) -> OpenSession) -> Self {
        let mut steps = Steps::bare();
        let sessions = (1..10).map(|number| Command::OpenSession(open(number)));
        let fences = Command::AddFences(1..1 << 40);
        steps.at(0, [fences].into_iter().chain(sessions));
        steps
    }

    /// One step with commands that it has room for; gives its events.
    pub fn at(&mut self, ms: u64, commands: impl IntoIterator<Item = Command>) -> Vec<Event> {
        let commands: Vec<_> = commands.into_iter().collect();
        let given = commands.len();
        let outcome = self.step(ms, commands);
        assert_eq!(outcome.handled, given, "there was no room");
        outcome.events
    }

    /// One step.
    pub fn step(&mut self, ms: u64, commands: Vec<Command>) -> Outcome {
        let given = commands.len();
        let outcome = self.machine.step(ms * NS_PER_MS, commands);
        assert!(outcome.handled <= given.min(STEP_COMMANDS));
        assert!(outcome.events.len() <= STEP_EVENTS);
        outcome
    }

    /// As many steps at one moment as the commands, and what is due, take.
    pub fn all_at(&mut self, ms: u64, commands: Vec<Command>) -> Vec<Event> {
        let mut rest = commands;
        let mut events = Vec::new();
        loop {
            let batch = rest.iter().take(STEP_COMMANDS).cloned().collect();
            let outcome = self.step(ms, batch);
            rest.drain(..outcome.handled);
            events.extend(outcome.events);
            if rest.is_empty() && !is_behind(outcome.next_deadline, ms) {
                return events;
            }
        }
    }

    pub fn counts(&mut self, ms: u64) -> Counts {
        match self.at(ms, [Command::Count { tag: 0 }]).pop() {
            Some(Event::Counted { counts, .. }) => counts,
            other => panic!("a count was answered by {other:?}"),
        }
    }
}

/// Whether an engine stepped at a moment wants another step at once.
pub fn is_behind(next_deadline: Option<u64>, ms: u64) -> bool {
    next_deadline == Some(ms * NS_PER_MS)
}

/// An ask for a key of the lock `jobs` that waits for a minute.
pub fn hold(ticket: u64, session: u64, key: &str) -> Hold {
    Hold {
        ticket,
        session,
        name: "jobs".into(),
        key: key.to_owned().into(),
        wait: Some(60_000),
        ..Hold::default()
    }
}

/// [`hold`] as a command.
pub fn ask(ticket: u64, session: u64, key: &str) -> Command {
    Command::Hold(hold(ticket, session, key))
}

/// The same under a request, with a ttl.
pub fn ask_as(request: Request, ttl: u32, hold: Hold) -> Command {
    Command::Hold(Hold {
        request: Some(request),
        options: Options {
            ttl: Some(ttl),
            ..hold.options
        },
        ..hold
    })
}

pub fn release(lease: LeaseId) -> Command {
    Command::Release { tag: 1, lease }
}

pub fn renew(lease: LeaseId) -> Command {
    Command::Renew { tag: 2, lease }
}

pub fn resume(session: u64, leases: &[LeaseId], requests: &[Request]) -> Command {
    Command::Resume(Resume {
        tag: 3,
        session,
        leases: leases.into(),
        requests: requests.into(),
    })
}

pub fn grants(events: &[Event]) -> Vec<Grant> {
    let granted = |event: &Event| match event {
        Event::Granted(grant) => Some(*grant),
        _ => None,
    };
    events.iter().filter_map(granted).collect()
}

/// The grant of a ticket.
pub fn granted(events: &[Event], ticket: u64) -> Grant {
    let mut grants = grants(events).into_iter();
    let found = grants.find(|grant| grant.ticket == ticket);
    found.unwrap_or_else(|| panic!("{ticket} was not granted, but {:?}", answer(events, ticket)))
}

/// What an ask was refused for, if it was.
fn answer(events: &[Event], asked: u64) -> Option<&Event> {
    let refused =
        |event: &&Event| matches!(event, Event::Refused { ticket, .. } if *ticket == asked);
    events.iter().find(refused)
}

pub fn ended(ticket: u64, how: Ending) -> Event {
    Event::Ended { ticket, how }
}

pub fn refused(ticket: u64, why: Why) -> Event {
    Event::Refused { ticket, why }
}

/// How many leases ended, and asks were refused.
pub fn over(events: &[Event]) -> usize {
    let is_over = |event: &&Event| matches!(event, Event::Ended { .. } | Event::Refused { .. });
    events.iter().filter(is_over).count()
}
