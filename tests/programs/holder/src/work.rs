//! Holding keys and working under them.

use std::env;
use std::thread;
use std::time::Duration;

use crate::bindings::witlock::locks::locks::{Ending, Lease, Lock, LockError, Options};

/// How often a worker looks whether it still holds its key, in milliseconds.
const LOOKS_EACH: u32 = 20;

pub(crate) fn hold(lock: &str, key: &str, work: u32, max_hold: Option<u32>) -> Result<(), String> {
    let lease = lease(lock, key, None, max_hold)?;
    work_under(&lease, work);
    let_go(&lease)
}

/// Holds the key and does what never returns.
pub(crate) fn hold_and(
    lock: &str,
    key: &str,
    max_hold: Option<u32>,
    what: impl FnOnce(),
) -> Result<(), String> {
    let lease = lease(lock, key, None, max_hold)?;
    what();
    let_go(&lease)
}

/// Leaves the key held.
pub(crate) fn keep(lock: &str, key: &str) -> Result<(), String> {
    std::mem::forget(lease(lock, key, None, None)?);
    Ok(())
}

pub(crate) fn wait(lock: &str, key: &str, wait: u32) -> Result<(), String> {
    let_go(&lease(lock, key, Some(wait), None)?)
}

fn lease(lock: &str, key: &str, wait: Option<u32>, max_hold: Option<u32>) -> Result<Lease, String> {
    let options = Options {
        ttl: None,
        wait: None,
        max_hold,
        label: Some(format!("holder {}", instance())),
    };
    let lock = Lock::open(lock, &options).map_err(refused)?;
    let lease = lock.hold(key, wait).map_err(refused)?;
    say(format!("fence={}", lease.fence()));
    Ok(lease)
}

fn refused(why: LockError) -> String {
    let why = match why {
        LockError::InUse => "in-use".to_owned(),
        LockError::HeldByCaller => "held-by-caller".to_owned(),
        LockError::Invalid(why) => format!("invalid: {why}"),
        LockError::TooMany(why) => format!("too-many: {why}"),
        LockError::Closed => "closed".to_owned(),
        LockError::Unavailable(why) => format!("unavailable: {why}"),
    };
    line(format!("refused={why}"))
}

/// Works so many milliseconds, or until the key is lost.
fn work_under(lease: &Lease, mut left: u32) {
    while left > 0 && lease.ended().is_none() {
        let slice = left.min(LOOKS_EACH);
        thread::sleep(Duration::from_millis(slice.into()));
        left -= slice;
    }
}

fn let_go(lease: &Lease) -> Result<(), String> {
    let lost = |how: Ending| line(format!("lost={}", how.name()));
    lease.release().map_err(lost)?;
    say("released".into());
    Ok(())
}

pub(crate) fn say(what: String) {
    println!("{}", line(what));
}

fn line(what: String) -> String {
    format!("instance={} {what}", instance())
}

pub(crate) fn instance() -> String {
    env::var("WITLOCK_INSTANCE").unwrap_or_else(|_| "-".into())
}
