//! The engine as `engine.wasm`, driven as the host drives it.

mod answers;
mod broken;
mod commands;
mod events;

use std::sync::OnceLock;

pub use broken::Broken;

use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine, ResourceLimiter, Store};
use witlock_engine::{Nanoseconds, Seed};

use crate::machine::{Command, Machine, Outcome};

#[allow(missing_docs)] // documented in wit/engine
mod bindings {
    wasmtime::component::bindgen!({ path: "../wit/engine", world: "machine" });
}

use bindings::exports::witlock::engine::engine as wit;

/// The engine, as a component.
pub struct Wasm {
    store: Store<Memory>,
    machine: bindings::Machine,
}

/// How large an instance's memory has grown. It never shrinks.
#[derive(Debug, Default)]
struct Memory(usize);

impl ResourceLimiter for Memory {
    fn memory_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        self.0 = desired;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        _desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(true)
    }
}

impl Machine for Wasm {
    const NAME: &'static str = "engine.wasm";

    fn start(seed: Seed) -> Self {
        let mut wasm = Self::of(ours());
        wasm.restart(seed);
        wasm
    }

    /// In the same instance, as the component's `start` promises.
    fn restart(&mut self, seed: Seed) {
        let seed = wit::Seed {
            low: seed.low,
            high: seed.high,
        };
        let exports = self.machine.witlock_engine_engine();
        exports.call_start(&mut self.store, seed).expect("a start");
    }

    fn step(&mut self, now: Nanoseconds, commands: Vec<Command>) -> Outcome {
        if let [command] = &commands[..]
            && let Some(outcome) = self.answer(now, command)
        {
            return outcome;
        }
        let commands: Vec<_> = commands.into_iter().map(commands::to_wit).collect();
        let exports = self.machine.witlock_engine_engine();
        let outcome = exports.call_step(&mut self.store, now, &commands);
        let outcome = outcome.expect("a step without a trap");
        Outcome {
            handled: outcome.handled as usize,
            events: outcome.events.into_iter().map(events::from_wit).collect(),
            next_deadline: outcome.next_deadline,
        }
    }
}

/// A compiled engine, of which instances are made.
#[derive(Clone)]
pub struct Compiled {
    engine: Engine,
    machine: bindings::MachinePre<Memory>,
}

impl Compiled {
    /// Compiles the component in a file.
    ///
    /// # Errors
    ///
    /// If it is none, or not of the world `machine`.
    pub fn from_file(path: &str) -> wasmtime::Result<Self> {
        let mut config = Config::new();
        config.concurrency_support(false);
        let engine = Engine::new(&config)?;
        let component = Component::from_file(&engine, path)?;
        // It imports nothing.
        let linked = Linker::new(&engine).instantiate_pre(&component)?;
        let machine = bindings::MachinePre::new(linked)?;
        Ok(Compiled { engine, machine })
    }
}

impl Wasm {
    /// Bytes of the instance's memory, used or not.
    pub fn memory_bytes(&self) -> usize {
        self.store.data().0
    }

    /// An instance of another component than ours, not started yet.
    pub fn of(compiled: &Compiled) -> Self {
        let mut store = Store::new(&compiled.engine, Memory::default());
        store.limiter(|memory| memory);
        let machine = compiled.machine.instantiate(&mut store);
        let machine = machine.expect("an instance");
        Wasm { store, machine }
    }
}

/// Our component, compiled once.
fn ours() -> &'static Compiled {
    static OURS: OnceLock<Compiled> = OnceLock::new();
    OURS.get_or_init(|| {
        let compiled = Compiled::from_file(witlock_programs::ENGINE);
        compiled.expect("a component that compiles")
    })
}
