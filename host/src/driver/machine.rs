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
    /// Room for a name and a key.
    text: String,
}

impl Machine {
    pub fn start(blueprint: &Blueprint) -> wasmtime::Result<Self> {
        let mut store = Store::new(&blueprint.engine, ());
        let machine = blueprint.machine.instantiate(&mut store)?;
        let exports = machine.witlock_engine_engine();
        exports.call_start(&mut store, random_seed()?)?;
        Ok(Machine {
            store,
            machine,
            text: String::new(),
        })
    }

    pub fn step(&mut self, now: u64, commands: &[wit::Command]) -> wasmtime::Result<wit::Outcome> {
        let exports = self.machine.witlock_engine_engine();
        exports.call_step(&mut self.store, now, commands)
    }

    /// A step with one hold, whose label is left out.
    pub fn hold(&mut self, now: u64, ticket: u64, hold: &Hold) -> wasmtime::Result<wit::Answer> {
        self.text.clear();
        self.text.push_str(hold.name);
        self.text.push_str(hold.key);
        let exports = self.machine.witlock_engine_engine();
        exports.call_step_hold(
            &mut self.store,
            now,
            ticket,
            hold.session,
            &self.text,
            // More than is counted here is longer than a name may be.
            u32::try_from(hold.name.len()).unwrap_or(u32::MAX),
            hold.limit,
            hold.wait,
            hold.options.ttl,
            hold.options.max_hold,
            hold.alone,
        )
    }

    /// A step with one release.
    pub fn release(&mut self, now: u64, lease: wit::LeaseId) -> wasmtime::Result<wit::Answer> {
        let exports = self.machine.witlock_engine_engine();
        exports.call_step_release(&mut self.store, now, lease)
    }

    /// The events of which an answer says that there are more than it tells.
    pub fn untold(&mut self) -> wasmtime::Result<Vec<wit::Event>> {
        let exports = self.machine.witlock_engine_engine();
        exports.call_untold(&mut self.store)
    }
}

/// An ask, borrowed: most are answered at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hold<'a> {
    pub session: u64,
    pub name: &'a str,
    pub limit: Option<u32>,
    pub key: &'a str,
    pub wait: Option<u32>,
    pub options: &'a wit::Options,
    pub alone: bool,
}

impl Hold<'_> {
    /// The same as a command.
    pub fn command(&self, ticket: u64) -> wit::Command {
        wit::Command::Hold(wit::Hold {
            ticket,
            session: self.session,
            name: self.name.into(),
            limit: self.limit,
            key: self.key.into(),
            wait: self.wait,
            options: self.options.clone(),
            request: None,
            alone: self.alone,
        })
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
