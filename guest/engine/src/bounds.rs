//! Every bound, named, with its reason, and the check that names it when it is
//! passed.

use alloc::string::String;

use crate::{Milliseconds, Nanoseconds, Options};

/// Bytes of a lock's or semaphore's name: it is written into code and
/// configuration, and shown in listings.
pub const NAME_BYTES: usize = 128;

/// Bytes of a label, which a listing shows whole.
pub const LABEL_BYTES: usize = 128;

/// Bytes of a key: room for a URL or a path.
pub const KEY_BYTES: usize = 1024;

/// Holders of one key of a semaphore: what one command may have to look at
/// when all of them are overdue at once.
pub const SEMAPHORE_LIMIT: u32 = 1_000;

/// The shortest ttl: three renewals have to fit, over a network.
pub const TTL_LEAST: Milliseconds = 1_000;

/// The longest ttl: how long a key may stay with a holder that is gone.
pub const TTL_MOST: Milliseconds = 3_600_000;

/// The ttl of a lease over a connection, unless given.
pub const TTL_DEFAULT: Milliseconds = 30_000;

/// The wait of a hold, unless given: waiting for ever is not a default.
pub const WAIT_DEFAULT: Milliseconds = 10_000;

/// Waiters for one key: past this a line is a fault, and grows without one
/// noticing.
pub const WAITERS_PER_KEY: u32 = 10_000;

/// Keys that one holder may hold, and wait for, unless its session is given
/// other bounds.
pub const KEYS_PER_HOLDER: u32 = 10_000;

/// How long a waiter without a connection keeps its place, and a lease given to
/// it meanwhile lasts.
pub const RECONNECT: Milliseconds = 5_000;

/// How long an ask for a free key waits for a fence when its own wait is
/// shorter: as long as a slow disk takes to sync, no longer than a person waits.
pub const FENCE_WAIT: Milliseconds = 5_000;

pub use crate::ranges::FENCE_END;

/// Commands of one step.
pub const STEP_COMMANDS: usize = 1_024;

/// Events of one step.
pub const STEP_EVENTS: usize = 4_096;

/// Deadlines handled in one step.
pub const STEP_DEADLINES: usize = 1_000;

/// Items listed in one step, and the most of a page.
pub const STEP_LISTED: usize = 256;

/// Leases, waiters and sessions looked at for one page, or for closing, in one
/// step: places left empty are passed over, and a step must not pass over a
/// million.
pub(crate) const STEP_LOOKED_AT: usize = 4_096;

/// Events that deadlines may use up of a step's, so that commands get their
/// turn while a million leases are due.
pub(crate) const EVENTS_FOR_DEADLINES: usize = STEP_EVENTS / 2;

/// Events that deadlines and other work left over may use up together.
pub(crate) const EVENTS_FOR_WORK: usize = STEP_EVENTS / 4 * 3;

/// Events of which there must be room before a command is begun: what one
/// command gives at most, apart from what it can leave to the next step.
pub(crate) const EVENTS_PER_COMMAND: usize = 4;

/// A value out of its bounds. Its text names the bound.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // each says itself what it is
pub enum Invalid {
    #[error("a name has 1 to {NAME_BYTES} bytes, this one {0}")]
    NameLength(usize),
    #[error("a name has no control characters, this one has {0:?}")]
    NameControl(char),
    #[error("a label has at most {LABEL_BYTES} bytes, this one {0}")]
    LabelLength(usize),
    #[error("a label has no control characters, this one has {0:?}")]
    LabelControl(char),
    #[error("a key has 1 to {KEY_BYTES} bytes, this one {0}")]
    KeyLength(usize),
    #[error("a semaphore's limit is 1 to {SEMAPHORE_LIMIT}, not {0}")]
    Limit(u32),
    #[error("a ttl is {TTL_LEAST} to {TTL_MOST} ms, not {0}")]
    Ttl(Milliseconds),
    #[error("a max-hold is 1 to {} ms, not 0", Milliseconds::MAX)]
    MaxHold,
    #[error("the key is in use under the limit {used}, not {asked}")]
    OtherLimit { asked: u32, used: u32 },
    #[error("the request named another key before")]
    OtherKey,
    #[error("a fence is at least 1 and below {FENCE_END}, not {0}")]
    Fence(u64),
}

/// Too many of something. Its text names the bound.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // each says itself what it is
pub enum TooMany {
    #[error("{WAITERS_PER_KEY} wait for this key, as many as may")]
    WaitersOfKey,
    #[error("the holder holds {0} keys, as many as it may")]
    Held(u32),
    #[error("the holder waits for {0} keys, as many as it may")]
    WaitedFor(u32),
}

/// Checks what a lock, or a semaphore with a limit, is opened with.
///
/// # Errors
///
/// The first that is out of its bounds.
pub fn check(of: &str, with: Option<u32>, options: &Options) -> Result<(), Invalid> {
    name(of)?;
    with.map_or(Ok(()), limit)?;
    options.ttl.map_or(Ok(()), ttl)?;
    options.max_hold.map_or(Ok(()), max_hold)?;
    options.label.as_deref().map_or(Ok(()), label)
}

/// Checks a lock's name.
fn name(name: &str) -> Result<(), Invalid> {
    if name.is_empty() || name.len() > NAME_BYTES {
        return Err(Invalid::NameLength(name.len()));
    }
    control(name).map_or(Ok(()), |found| Err(Invalid::NameControl(found)))
}

/// Checks a label.
fn label(label: &str) -> Result<(), Invalid> {
    if label.len() > LABEL_BYTES {
        return Err(Invalid::LabelLength(label.len()));
    }
    control(label).map_or(Ok(()), |found| Err(Invalid::LabelControl(found)))
}

/// Checks a key. Any text will do, NUL included: keys are compared byte for
/// byte and never shown without quotes.
///
/// # Errors
///
/// If it is empty or too long.
pub fn key(key: &str) -> Result<(), Invalid> {
    match key.len() {
        1..=KEY_BYTES => Ok(()),
        bytes => Err(Invalid::KeyLength(bytes)),
    }
}

/// Checks a semaphore's limit.
fn limit(limit: u32) -> Result<(), Invalid> {
    match limit {
        1..=SEMAPHORE_LIMIT => Ok(()),
        _ => Err(Invalid::Limit(limit)),
    }
}

/// Checks a ttl.
fn ttl(ttl: Milliseconds) -> Result<(), Invalid> {
    match ttl {
        TTL_LEAST..=TTL_MOST => Ok(()),
        _ => Err(Invalid::Ttl(ttl)),
    }
}

/// Checks a max-hold.
fn max_hold(max_hold: Milliseconds) -> Result<(), Invalid> {
    match max_hold {
        0 => Err(Invalid::MaxHold),
        _ => Ok(()),
    }
}

/// Why an ask for a free key got none for want of a fence, when nobody said.
pub(crate) fn no_fence() -> String {
    alloc::format!("no durable fence could be had within {FENCE_WAIT} ms")
}

/// The first control character of a text. Text of plain ASCII, which is nearly
/// all there is, is looked at by byte.
fn control(text: &str) -> Option<char> {
    if text.bytes().all(|byte| (b' '..0x7f).contains(&byte)) {
        return None;
    }
    text.chars().find(|c| c.is_control())
}

/// When an ask that waits `wait` is given up, asked at `now`.
pub(crate) fn fence_deadline(now: Nanoseconds, wait: Milliseconds) -> Nanoseconds {
    crate::after(now, wait.max(FENCE_WAIT))
}
