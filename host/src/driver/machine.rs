//! One instance of `engine.wasm`.

use std::sync::OnceLock;

use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine, Store};

#[allow(missing_docs)] // documented in wit/engine
mod bindings {
    wasmtime::component::bindgen!({ path: "wit/engine", world: "machine" });
}

/// The types of `witlock:engine/engine`.
pub(crate) use bindings::exports::witlock::engine::engine as wit;

/// The lock engine, built from `guest/components/engine`.
const ENGINE_WASM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/engine.wasm"));

/// A compiled engine, of which instances are made.
#[derive(Clone)]
pub(crate) struct Blueprint {
    engine: Engine,
    machine: bindings::MachinePre<()>,
}

impl Blueprint {
    /// The engine of this library, compiled once per process.
    pub fn ours() -> wasmtime::Result<Self> {
        static OURS: OnceLock<Blueprint> = OnceLock::new();
        if let Some(ours) = OURS.get() {
            return Ok(ours.clone());
        }
        let compiled = Self::compile(ENGINE_WASM)?;
        Ok(OURS.get_or_init(|| compiled).clone())
    }

    /// Another engine, for tests that let it trap.
    pub fn compile(wasm: &[u8]) -> wasmtime::Result<Self> {
        let engine = Engine::new(&config())?;
        let component = Component::new(&engine, wasm)?;
        // It imports nothing.
        let linked = Linker::new(&engine).instantiate_pre(&component)?;
        let machine = bindings::MachinePre::new(linked)?;
        Ok(Blueprint { engine, machine })
    }
}

/// An engine apart from the embedder's, without concurrency support: that more
/// than halves what a call costs.
fn config() -> Config {
    let mut config = Config::new();
    config.concurrency_support(false);
    config
}

/// The engine at work. A trap poisons it for good.
pub(crate) struct Machine {
    store: Store<()>,
    machine: bindings::Machine,
}

impl Machine {
    pub fn start(blueprint: &Blueprint) -> wasmtime::Result<Self> {
        let mut store = Store::new(&blueprint.engine, ());
        let machine = blueprint.machine.instantiate(&mut store)?;
        let exports = machine.witlock_engine_engine();
        exports.call_start(&mut store, random_seed()?)?;
        Ok(Machine { store, machine })
    }

    pub fn step(&mut self, now: u64, commands: &[wit::Command]) -> wasmtime::Result<wit::Outcome> {
        let exports = self.machine.witlock_engine_engine();
        exports.call_step(&mut self.store, now, commands)
    }
}

fn random_seed() -> wasmtime::Result<wit::Seed> {
    let (low, high) = (getrandom::u64(), getrandom::u64());
    let unseeded = |error| wasmtime::Error::msg(format!("no randomness: {error}"));
    Ok(wit::Seed {
        low: low.map_err(unseeded)?,
        high: high.map_err(unseeded)?,
    })
}
