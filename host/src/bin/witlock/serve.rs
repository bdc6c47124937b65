//! `witlock serve`.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use witlock::{BindError, Server, ServerBuilder, Store};
use witlock_engine::bounds::TTL_MOST;

use crate::codes::{self, Failure};
use crate::{ls, reach, signals, spans, token};

/// Serve a store to other processes
///
/// Holds the store and lets others hold its keys: `witlock hold`, `witlock run
/// --connect`, programs that use the witlock crate, and apps composed with client.wasm.
#[derive(Debug, Args)]
#[command(after_help = MORE, verbatim_doc_comment)]
pub struct Serve {
    /// The store's directory, which is made if it is not there
    ///
    /// It is always served at DIR/witlock.sock, to processes of the same user.
    #[arg(long, value_name = "DIR")]
    store: PathBuf,

    /// Listen here too: unix:PATH, tcp:HOST:PORT on loopback, or tls:HOST:PORT
    ///
    /// May be repeated. TCP, with TLS or not, asks every client for the token.
    #[arg(long, value_name = "ADDR")]
    listen: Vec<String>,

    /// The file with the token for TCP; made as DIR/token unless given
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// The file with the token that lets operators list and break leases over TCP
    #[arg(long, value_name = "FILE")]
    admin_token_file: Option<PathBuf>,

    /// For tls: the file with the certificate chain, PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_chain: Option<PathBuf>,

    /// For tls: the file with the certificate's key, PEM
    #[arg(long, value_name = "FILE", requires = "tls_chain")]
    tls_key: Option<PathBuf>,

    /// Give no key for SPAN after the start, but to who holds one already; 1h without SPAN
    ///
    /// For a directory that was restored from a backup: others may hold keys of which it
    /// does not tell. SPAN is then the longest ttl in use.
    #[arg(
        long,
        value_name = "SPAN",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1h",
        value_parser = grace,
        conflicts_with = "no_grace"
    )]
    grace: Option<Duration>,

    /// Give keys at once, also where the directory does not tell of all who may hold some
    ///
    /// Where all of them are known to be gone.
    #[arg(long)]
    no_grace: bool,
}

/// The longest ttl there may be.
const GRACE_MOST: Duration = Duration::from_millis(TTL_MOST as u64);

const MORE: &str = "\
Examples:
  For processes of this user:
      witlock serve --store ./locks
      witlock hold deploy production --store ./locks -- ./deploy.sh
  For clients that know the token, which is in ./locks/token:
      witlock serve --store ./locks --listen tcp:127.0.0.1:7411
      WITLOCK_TOKEN_FILE=./locks/token witlock hold jobs a --connect tcp:127.0.0.1:7411 -- ./job
  Beyond this machine, for clients that know the token and trust the certificate:
      witlock serve --store ./locks --listen tls:0.0.0.0:7411 --tls-chain c.pem --tls-key k.pem
      export WITLOCK_TOKEN_FILE=./token WITLOCK_TLS_ROOTS=./root.pem
      witlock hold jobs a --connect tls:locks.example:7411 -- ./job

SIGTERM and Ctrl-C stop the server. No lease ends by that, nor by a kill: clients come
back, and the next server goes on with every lease, which its directory tells, each for
its ttl from then. After a restart of the machine, or where the directory's journal is
damaged, it waits until all leases are over, at most the longest ttl, before it gives a
key.

Exit codes:
  0    stopped by a signal
  2    the arguments are wrong
  1    the store could not be opened or served; the message says why";

/// Serves until a signal.
pub fn run(args: &Serve) -> Result<u8> {
    allow_connections();
    let stopped = ls::runtime()?;
    // Caught before anybody can know that it serves.
    let mut signals = stopped.block_on(async { signals::Signals::catch() })?;
    let store = open(args)?;
    let server = bind(&store, args)?;
    for address in server.addresses() {
        println!("listening at {address}");
    }
    stopped.block_on(signals.next());
    server.stop();
    store.close();
    Ok(0)
}

/// As many as the system lets this process have: where a process may have 1 024 open
/// files, that is for the sake of programs that can't do with more.
fn allow_connections() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            log::warn!("the server may have few connections: {error}");
        }
    }
}

fn open(args: &Serve) -> Result<Store> {
    let mut builder = Store::builder();
    if let Some(span) = args.no_grace.then_some(Duration::ZERO).or(args.grace) {
        builder = builder.grace(span);
    }
    Ok(builder.open(&args.store)?)
}

/// No lease lasts longer than an hour unrenewed.
fn grace(text: &str) -> Result<Duration, String> {
    let span = spans::span(text)?;
    match span <= GRACE_MOST {
        true => Ok(span),
        false => Err("the longest ttl there may be is 1h".to_owned()),
    }
}

fn bind(store: &Store, args: &Serve) -> Result<Server> {
    let socket = args.store.join(reach::SOCKET);
    let socket = socket
        .to_str()
        .context("the store's directory is not UTF-8")?;
    let mut builder = Server::builder(store).listen(format!("unix:{socket}"));
    for address in &args.listen {
        builder = builder.listen(address);
    }
    builder = with_tokens(builder, args)?;
    builder = with_tls(builder, args)?;
    builder.bind().map_err(explained)
}

fn with_tokens(mut builder: ServerBuilder, args: &Serve) -> Result<ServerBuilder> {
    let is_open = args
        .listen
        .iter()
        .any(|address| !address.starts_with("unix:"));
    let file = match &args.token_file {
        Some(file) => Some(file.clone()),
        None if is_open => Some(token::of_store(&args.store)?),
        None => None,
    };
    if let Some(file) = file {
        builder = builder.token(reach::read(&file)?);
        println!("the token is in {}", file.display());
    }
    if let Some(file) = &args.admin_token_file {
        builder = builder.admin_token(reach::read(file)?);
    }
    Ok(builder)
}

fn with_tls(builder: ServerBuilder, args: &Serve) -> Result<ServerBuilder> {
    let is_tls = |address: &&String| address.starts_with("tls:");
    match (
        &args.tls_chain,
        &args.tls_key,
        args.listen.iter().find(is_tls),
    ) {
        (Some(chain), Some(key), _) => Ok(builder.tls(read(chain)?, read(key)?)),
        (_, _, Some(address)) => {
            let why = anyhow!("{address} needs --tls-chain and --tls-key");
            Err(Failure::new(codes::USAGE, why).into())
        }
        _ => Ok(builder),
    }
}

fn read(file: &PathBuf) -> Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("{} cannot be read", file.display()))
}

fn explained(error: BindError) -> anyhow::Error {
    match error {
        BindError::Address { .. } | BindError::Unsealed { .. } => {
            Failure::new(codes::USAGE, error).into()
        }
        error => error.into(),
    }
}
