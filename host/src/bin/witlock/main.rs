//! The `witlock` command: runs WebAssembly components with locks.

mod args;
mod command;
mod epochs;
mod guest;
mod instances;
mod load;
mod run;
mod signals;
mod surface;
mod warnings;

use std::io::{self, Write};

use clap::Parser;

use args::{Cli, Command};

/// The exit code where `witlock` itself could not do what it was told.
const FAILED: u8 = 1;

fn main() {
    warnings::to_stderr();
    let done = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
    };
    let code = done.unwrap_or_else(|error| {
        log::error!("{error:#}");
        FAILED
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
