//! Whoever steps the engine, for scenarios: numbers sessions and tickets, hands
//! in again what a step had no room for, brings fences, and keeps the answers.

use std::collections::{HashMap, VecDeque};

use witlock_engine::bounds::{STEP_COMMANDS, STEP_EVENTS};
use witlock_engine::{Grant, Request, Seed};
use witlock_tests::{Command, Event, Machine, Outcome};

use crate::face::{Ending, Fences, Kind, Terms, Why};

/// How many fences come at a time.
pub const FENCES: u64 = 1_024;

/// Steps at one moment past which something must be going round in circles.
const STEPS_AT_ONE_MOMENT: usize = 100_000;

/// An engine, driven.
pub struct Driven<M> {
    machine: M,
    pub now: u64,
    next_deadline: Option<u64>,
    queue: VecDeque<Command>,
    numbers: u64,
    answers: HashMap<u64, Event>,
    pub holders: Vec<(u64, Kind)>,
    pub locks: Vec<(usize, Terms)>,
    pub asks: Vec<Asked>,
    pub fences: Fences,
    next_fence: u64,
    fences_asked: bool,
}

/// What is known of an ask.
pub struct Asked {
    pub lock: usize,
    pub key: String,
    pub wait: Option<u32>,
    pub request: Option<Request>,
    pub grant: Option<Grant>,
    pub refused: Option<Why>,
    pub ended: Option<Ending>,
}

impl<M: Machine> Driven<M> {
    pub fn new() -> Self {
        let mut driven = Driven {
            machine: start(1),
            now: 0,
            next_deadline: None,
            queue: VecDeque::new(),
            numbers: 0,
            answers: HashMap::new(),
            holders: Vec::new(),
            locks: Vec::new(),
            asks: Vec::new(),
            fences: Fences::Come,
            next_fence: 1,
            fences_asked: true,
        };
        driven.run();
        driven
    }

    /// An engine that begins anew where this one was killed. Fences go on.
    pub fn restart(&mut self) {
        self.machine = start(self.next_fence);
        self.queue.clear();
        self.next_deadline = None;
        self.fences_asked = true;
        self.run();
    }

    /// A number that no session and no command had.
    pub fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Hands in a command, and whatever was queued, now.
    pub fn command(&mut self, command: Command) {
        self.queue(command);
        self.run();
    }

    /// Queues a command for the next step.
    pub fn queue(&mut self, command: Command) {
        self.queue.push_back(command);
    }

    /// Hands in a command that is answered under a tag; gives its answer.
    pub fn query(&mut self, command: impl FnOnce(u64) -> Command) -> Option<Event> {
        let tag = self.number();
        self.command(command(tag));
        self.answers.remove(&tag)
    }

    /// Steps until everything that can happen now has happened.
    pub fn run(&mut self) {
        // A storage that failed is asked again at once: not for ever.
        let mut failures = 2;
        for _ in 0..STEPS_AT_ONE_MOMENT {
            self.bring_fences();
            self.report_failing_fences(&mut failures);
            self.step();
            if self.is_at_rest(failures) {
                return;
            }
        }
        panic!("the engine does not come to rest");
    }

    fn is_at_rest(&self, failures: u32) -> bool {
        let is_behind = self.next_deadline.is_some_and(|at| at <= self.now);
        let wants_fences = self.fences_asked
            && match self.fences {
                Fences::Come => true,
                Fences::Stall => false,
                Fences::Fail(_) => failures > 0,
            };
        self.queue.is_empty() && !is_behind && !wants_fences
    }

    /// Moves the time to `until`, stepping whenever the engine wants to be.
    pub fn run_until(&mut self, until: u64) {
        while let Some(at) = self.next_deadline.filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.run();
        }
        self.now = until;
        self.run();
    }

    fn step(&mut self) {
        let commands: Vec<_> = self.queue.iter().take(STEP_COMMANDS).cloned().collect();
        let given = commands.len();
        let outcome = self.machine.step(self.now, commands);
        self.check_bounds(given, &outcome);
        self.queue.drain(..outcome.handled);
        self.next_deadline = outcome.next_deadline;
        outcome
            .events
            .into_iter()
            .for_each(|event| self.note(event));
    }

    fn check_bounds(&self, given: usize, outcome: &Outcome) {
        assert!(outcome.handled <= given, "more was handled than given");
        assert!(outcome.events.len() <= STEP_EVENTS, "too many events");
        let next = outcome.next_deadline.unwrap_or(u64::MAX);
        assert!(next >= self.now, "a deadline before now");
        let stuck = outcome.handled < given && outcome.events.is_empty();
        assert!(!stuck, "a command was left, and nothing else done");
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Granted(grant) => self.note_granted(grant),
            Event::Refused { ticket, why } => {
                let asked = &mut self.asks[ticket as usize];
                assert!(asked.refused.is_none() && asked.grant.is_none());
                asked.refused = Some(why);
            }
            Event::Ended { ticket, how } => {
                let asked = &mut self.asks[ticket as usize];
                assert!(asked.grant.is_some() && asked.ended.is_none());
                asked.ended = Some(how);
            }
            Event::Superseded(_) => {}
            Event::FencesLow { .. } => self.fences_asked = true,
            Event::Renewed { tag, .. }
            | Event::NotHeld { tag }
            | Event::Fine { tag }
            | Event::Invalid { tag, .. }
            | Event::Holdings { tag, .. }
            | Event::Waiters { tag, .. }
            | Event::Counted { tag, .. } => {
                let twice = self.answers.insert(tag, event);
                assert!(twice.is_none(), "answered twice");
            }
        }
    }

    fn note_granted(&mut self, grant: Grant) {
        let asked = &mut self.asks[grant.ticket as usize];
        assert!(asked.refused.is_none() && asked.grant.is_none());
        asked.grant = Some(grant);
    }

    fn bring_fences(&mut self) {
        if self.fences_asked && self.fences == Fences::Come {
            self.fences_asked = false;
            let first = self.next_fence;
            self.next_fence += FENCES;
            let fences = first..self.next_fence;
            self.queue.push_front(Command::AddFences(fences));
        }
    }

    fn report_failing_fences(&mut self, failures: &mut u32) {
        if let Fences::Fail(why) = self.fences
            && self.fences_asked
            && *failures > 0
        {
            *failures -= 1;
            self.fences_asked = false;
            self.queue.push_front(Command::FencesFailed(why.into()));
        }
    }
}

fn start<M: Machine>(number: u64) -> M {
    let seed = Seed {
        low: number,
        high: 0x5eed,
    };
    M::start(seed)
}
