//! `witlock ls`.

use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};

use anyhow::{Context, Result};
use clap::Args;
use tokio::runtime::{self, Runtime};
use witlock::{ListError, Store, Waiting};

use crate::codes::{self, Failure};
use crate::entries::Entry;
use crate::reach::OperatorReach;

/// List who holds keys, and who waits for them
///
/// For operators: over the Unix socket of the server, or with the admin token.
/// It is no snapshot: what comes or goes meanwhile may be listed or not.
#[derive(Debug, Args)]
#[command(after_help = MORE, verbatim_doc_comment)]
pub struct Ls {
    #[command(flatten)]
    reach: OperatorReach,

    /// List who waits as well, each key's line in its order
    #[arg(long)]
    waiters: bool,

    /// Write a JSON object per line
    #[arg(long)]
    json: bool,
}

const MORE: &str = "\
Each line tells of a lease: what `witlock break` takes, how long it has been held,
and how long until its deadline if it is not renewed; then the lock or semaphore,
the key, the label and the client, quoted. The fence is the part of the lease before
the dash. With --waiters follow those in line: their place, how long they have
waited, and how long until their wait runs out.

With --json a line is {\"holding\": {...}} or {\"waiting\": {...}}; spans are in
milliseconds.

Environment:
  WITLOCK_CONNECT      where the store is served, without --connect and --store
  WITLOCK_ADMIN_TOKEN  the admin token, without --admin-token-file
  WITLOCK_TLS_ROOTS    for tls: the file with the certificates that vouch for the server

Exit codes:
  0    all was listed
  117  the store cannot be reached
  118  the server refuses: over TCP it takes the admin token
  2    the arguments are wrong";

/// Lists page by page, never all at once in memory.
pub fn run(args: &Ls) -> Result<u8> {
    let store = args.reach.connect()?;
    let mut out = Out {
        to: BufWriter::new(io::stdout().lock()),
        is_json: args.json,
    };
    match runtime()?.block_on(list(&store, args.waiters, &mut out)) {
        // Who reads has seen enough.
        Err(error) if is_closed(&error) => Ok(0),
        done => done.map(|()| 0),
    }
}

/// The runtime in which a command waits for its answers.
pub fn runtime() -> Result<Runtime> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("no runtime can be started")
}

async fn list(store: &Store, with_waiters: bool, out: &mut Out<'_>) -> Result<()> {
    let mut page = store.holdings(None).await.map_err(refused)?;
    loop {
        out.page(page.items.iter().map(Entry::from))?;
        let Some(next) = page.next else { break };
        page = store.holdings(Some(next)).await.map_err(refused)?;
    }
    if with_waiters {
        list_waiters(store, out).await?;
    }
    Ok(())
}

async fn list_waiters(store: &Store, out: &mut Out<'_>) -> Result<()> {
    let mut places = Places::default();
    let mut page = store.waiters(None).await.map_err(refused)?;
    loop {
        let entry = |waiting| Entry::in_line(waiting, places.of(waiting));
        out.page(page.items.iter().map(entry))?;
        let Some(next) = page.next else { return Ok(()) };
        page = store.waiters(Some(next)).await.map_err(refused)?;
    }
}

/// The places in line. Waiters are listed line by line, each in its order.
#[derive(Default)]
struct Places {
    /// Whoever was listed last, and in which place.
    last: Option<(Waiting, u64)>,
}

impl Places {
    fn of(&mut self, waiting: &Waiting) -> u64 {
        let place = match &self.last {
            Some((last, place)) if is_same_line(last, waiting) => place + 1,
            _ => 1,
        };
        self.last = Some((waiting.clone(), place));
        place
    }
}

fn is_same_line(one: &Waiting, other: &Waiting) -> bool {
    let line = |of: &Waiting| (of.limit.is_some(), of.name.clone(), of.key.clone());
    line(one) == line(other)
}

struct Out<'a> {
    to: BufWriter<StdoutLock<'a>>,
    is_json: bool,
}

impl Out<'_> {
    fn page<'a>(&mut self, entries: impl Iterator<Item = Entry<'a>>) -> io::Result<()> {
        for entry in entries {
            match self.is_json {
                true => writeln!(self.to, "{}", serde_json::to_string(&entry)?)?,
                false => writeln!(self.to, "{entry}")?,
            }
        }
        self.to.flush()
    }
}

fn is_closed(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

pub fn refused(error: ListError) -> anyhow::Error {
    Failure::new(codes::of_list_error(&error), error).into()
}
