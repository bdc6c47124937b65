//! `witlock run`.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use tokio::runtime::{self, Runtime};
use tokio::sync::oneshot::Receiver;
use witlock::{OpenError, Store};

use crate::args::Run;
use crate::guest::{self, Guest};
use crate::instances::Instances;
use crate::load::App;
use crate::signals::Signal;
use crate::{epochs, load, reach, signals};

/// Runs the instances to their end, and gives the exit code.
pub fn run(args: &Run) -> Result<u8> {
    let app = load::read(&args.app)?;
    let store = match &args.connect {
        Some(address) => reach::connect(address, reach::token()?)?,
        None => open(args.store.as_deref())?,
    };
    let code = run_on(&store, &app, args)?;
    store.close();
    Ok(code)
}

fn run_on(store: &Store, app: &App, args: &Run) -> Result<u8> {
    let engine = guest::engine()?;
    let command = guest::link(&engine, app).with_context(|| args.app.display().to_string())?;
    let guests = (0..args.instances)
        .map(|number| Guest::new(args, store, number))
        .collect::<Result<Vec<_>>>()?;
    epochs::tick(engine.clone()).context("no thread can be started")?;
    let signal = signals::watch(store.clone()).context("signals cannot be watched")?;
    let runtime = runtime()?;
    let code = runtime.block_on(async {
        ended_or_stopped(Instances::start(&engine, &command, guests), signal).await
    });
    // A call of the system that a stopped guest left behind may never return.
    runtime.shutdown_background();
    Ok(code)
}

async fn ended_or_stopped(mut instances: Instances, signal: Receiver<Signal>) -> u8 {
    tokio::select! {
        code = instances.ended() => code,
        Ok(signal) = signal => {
            instances.stop().await;
            signal.code()
        }
    }
}

fn open(directory: Option<&Path>) -> Result<Store> {
    let Some(directory) = directory else {
        log::warn!(
            "the store is in memory, for want of --store DIR: what is guarded by its fences will \
             see them start anew at the next run"
        );
        return Ok(Store::in_memory()?);
    };
    Store::open(directory).map_err(|error| match error {
        OpenError::Held { .. } => anyhow!(
            "{error}. If that process is `witlock serve`, reach it by --connect. Else wait until it \
             has ended, or give this run a directory of its own; instances that are to share locks \
             run in one process, by --instances N"
        ),
        error => error.into(),
    })
}

/// The runtime of the guests.
fn runtime() -> Result<Runtime> {
    runtime::Builder::new_multi_thread()
        .enable_all()
        // A guest that computes is a task that takes a whole tick each time:
        // look for what has come in after every one.
        .event_interval(1)
        .build()
        .context("no runtime can be started")
}
