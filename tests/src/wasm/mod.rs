//! The engine as `engine.wasm`, driven as the host drives it.

mod commands;
mod events;

use std::sync::OnceLock;

use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine, Store};
use witlock_engine::{Command, Nanoseconds, Seed};

use crate::machine::{Machine, Outcome};

#[allow(missing_docs)] // documented in wit/engine
mod bindings {
    wasmtime::component::bindgen!({ path: "../wit/engine", world: "machine" });
}

use bindings::exports::witlock::engine::engine as wit;

/// The engine, as a component.
pub struct Wasm {
    store: Store<()>,
    machine: bindings::Machine,
}

impl Machine for Wasm {
    const NAME: &'static str = "engine.wasm";

    fn start(seed: Seed) -> Self {
        let (engine, machine) = compiled();
        let mut store = Store::new(engine, ());
        let machine = machine.instantiate(&mut store).expect("an instance");
        let seed = wit::Seed {
            low: seed.low,
            high: seed.high,
        };
        let exports = machine.witlock_engine_engine();
        exports.call_start(&mut store, seed).expect("a start");
        Wasm { store, machine }
    }

    fn step(&mut self, now: Nanoseconds, commands: Vec<Command>) -> Outcome {
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

/// The component, compiled once.
fn compiled() -> &'static (Engine, bindings::MachinePre<()>) {
    static COMPILED: OnceLock<(Engine, bindings::MachinePre<()>)> = OnceLock::new();
    COMPILED.get_or_init(|| compile().expect("a component that compiles"))
}

fn compile() -> wasmtime::Result<(Engine, bindings::MachinePre<()>)> {
    let mut config = Config::new();
    config.concurrency_support(false);
    let engine = Engine::new(&config)?;
    let component = Component::from_file(&engine, witlock_programs::ENGINE)?;
    // It imports nothing.
    let linked = Linker::new(&engine).instantiate_pre(&component)?;
    Ok((engine, bindings::MachinePre::new(linked)?))
}
