//! Random histories of a store, lived by an engine and by a model that is plain
//! enough to be right. Time is virtual, and all is drawn from a seed: a failure
//! shrinks, and its seed brings it back.

mod disk;
mod history;
mod listings;
mod model;
mod shrink;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use disk::Disk;
pub use history::{Ask, History, Op, Pick, Step, Time};
pub use world::Done;

use crate::Machine;
use shrink::shrink;

/// An engine, and what it is given to live.
pub struct Simulation<M> {
    machine: M,
    start: Box<dyn Fn() -> M>,
    disk: Disk,
    steps: usize,
}

/// A history that an engine does not live as the model does.
#[derive(Debug)]
pub struct Failure {
    /// Whose it is.
    pub seed: u64,
    /// How many steps that one has.
    pub steps: usize,
    /// The shortest that fails still.
    pub history: History,
    /// How.
    pub why: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Failure { seed, steps, .. } = self;
        writeln!(f, "again with: WITLOCK_SEED={seed}, {steps} steps")?;
        let History { bound, fences, .. } = self.history;
        writeln!(f, "{bound} keys a session, {fences} fences a reservation")?;
        for (number, step) in self.history.steps.iter().enumerate() {
            writeln!(f, "{number:>4} {step:?}")?;
        }
        write!(f, "{}", self.why)
    }
}

impl<M: Machine> Simulation<M> {
    /// Histories of so many steps, on engines that `start` starts.
    pub fn new(steps: usize, start: impl Fn() -> M + 'static) -> Self {
        Simulation {
            machine: start(),
            start: Box::new(start),
            disk: Disk::default(),
            steps,
        }
    }

    /// The fences are on this disk.
    #[must_use]
    pub fn on(self, disk: Disk) -> Self {
        Simulation { disk, ..self }
    }

    /// The history of one seed.
    ///
    /// # Errors
    ///
    /// How it failed, as short as can be.
    pub fn live(&mut self, seed: u64) -> Result<Done, Box<Failure>> {
        let history = History::random(seed, self.steps);
        if let Ok(done) = self.attempt(&history) {
            return Ok(done);
        }
        let steps = self.steps;
        let simulation = std::cell::RefCell::new(self);
        let attempt = |history: &History| simulation.borrow_mut().attempt(history);
        let history = shrink(&history, |history| attempt(history).is_err());
        let why = attempt(&history).err().unwrap_or_default();
        Err(Box::new(Failure {
            seed,
            steps,
            history,
            why,
        }))
    }

    /// A trap is a failure; what is left of the engine then is not used again.
    fn attempt(&mut self, history: &History) -> Result<Done, String> {
        let disk = self.disk.clone();
        let lived = catch_unwind(AssertUnwindSafe(|| {
            world::live(&mut self.machine, disk, history)
        }));
        lived.unwrap_or_else(|_| {
            self.machine = (self.start)();
            Err("the engine, or the model, panicked".into())
        })
    }
}
