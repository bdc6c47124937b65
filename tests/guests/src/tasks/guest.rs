//! The program as a guest of this process.

use std::collections::HashMap;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, OnceLock};

use tokio::sync::mpsc::UnboundedReceiver;
use wasmtime::component::Component;
use wasmtime::{Engine, Result, Store};
use wasmtime_wasi::WasiCtx;
use wasmtime_wasi::p3::bindings::CommandPre;
use witlock::LocksCtx;

use super::stdio::{Input, Output};
use super::time;
use crate::stage::{self, Stage};

/// Runs a component until it returns or traps; its store is dropped then.
pub fn run(
    component: &'static str,
    locks: Option<LocksCtx>,
    stdin: UnboundedReceiver<Vec<u8>>,
    stdout: Sender<Vec<u8>>,
) -> Result<()> {
    let mut wasi = WasiCtx::builder();
    wasi.stdin(Input::new(stdin)).stdout(Output::new(stdout));
    let stage = Stage::new(locks, wasi.build());
    let command = compiled(component)?;
    let mut store = Store::new(engine(), stage);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    runtime.block_on(async {
        let command = command.instantiate_async(&mut store).await?;
        let run = command.wasi_cli_run();
        let called = store.run_concurrent(async |accessor| run.call_run(accessor).await);
        called
            .await??
            .map_err(|()| wasmtime::Error::msg("the program failed"))
    })
}

fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(Engine::default)
}

/// Each is compiled once.
fn compiled(component: &'static str) -> Result<CommandPre<Stage>> {
    static COMPILED: Mutex<Option<HashMap<&str, CommandPre<Stage>>>> = Mutex::new(None);
    let mut compiled = COMPILED.lock().expect("unharmed");
    let compiled = compiled.get_or_insert_default();
    if let Some(command) = compiled.get(component) {
        return Ok(command.clone());
    }
    let command = link(component)?;
    compiled.insert(component, command.clone());
    Ok(command)
}

fn link(component: &str) -> Result<CommandPre<Stage>> {
    let compiled = Component::from_file(engine(), component)?;
    let mut linker = stage::linker(engine())?;
    if component == witlock_programs::TASKS_WITH_LOCKS_IN_TIME {
        time::add_to_linker(&mut linker)?;
    }
    CommandPre::new(linker.instantiate_pre(&compiled)?)
}
