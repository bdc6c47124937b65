//! Commands, which are run by their arguments, and what they print.

use std::path::Path;
use std::time::Duration;

use tokio::time::timeout;
use wasmtime::component::{Component, InstancePre};
use wasmtime::{Config, Engine, Result, Store};
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;
use wasmtime_wasi::{WasiCtx, p2, p3};
use witlock::LocksCtx;

use crate::stage::{self, Stage};

/// Far more than any of them prints.
const PRINTED: usize = 1 << 20;

/// Far longer than any of them runs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command of either WASI, compiled.
pub struct Command {
    engine: Engine,
    run: Run,
}

enum Run {
    Standing(p2::bindings::CommandPre<Stage>),
    Async(p3::bindings::CommandPre<Stage>),
}

/// A command that has run. What it holds still it holds until this is dropped.
pub struct Ran {
    /// Whether it returned well; an error is a trap or an exit.
    pub returned: Result<std::result::Result<(), ()>>,
    /// What it printed.
    pub out: String,
    /// What it printed of errors.
    pub err: String,
    _store: Store<Stage>,
}

impl Command {
    /// Compiles a command.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub fn compile(component: &Path) -> Result<Self> {
        // A guest that spins gives way to the patience.
        let engine = Engine::new(Config::new().epoch_interruption(true))?;
        let ticked = engine.clone();
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_millis(10));
                ticked.increment_epoch();
            }
        });
        let component = Component::from_file(&engine, component)?;
        let component = stage::linker(&engine)?.instantiate_pre(&component)?;
        Ok(Command {
            run: Run::new(component)?,
            engine,
        })
    }

    /// Runs it once.
    pub async fn run(&self, locks: LocksCtx, arguments: &[&str]) -> Ran {
        let (out, err) = (
            MemoryOutputPipe::new(PRINTED),
            MemoryOutputPipe::new(PRINTED),
        );
        let mut wasi = WasiCtx::builder();
        wasi.stdout(out.clone()).stderr(err.clone());
        wasi.arg("guest").args(arguments);
        let mut store = Store::new(&self.engine, Stage::new(Some(locks), wasi.build()));
        store.set_epoch_deadline(1);
        store.epoch_deadline_async_yield_and_update(1);
        let returned = timeout(PATIENCE, self.run.call(&mut store)).await;
        Ran {
            returned: returned.unwrap_or_else(|_| Err(wasmtime::Error::msg("it hangs"))),
            out: text(&out),
            err: text(&err),
            _store: store,
        }
    }
}

impl Run {
    /// By the later of the two, as wasmtime's command line does.
    fn new(component: InstancePre<Stage>) -> Result<Self> {
        p3::bindings::CommandPre::new(component.clone())
            .map(Run::Async)
            .or_else(|_| p2::bindings::CommandPre::new(component).map(Run::Standing))
    }

    async fn call(&self, store: &mut Store<Stage>) -> Result<std::result::Result<(), ()>> {
        match self {
            Run::Standing(command) => {
                let command = command.instantiate_async(&mut *store).await?;
                command.wasi_cli_run().call_run(store).await
            }
            Run::Async(command) => {
                let command = command.instantiate_async(&mut *store).await?;
                let run = command.wasi_cli_run();
                let called = store.run_concurrent(async |accessor| run.call_run(accessor).await);
                called.await?
            }
        }
    }
}

fn text(printed: &MemoryOutputPipe) -> String {
    String::from_utf8_lossy(&printed.contents()).into_owned()
}
