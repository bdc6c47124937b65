//! The instances of a run, side by side.

use std::fmt;
use std::panic;

use tokio::task::{JoinError, JoinSet};
use wasmtime::{Engine, Store};
use wasmtime_wasi::I32Exit;

use crate::command::Command;
use crate::guest::Guest;

/// The code of a guest that failed without saying one.
const FAILED: u8 = 1;

/// The code of a guest that trapped: that of a process that aborted.
const TRAPPED: u8 = 134;

/// Instances that run.
pub struct Instances {
    running: JoinSet<(usize, u8)>,
    codes: Vec<u8>,
}

impl Instances {
    /// Starts an instance for each guest, in the runtime of the caller.
    pub fn start(engine: &Engine, command: &Command, guests: Vec<Guest>) -> Instances {
        let mut instances = Instances {
            running: JoinSet::new(),
            codes: vec![0; guests.len()],
        };
        let alone = guests.len() == 1;
        for (number, guest) in guests.into_iter().enumerate() {
            let name = if alone {
                Name::Alone
            } else {
                Name::Number(number)
            };
            let mut store = Store::new(engine, guest);
            store.set_epoch_deadline(1);
            store.epoch_deadline_async_yield_and_update(1);
            let code = run(store, command.clone(), name);
            instances.running.spawn(async move { (number, code.await) });
        }
        instances
    }

    /// Waits for all, and gives the code of the first in number that isn't 0.
    pub async fn ended(&mut self) -> u8 {
        while let Some(ended) = self.running.join_next().await {
            let (number, code) = ended.unwrap_or_else(|error| go_on_panicking(error));
            self.codes[number] = code;
        }
        self.codes
            .iter()
            .copied()
            .find(|&code| code != 0)
            .unwrap_or(0)
    }

    /// Stops all, and waits until they are stopped and hold nothing.
    pub async fn stop(&mut self) {
        self.running.shutdown().await;
    }
}

/// A panic of ours is not to look like an end of the guest's.
fn go_on_panicking(error: JoinError) -> ! {
    match error.try_into_panic() {
        Ok(payload) => panic::resume_unwind(payload),
        Err(error) => unreachable!("nobody stops an instance and waits for its end: {error}"),
    }
}

/// Runs an instance to its end. Its keys go on as its store is dropped, before
/// its end is told.
async fn run(mut store: Store<Guest>, command: Command, name: Name) -> u8 {
    let called = call(&mut store, &command).await;
    drop(store);
    called.unwrap_or_else(|end| end.code(name))
}

/// How an instance ends other than by its `run` returning.
enum End {
    Unstarted(wasmtime::Error),
    Broke(wasmtime::Error),
}

async fn call(store: &mut Store<Guest>, command: &Command) -> Result<u8, End> {
    let instance = command.instantiate(store).await.map_err(|error| {
        if error.is::<wasmtime::Trap>() {
            End::Broke(error)
        } else {
            End::Unstarted(error)
        }
    })?;
    let ended = instance.run(store).await.map_err(End::Broke)?;
    Ok(ended.map_or(FAILED, |()| 0))
}

impl End {
    /// The exit code, and a word to the user unless the guest asked for it.
    fn code(self, name: Name) -> u8 {
        match self {
            End::Unstarted(error) => {
                log::error!("{name} could not be started: {error:#}");
                FAILED
            }
            End::Broke(error) => match error.downcast_ref::<I32Exit>() {
                Some(exit) => u8::try_from(exit.0).unwrap_or(FAILED),
                None => {
                    log::error!("{name} trapped: {}", reason_and_place(&error));
                    TRAPPED
                }
            },
        }
    }
}

/// The reason of a trap, then the wasm backtrace, which wasmtime puts around it.
fn reason_and_place(error: &wasmtime::Error) -> String {
    let reasons: Vec<String> = error.chain().skip(1).map(ToString::to_string).collect();
    if reasons.is_empty() {
        return error.to_string();
    }
    format!("{}\n{error}", reasons.join(": "))
}

/// What a message calls an instance.
enum Name {
    Alone,
    Number(usize),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Alone => f.write_str("the guest"),
            Name::Number(number) => write!(f, "instance {number}"),
        }
    }
}
