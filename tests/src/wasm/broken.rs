//! The engine, broken on purpose.

use std::sync::OnceLock;

use witlock_engine::{Nanoseconds, Seed};

use super::{Compiled, Wasm};
use crate::machine::{Command, Machine, Outcome};

/// An engine that is broken in one of several ways.
pub struct Broken {
    which: u32,
    engine: Wasm,
}

impl Broken {
    /// One that is broken in the way of this number; in none if it is 0.
    pub fn new(which: u32) -> Self {
        static COMPILED: OnceLock<Compiled> = OnceLock::new();
        let compiled = COMPILED.get_or_init(|| {
            let compiled = Compiled::from_file(witlock_broken::BROKEN_ENGINE);
            compiled.expect("a component that compiles")
        });
        Broken {
            which,
            engine: Wasm::of(compiled),
        }
    }
}

impl Machine for Broken {
    const NAME: &'static str = "a broken engine.wasm";

    fn start(seed: Seed) -> Self {
        let mut whole = Broken::new(0);
        whole.restart(seed);
        whole
    }

    fn restart(&mut self, seed: Seed) {
        let high = u64::from(self.which) << 32 | u64::from(seed.high as u32);
        self.engine.restart(Seed { high, ..seed });
    }

    fn step(&mut self, now: Nanoseconds, commands: Vec<Command>) -> Outcome {
        self.engine.step(now, commands)
    }
}
