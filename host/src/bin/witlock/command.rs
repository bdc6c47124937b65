//! A command of either WASI.

use wasmtime::component::InstancePre;
use wasmtime::{Result, Store};
use wasmtime_wasi::{p2, p3};

use crate::guest::Guest;
use crate::load::Run;

/// A command to be instantiated.
#[derive(Clone)]
pub enum Command {
    Standing(p2::bindings::CommandPre<Guest>),
    Async(p3::bindings::CommandPre<Guest>),
}

/// An instance of it.
pub enum Instance {
    Standing(p2::bindings::Command),
    Async(p3::bindings::Command),
}

impl Command {
    /// The command that a component is by this `run`.
    pub fn new(component: InstancePre<Guest>, run: Run) -> Result<Self> {
        match run {
            Run::Standing => p2::bindings::CommandPre::new(component).map(Command::Standing),
            Run::Async => p3::bindings::CommandPre::new(component).map(Command::Async),
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
