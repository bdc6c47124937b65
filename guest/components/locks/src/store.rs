//! The engine, driven: the time goes in with every step, what happened is told
//! to whoever asked, fences are brought as they get low.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

use witlock_engine::{Command, Engine, Event, Nanoseconds, OpenSession, Seed, Stepped, Ticket};

use crate::asks::{Ask, CallNumber};
use crate::clock;
use crate::fences::Fences;

/// The one holder there is.
pub(crate) const SESSION: u64 = 1;

/// How often one step tries to get fences: before its commands, and for them. A
/// failure refuses those who want one, who may ask again.
const FENCE_ATTEMPTS: u32 = 2;

/// The locks of one copy of the component.
pub(crate) struct Store {
    engine: Engine,
    fences: Fences,
    last_ticket: Ticket,
    asks: HashMap<Ticket, Rc<Ask>>,
    /// The time of the last step.
    now: Nanoseconds,
    next_deadline: Option<Nanoseconds>,
    /// Room for the events of a step.
    events: Vec<Event>,
    /// An answer to a command that is answered under a tag.
    answer: Option<Event>,
    fences_low: bool,
}

impl Store {
    /// Opens the directory of the fences, if there is one.
    pub fn open() -> Self {
        let random = || RandomState::new().hash_one(0);
        let (low, high) = (random(), random());
        let mut store = Store {
            engine: Engine::new(Seed { low, high }),
            fences: Fences::open(),
            last_ticket: 0,
            asks: HashMap::new(),
            now: 0,
            next_deadline: None,
            events: Vec::new(),
            answer: None,
            fences_low: true,
        };
        let open = Command::OpenSession(OpenSession {
            session: SESSION,
            ..OpenSession::default()
        });
        store.step(&[open], &mut Vec::new());
        store
    }

    /// The time of the last step, and when something is due next.
    #[cfg(feature = "async")]
    pub fn time(&self) -> (Nanoseconds, Option<Nanoseconds>) {
        (self.now, self.next_deadline)
    }

    /// An ask with a ticket of its own, whose hold is to be stepped with.
    pub fn add_ask(&mut self) -> (Ticket, Rc<Ask>) {
        self.last_ticket += 1;
        let ask = Ask::new();
        self.asks.insert(self.last_ticket, ask.clone());
        (self.last_ticket, ask)
    }

    /// Ends what is due by now, then handles the commands. Calls for which there
    /// are news are added to `told`.
    pub fn step(&mut self, commands: &[Command], told: &mut Vec<CallNumber>) {
        let mut left = commands;
        let mut attempts = FENCE_ATTEMPTS;
        loop {
            if self.fences_low && attempts > 0 {
                attempts -= 1;
                self.bring_fences(told);
            }
            let handled = self.step_once(left, told);
            left = left.get(handled..).unwrap_or_default();
            let is_behind = self.next_deadline.is_some_and(|at| at <= self.now);
            if left.is_empty() && !is_behind && !(self.fences_low && attempts > 0) {
                return;
            }
        }
    }

    /// Steps with a command that is answered under a tag, at once.
    pub fn ask_engine(&mut self, command: Command, told: &mut Vec<CallNumber>) -> Option<Event> {
        self.answer = None;
        self.step(&[command], told);
        self.answer.take()
    }

    fn bring_fences(&mut self, told: &mut Vec<CallNumber>) {
        self.fences_low = false;
        let command = match self.fences.next() {
            Ok(range) => Command::AddFences(range),
            Err(why) => Command::FencesFailed(why.to_string()),
        };
        self.step_once(&[command], told);
    }

    fn step_once(&mut self, commands: &[Command], told: &mut Vec<CallNumber>) -> usize {
        let mut events = std::mem::take(&mut self.events);
        self.now = clock::now();
        let Stepped {
            handled,
            next_deadline,
        } = self.engine.step_into(self.now, commands, &mut events);
        self.next_deadline = next_deadline;
        for event in events.drain(..) {
            self.tell(event, told);
        }
        self.events = events;
        handled
    }

    fn tell(&mut self, event: Event, told: &mut Vec<CallNumber>) {
        match event {
            Event::Granted(grant) => {
                if let Some(ask) = self.asks.get(&grant.ticket) {
                    ask.grant(grant.lease, told);
                }
            }
            Event::Refused { ticket, why } => {
                if let Some(ask) = self.asks.remove(&ticket) {
                    ask.refuse(why, told);
                }
            }
            Event::Ended { ticket, how } => {
                if let Some(ask) = self.asks.remove(&ticket) {
                    ask.end(how, told);
                }
            }
            Event::FencesLow { .. } => self.fences_low = true,
            event @ (Event::Fine { .. } | Event::Invalid { .. }) => self.answer = Some(event),
            // Answers to what is never asked here.
            Event::Superseded(_)
            | Event::Renewed { .. }
            | Event::NotHeld { .. }
            | Event::Holdings { .. }
            | Event::Waiters { .. }
            | Event::Counted { .. } => {}
        }
    }
}
