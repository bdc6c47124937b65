//! `witlock hold`.

mod args;
#[cfg(unix)]
mod find;
#[cfg(unix)]
mod guardian;
#[cfg(unix)]
mod held;
#[cfg(unix)]
mod key;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod terminal;

use anyhow::Result;

pub use args::Hold;

/// Holds the key while the command runs, and gives the exit code.
#[cfg(unix)]
pub fn run(args: &Hold) -> Result<u8> {
    use anyhow::Context;
    let program = args.command.first();
    find::check(program.context("there is no command")?)?;
    let store = args.reach.connect()?;
    let done = key::hold(&store, args);
    store.close();
    done
}

/// Elsewhere there are no process groups that could be ended.
#[cfg(not(unix))]
pub fn run(_: &Hold) -> Result<u8> {
    anyhow::bail!("`witlock hold` is for Unix only")
}
