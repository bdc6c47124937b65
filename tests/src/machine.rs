//! The engine as a test steps it, wherever it runs.

use witlock_engine::{Counts, Ending, Grant, Holding, Nanoseconds, Page, Seed, Ticket, Waiting};

/// A command that owns its texts.
pub type Command = witlock_engine::Command<'static>;

/// An ask that owns its texts.
pub type Hold = witlock_engine::Hold<'static>;

/// The lock engine: natively, or as a component.
pub trait Machine {
    /// What it is called in messages.
    const NAME: &'static str;

    /// An engine with no locks and no fences.
    fn start(seed: Seed) -> Self;

    /// The same, in the place of this one.
    fn restart(&mut self, seed: Seed)
    where
        Self: Sized,
    {
        *self = Self::start(seed);
    }

    /// As [`witlock_engine::Engine::step`].
    fn step(&mut self, now: Nanoseconds, commands: Vec<Command>) -> Outcome;
}

/// What one step gave, as [`witlock_engine::Outcome`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs)] // documented in the engine
pub struct Outcome {
    pub handled: usize,
    pub events: Vec<Event>,
    pub next_deadline: Option<Nanoseconds>,
}

/// One thing that happened, as [`witlock_engine::Event`], with the reasons as
/// texts: that is all that a component tells of them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // documented in the engine
pub enum Event {
    Granted(Grant),
    Refused {
        ticket: Ticket,
        why: Why,
    },
    Ended {
        ticket: Ticket,
        how: Ending,
    },
    Superseded(Ticket),
    Renewed {
        tag: u64,
        deadline: Option<Nanoseconds>,
    },
    NotHeld {
        tag: u64,
    },
    Fine {
        tag: u64,
    },
    Invalid {
        tag: u64,
        why: String,
    },
    Holdings {
        tag: u64,
        page: Page<Holding, u64>,
    },
    Waiters {
        tag: u64,
        page: Page<Waiting, (u64, u64)>,
    },
    Counted {
        tag: u64,
        counts: Counts,
    },
    FencesLow {
        left: u64,
    },
}

/// Why an ask was refused, as [`witlock_engine::Refusal`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // documented in the engine
pub enum Why {
    InUse,
    HeldByCaller,
    Invalid(String),
    TooMany(String),
    Closed,
    Unavailable(String),
    Cancelled,
}
