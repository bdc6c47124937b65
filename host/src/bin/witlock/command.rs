//! A command of either WASI: which one a component is, its exports tell.

use wasmtime::component::InstancePre;
use wasmtime::{Result, Store};
use wasmtime_wasi::{p2, p3};

use crate::guest::Guest;

/// A command to be instantiated.
#[derive(Clone)]
pub enum Command {
    /// Exports `wasi:cli/run@0.2`: while it waits, all of it stands still.
    Standing(p2::bindings::CommandPre<Guest>),
    /// Exports `wasi:cli/run@0.3`, an async function.
    Async(p3::bindings::CommandPre<Guest>),
}

/// An instance of it.
pub enum Instance {
    Standing(p2::bindings::Command),
    Async(p3::bindings::Command),
}

impl Command {
    /// The command that a component is. One that exports both versions is
    /// called by the later one, as wasmtime's own command line does.
    pub fn new(component: InstancePre<Guest>) -> Result<Self> {
        match p3::bindings::CommandPre::new(component.clone()) {
            Ok(command) => Ok(Command::Async(command)),
            Err(_) => p2::bindings::CommandPre::new(component).map(Command::Standing),
        }
    }

    pub async fn instantiate(&self, store: &mut Store<Guest>) -> Result<Instance> {
        match self {
            Command::Standing(command) => command
                .instantiate_async(store)
                .await
                .map(Instance::Standing),
            Command::Async(command) => command.instantiate_async(store).await.map(Instance::Async),
        }
    }
}

impl Instance {
    /// Calls `run`. An error is a trap, or an exit.
    pub async fn run(&self, store: &mut Store<Guest>) -> Result<std::result::Result<(), ()>> {
        match self {
            Instance::Standing(command) => command.wasi_cli_run().call_run(store).await,
            Instance::Async(command) => {
                let run = command.wasi_cli_run();
                store
                    .run_concurrent(async |accessor| run.call_run(accessor).await)
                    .await?
            }
        }
    }
}
