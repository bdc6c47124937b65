//! The engine, and what it was not asked for yet.

use witlock_engine::{Command, Engine, Event, Hold, LeaseId, Options, Seed};

use crate::{answers, commands, events, wit};

/// What a component has one of.
#[derive(Debug)]
pub(crate) struct Machine {
    engine: Option<Engine>,
    /// Room for the events of a step.
    events: Vec<Event>,
    /// Those of steps whose answers had more.
    untold: Vec<Event>,
}

impl Machine {
    pub const fn new() -> Self {
        Machine {
            engine: None,
            events: Vec::new(),
            untold: Vec::new(),
        }
    }

    pub fn start(&mut self, seed: wit::Seed) {
        let wit::Seed { low, high } = seed;
        *self = Machine::new();
        self.engine = Some(Engine::new(Seed { low, high }));
    }

    pub fn step(&mut self, now: u64, commands: Vec<wit::Command>) -> wit::Outcome {
        let commands: Vec<_> = commands.into_iter().map(commands::from_wit).collect();
        let outcome = self.engine().step(now, &commands);
        wit::Outcome {
            // At most 1 024.
            handled: outcome.handled as u32,
            events: outcome.events.into_iter().map(events::to_wit).collect(),
            next_deadline: outcome.next_deadline,
        }
    }

    pub fn release(&mut self, now: u64, lease: wit::LeaseId) -> wit::Answer {
        let wit::LeaseId { fence, secret } = lease;
        let lease = LeaseId { fence, secret };
        self.answer(now, &Command::Release { tag: 0, lease })
    }

    /// Steps with one command.
    pub fn answer(&mut self, now: u64, command: &Command) -> wit::Answer {
        let mut events = core::mem::take(&mut self.events);
        let command = core::slice::from_ref(command);
        let stepped = self.engine().step_into(now, command, &mut events);
        let mut answer = answers::to_wit(&events, stepped.next_deadline);
        if !self.untold.is_empty() {
            // What was not asked for yet comes first.
            answer.told = wit::Told::More;
        }
        match answer.told {
            wit::Told::More => self.untold.append(&mut events),
            _ => events.clear(),
        }
        self.events = events;
        answer
    }

    pub fn untold(&mut self) -> Vec<wit::Event> {
        let untold = core::mem::take(&mut self.untold);
        untold.into_iter().map(events::to_wit).collect()
    }

    fn engine(&mut self) -> &mut Engine {
        let unseeded = || Engine::new(Seed::default());
        self.engine.get_or_insert_with(unseeded)
    }
}

/// What a call of `step-hold` asks for.
pub(crate) fn hold<'a>(
    (text, name_bytes): (&'a str, u32),
    (ticket, session): (u64, u64),
    limit: Option<u32>,
    wait: Option<u32>,
    (ttl, max_hold): (Option<u32>, Option<u32>),
    alone: bool,
) -> Command<'a> {
    // A name that ends elsewhere leaves no key, which the engine refuses.
    let (name, key) = text
        .split_at_checked(name_bytes as usize)
        .unwrap_or((text, ""));
    Command::Hold(Hold {
        ticket,
        session,
        name: name.into(),
        limit,
        key: key.into(),
        wait,
        options: Options {
            ttl,
            max_hold,
            label: None,
        },
        request: None,
        alone,
    })
}
