//! The command line: what may be said, and its help.

use std::io;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::breaking::Break;
#[cfg(unix)]
use crate::guardian::Guardian;
use crate::hold::Hold;
use crate::ls::Ls;
use crate::serve::Serve;

/// Locks for WebAssembly components: one holder of a key at a time, waiters
/// served in order, a fence with every lease.
#[derive(Debug, Parser)]
#[command(name = "witlock", version)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Run(Run),
    Serve(Serve),
    Hold(Hold),
    Ls(Ls),
    Break(Break),
    #[cfg(unix)]
    #[command(hide = true)]
    Guardian(Guardian),
}

/// Run a component that imports witlock:locks
///
/// Runs a command component, one that exports wasi:cli/run of WASI 0.2 or 0.3, and gives
/// it the locks of a store. It has this process's standard input, output and
/// error, clocks and random numbers, and of files and the environment only what
/// --dir and --env give it. It has no network.
///
/// What it compiles is kept in the user's wasmtime cache, so that the next run need not.
#[derive(Debug, Args)]
#[command(after_help = MORE, verbatim_doc_comment)]
pub struct Run {
    /// The component to run
    #[arg(value_name = "APP.wasm")]
    pub app: PathBuf,

    /// Keep the store in this directory, so that its fences go on growing
    ///
    /// The directory is made if it is not there. One process at a time may hold
    /// it. Without it the store is in memory, and its fences start anew at every
    /// run.
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,

    /// Reach the store that another process serves: unix:PATH, tcp:HOST:PORT or tls:HOST:PORT
    ///
    /// Its keys are held across processes. A lease is renewed while its guest runs;
    /// it ends at its ttl if the server stays out of reach. WITLOCK_TOKEN, or the
    /// file that WITLOCK_TOKEN_FILE names, has the token for TCP; the file
    /// that WITLOCK_TLS_ROOTS names, for tls, the certificates that vouch for the server.
    #[arg(long, value_name = "ADDR", conflicts_with = "store")]
    pub connect: Option<String>,

    /// Let the guest read and write HOST, which it sees as GUEST
    ///
    /// Just HOST gives it the directory under its own name. May be repeated.
    #[arg(long = "dir", value_name = "HOST::GUEST", value_parser = directory)]
    pub directories: Vec<Directory>,

    /// Set an environment variable of the guest; it has no others
    ///
    /// May be repeated.
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = variable)]
    pub environment: Vec<Variable>,

    /// Run so many instances side by side, on one store: 1 to 10000
    ///
    /// Each is a holder of its own, and finds its number, from 0, in
    /// WITLOCK_INSTANCE. They share standard input: a line goes to one of them.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=MOST_INSTANCES))]
    pub instances: u32,

    /// What the guest finds as its arguments, after its name
    #[arg(last = true, value_name = "ARGS")]
    pub arguments: Vec<String>,
}

/// Twice as many take more memory mappings than Linux gives a process, and
/// running out of those is no plain error.
const MOST_INSTANCES: i64 = 10_000;

const MORE: &str = "\
Examples:
  Run an app on a store of its own:
      witlock run app.wasm --store ./locks
  Give it arguments, a variable, and a directory that it sees as /data:
      witlock run app.wasm --store ./locks --env LEVEL=debug --dir ./out::/data -- import --all
  The same, on keys that other processes hold too, of a store that is served:
      witlock serve --store ./locks
      witlock run app.wasm --connect unix:./locks/witlock.sock
  Four workers that take turns by their locks:
      witlock run worker.wasm --store ./locks --instances 4

Environment of the guest:
  WITLOCK_INSTANCE  the instance's number, from 0 to N - 1
  and what --env sets; nothing of this process's own environment.

Exit codes:
  0    every instance ended well
  134  a guest trapped; the reason and the wasm backtrace are on standard error
  130  stopped by Ctrl-C (SIGINT)
  143  stopped by SIGTERM
  117  the store of --connect cannot be reached
  118  its server refuses, as it does without its token
  2    the arguments are wrong
  1    the guest failed; or witlock could not run it, and says why
  else the guest's own code, where its language can tell more than failure
Of several instances, it is the code of the first in number that did not end with 0.

However a guest ends, its keys go to the next in line at once. Ctrl-C and SIGTERM
stop the guests, then close the store. Where this process is killed, keys held by
--connect go on when their ttl is over.";

/// A directory of this machine, and its name in the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directory {
    pub host: PathBuf,
    pub guest: String,
}

fn directory(text: &str) -> Result<Directory, String> {
    let (host, guest) = text.split_once("::").unwrap_or((text, text));
    if host.is_empty() || guest.is_empty() {
        return Err("write HOST::GUEST, both of them".to_owned());
    }
    let (host, guest) = (PathBuf::from(host), guest.to_owned());
    match host.metadata() {
        Ok(found) if found.is_dir() => Ok(Directory { host, guest }),
        Ok(_) => Err(format!("{} is not a directory", host.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(format!("there is no directory {}", host.display()))
        }
        Err(error) => Err(format!("{}: {error}", host.display())),
    }
}

/// The variable that tells an instance its number.
pub const INSTANCE: &str = "WITLOCK_INSTANCE";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub value: String,
}

fn variable(text: &str) -> Result<Variable, String> {
    match text.split_once('=') {
        None => Err("it has no `=`: write NAME=VALUE".to_owned()),
        Some(("", _)) => Err("it has no name before the `=`: write NAME=VALUE".to_owned()),
        Some((INSTANCE, _)) => Err(format!("{INSTANCE} is set by witlock")),
        Some((name, value)) => Ok(Variable {
            name: name.to_owned(),
            value: value.to_owned(),
        }),
    }
}
