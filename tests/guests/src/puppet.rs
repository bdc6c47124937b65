//! The guest `puppet`, whose strings tests pull.

use std::thread::JoinHandle;
use std::time::Duration;

use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine, Result, Store};
use wasmtime_wasi::WasiCtx;
use witlock::LocksCtx;

use crate::stage;
pub use crate::stage::Stage;

#[allow(missing_docs)] // documented in the WIT
mod asynchronous {
    wasmtime::component::bindgen!({
        path: ["../../wit/locks-0.2", "../programs/puppet/wit"],
        world: "witlock:puppet/puppet",
        exports: { default: async },
        additional_derives: [PartialEq],
    });
}

#[allow(missing_docs)] // documented in the WIT
mod synchronous {
    wasmtime::component::bindgen!({
        path: ["../../wit/locks-0.2", "../programs/puppet/wit"],
        world: "witlock:puppet/puppet",
        with: { "witlock:locks/locks": super::asynchronous::witlock::locks::locks },
    });
}

pub use asynchronous::exports::witlock::puppet::strings::Guest as Strings;
pub use asynchronous::witlock::locks::locks::{Ending, LockError, Options};
pub use synchronous::exports::witlock::puppet::strings::Guest as SyncStrings;

/// Options as they are unless given.
pub const NO_OPTIONS: Options = Options {
    ttl: None,
    wait: None,
    max_hold: None,
    label: None,
};

fn store(engine: &Engine, locks: LocksCtx) -> Store<Stage> {
    let stage = Stage::new(Some(locks), WasiCtx::builder().build());
    let mut store = Store::new(engine, stage);
    // The first epoch stops it; until then it may spin.
    store.set_epoch_deadline(1);
    store
}

fn component() -> Result<(Engine, Component)> {
    let engine = Engine::new(Config::new().epoch_interruption(true))?;
    let component = Component::from_file(&engine, witlock_programs::PUPPET)?;
    Ok((engine, component))
}

/// Makes puppets that are called with `call_async`.
#[derive(Clone)]
pub struct Puppets {
    engine: Engine,
    puppet: asynchronous::PuppetPre<Stage>,
}

impl Puppets {
    /// Compiles the program.
    ///
    /// # Errors
    ///
    /// If it doesn't fit the linker.
    pub fn new() -> Result<Self> {
        let (engine, component) = component()?;
        let linker = stage::linker(&engine)?;
        let puppet = asynchronous::PuppetPre::new(linker.instantiate_pre(&component)?)?;
        Ok(Puppets { engine, puppet })
    }

    /// A puppet of its own, with this context.
    ///
    /// # Errors
    ///
    /// If it can't be instantiated.
    pub async fn puppet(&self, locks: LocksCtx) -> Result<Puppet> {
        let mut store = store(&self.engine, locks);
        let puppet = self.puppet.instantiate_async(&mut store).await?;
        Ok(Puppet { store, puppet })
    }

    /// Traps every puppet that is running by then.
    pub fn stop_all_after(&self, time: Duration) -> JoinHandle<()> {
        let engine = self.engine.clone();
        std::thread::spawn(move || {
            std::thread::sleep(time);
            engine.increment_epoch();
        })
    }
}

/// A guest, and its `wasmtime::Store`. Dropping it drops both.
pub struct Puppet {
    store: Store<Stage>,
    puppet: asynchronous::Puppet,
}

impl Puppet {
    /// Its exports, and what to call them with.
    pub fn strings(&mut self) -> (&Strings, &mut Store<Stage>) {
        (self.puppet.witlock_puppet_strings(), &mut self.store)
    }

    /// Ends the guest's session, as an embedder does that keeps its store.
    pub fn end(&self) {
        if let Some(locks) = &self.store.data().locks {
            locks.end();
        }
    }
}

/// A guest that is called with `call`.
pub struct SyncPuppet {
    store: Store<Stage>,
    puppet: synchronous::Puppet,
}

impl SyncPuppet {
    /// A puppet of its own, with this context.
    ///
    /// # Errors
    ///
    /// If it can't be compiled or instantiated.
    pub fn new(locks: LocksCtx) -> Result<Self> {
        let (engine, component) = component()?;
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_sync(&mut linker)?;
        witlock::p2::add_to_linker_sync(&mut linker)?;
        let mut store = store(&engine, locks);
        let puppet = synchronous::Puppet::instantiate(&mut store, &component, &linker)?;
        Ok(SyncPuppet { store, puppet })
    }

    /// Its exports, and what to call them with.
    pub fn strings(&mut self) -> (&SyncStrings, &mut Store<Stage>) {
        (self.puppet.witlock_puppet_strings(), &mut self.store)
    }
}
