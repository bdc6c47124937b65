//! `witlock break`.

use anyhow::{Result, anyhow};
use clap::Args;
use witlock::{BreakError, Store};

use crate::codes::{self, Failure};
use crate::entries::Subject;
use crate::lease_id::LeaseId;
use crate::ls;
use crate::reach::OperatorReach;

/// End a lease, and give its key to the next in line
///
/// For operators: over the Unix socket of the server, or with the admin token.
/// Whoever breaks a lease vouches that its holder is gone: the holder is told that
/// its lease was broken, but the key goes on at once.
#[derive(Debug, Args)]
#[command(after_help = MORE, verbatim_doc_comment)]
pub struct Break {
    /// The lease, as `witlock ls` shows it
    #[arg(value_name = "LEASE")]
    lease: LeaseId,

    #[command(flatten)]
    reach: OperatorReach,
}

const MORE: &str = "\
Environment:
  WITLOCK_CONNECT      where the store is served, without --connect and --store
  WITLOCK_ADMIN_TOKEN  the admin token, without --admin-token-file
  WITLOCK_TLS_ROOTS    for tls: the file with the certificates that vouch for the server

Exit codes:
  0    the lease was broken
  116  it is not held, or no longer
  117  the store cannot be reached
  118  the server refuses: over TCP it takes the admin token
  2    the arguments are wrong";

/// Breaks the lease, and says what it was.
pub fn run(args: &Break) -> Result<u8> {
    let store = args.reach.connect()?;
    let lease = args.lease;
    let broken = ls::runtime()?.block_on(async {
        // After it there is nothing to be found.
        let subject = subject(&store, lease).await?;
        let broken = store.break_lease(lease.0).await;
        anyhow::Ok(broken.map(|()| subject))
    })?;
    let subject = broken.map_err(|error| refused(lease, error))?;
    match subject {
        Some(subject) => println!("broke {lease}: {subject}"),
        // It was granted after the listing had passed its place.
        None => println!("broke {lease}"),
    }
    Ok(0)
}

fn refused(lease: LeaseId, error: BreakError) -> anyhow::Error {
    match error {
        BreakError::Asking(error) => ls::refused(error),
        _ => Failure::new(codes::LOST, anyhow!("the lease {lease} is not held")).into(),
    }
}

/// What is held by the lease, as text.
async fn subject(store: &Store, lease: LeaseId) -> Result<Option<String>> {
    let mut page = store.holdings(None).await.map_err(ls::refused)?;
    loop {
        let found = page.items.iter().find(|holding| holding.lease == lease.0);
        if let Some(holding) = found {
            return Ok(Some(Subject::from(holding).to_string()));
        }
        let Some(next) = page.next else {
            return Ok(None);
        };
        page = store.holdings(Some(next)).await.map_err(ls::refused)?;
    }
}
