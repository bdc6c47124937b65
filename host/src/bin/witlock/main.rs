//! The `witlock` command: runs WebAssembly components with locks, and reaches a
//! store that is served.

mod args;
mod breaking;
mod codes;
mod command;
#[cfg(unix)]
mod dispositions;
mod entries;
mod epochs;
#[cfg(unix)]
mod guardian;
mod guest;
mod hold;
mod instances;
mod lease_id;
mod load;
mod ls;
mod reach;
mod run;
mod serve;
mod signals;
mod spans;
mod surface;
mod token;
mod warnings;

use std::io::{self, Write};

use clap::Parser;

use args::{Cli, Command};
use codes::Failure;

/// The exit code where `witlock` itself could not do what it was told.
const FAILED: u8 = 1;

fn main() {
    warnings::to_stderr();
    let done = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Hold(args) => hold::run(&args),
        Command::Ls(args) => ls::run(&args),
        Command::Break(args) => breaking::run(&args),
        #[cfg(unix)]
        Command::Guardian(args) => guardian::run(&args),
    };
    let code = done.unwrap_or_else(|error| {
        log::error!("{}", codes::told(&error));
        error
            .downcast_ref()
            .map_or(FAILED, |failure: &Failure| failure.code)
    });
    leave(code)
}

/// Ends the process at once. Returning from `main` would do as well, but for
/// threads in the middle of a read that nobody waits for any more.
fn leave(code: u8) -> ! {
    // With nobody left to read the output there is nobody to tell either.
    let _ = io::stdout().flush();
    std::process::exit(code.into())
}
