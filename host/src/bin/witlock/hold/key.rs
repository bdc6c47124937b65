//! The key: asked for, held, and how it was refused.

use anyhow::{Context, Result, anyhow};
use tokio::runtime;
use witlock::{Lease, Lock, LockError, Store};

use super::Hold;
use super::guardian::Guardian;
use super::held::Held;
use super::signals::Signals;
use crate::codes::{self, Failure};
use crate::spans::shown;

/// Waits for the key, and holds it while the command runs.
pub fn hold(store: &Store, args: &Hold) -> Result<u8> {
    let lock = open(store, args).map_err(|error| refused(args, error))?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("no runtime can be started").map_err(ours)?;
    runtime.block_on(async {
        let signals = Signals::catch().context("signals cannot be watched");
        let mut signals = signals.map_err(ours)?;
        tokio::select! {
            lease = ask(&lock, args) => run_under(&lease?, args, &mut signals).await,
            signal = signals.next_ending() => Ok(codes::of_signal(signal)),
        }
    })
}

fn open(store: &Store, args: &Hold) -> Result<Lock, LockError> {
    let lock = match args.limit {
        Some(limit) => store.semaphore(&args.lock, limit),
        None => store.lock(&args.lock),
    };
    let mut lock = lock.ttl(args.ttl).wait(args.wait);
    if let Some(max_hold) = args.max_hold {
        lock = lock.max_hold(max_hold);
    }
    if let Some(label) = &args.label {
        lock = lock.label(label);
    }
    lock.open()
}

async fn ask(lock: &Lock, args: &Hold) -> Result<Lease> {
    let lease = match args.is_try {
        true => lock.try_lease(&args.key).await,
        false => lock.lease(&args.key).await.map(Some),
    };
    match lease {
        Ok(lease) => lease.ok_or_else(|| refused(args, LockError::InUse)),
        Err(error) => Err(refused(args, error)),
    }
}

async fn run_under(lease: &Lease, args: &Hold, signals: &mut Signals) -> Result<u8> {
    let variables = [
        ("WITLOCK_FENCE", lease.fence().to_string()),
        ("WITLOCK_LOCK", args.lock.clone()),
        ("WITLOCK_KEY", args.key.clone()),
    ];
    let guardian = Guardian::start(&args.command, variables);
    let guardian = guardian.context("the command's guardian cannot be started");
    let shortest = args.max_hold.unwrap_or(args.ttl).min(args.ttl);
    let held = Held::new(lease, guardian.map_err(ours)?, signals, shortest);
    Ok(held.run().await?)
}

/// Why the key was not given.
fn refused(args: &Hold, error: LockError) -> anyhow::Error {
    let code = codes::of_lock_error(&error);
    let why = match error {
        LockError::InUse if args.is_try => anyhow!("the key {:?} is held", args.key),
        LockError::InUse => {
            let wait = shown(args.wait);
            anyhow!(
                "the key {:?} was still held after the wait of {wait}",
                args.key
            )
        }
        error => error.into(),
    };
    Failure::new(code, why).into()
}

/// A failure of this process's own, not of the store's.
fn ours(why: anyhow::Error) -> anyhow::Error {
    Failure::new(codes::BROKEN_OURSELVES, why).into()
}
