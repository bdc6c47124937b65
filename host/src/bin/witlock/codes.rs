//! The exit codes that are our own: of `hold`, `ls` and `break`, and of `run` where
//! its store can't be reached.

use std::fmt;

use witlock::{ConnectError, ListError, LockError};

/// The key was not given: the wait ran out, or a try found it held.
pub const BUSY: u8 = 115;
/// The lease is over: lost while the command ran, or not there to be broken.
pub const LOST: u8 = 116;
/// The store cannot be reached, or cannot give keys.
pub const UNAVAILABLE: u8 = 117;
/// The store refuses: the token, a name, a key, an option, or one ask too many.
pub const REFUSED: u8 = 118;
/// `witlock` itself failed, as env(1) and timeout(1) say it.
#[cfg(unix)]
pub const BROKEN_OURSELVES: u8 = 125;
/// The command is there and cannot be run, as shells say it.
#[cfg(unix)]
pub const NOT_RUNNABLE: u8 = 126;
/// There is no such command, as shells say it.
#[cfg(unix)]
pub const NOT_FOUND: u8 = 127;
/// The arguments are wrong, as clap says it.
pub const USAGE: u8 = 2;

/// What a shell tells of a process that a signal ended.
#[cfg(unix)]
pub fn of_signal(number: i32) -> u8 {
    // There are 64 at most.
    u8::try_from(128 + number).unwrap_or(u8::MAX)
}

/// An error that has an exit code of its own.
#[derive(Debug)]
pub struct Failure {
    pub code: u8,
    why: anyhow::Error,
}

impl Failure {
    pub fn new(code: u8, why: impl Into<anyhow::Error>) -> Failure {
        let why = why.into();
        Failure { code, why }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&told(&self.why))
    }
}

impl std::error::Error for Failure {}

/// What an error says, with its causes. Some tell their cause themselves.
pub fn told(error: &anyhow::Error) -> String {
    let mut told = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if told.is_empty() {
            told = cause;
        } else if !told.ends_with(&cause) {
            told = format!("{told}: {cause}");
        }
    }
    told
}

/// The code of an ask that failed.
pub fn of_lock_error(error: &LockError) -> u8 {
    match error {
        LockError::InUse => BUSY,
        LockError::HeldByCaller | LockError::Invalid(_) | LockError::TooMany(_) => REFUSED,
        LockError::Closed | LockError::Unavailable(_) => UNAVAILABLE,
    }
}

/// The code of a listing or a breaking that failed.
pub fn of_list_error(error: &ListError) -> u8 {
    match error {
        ListError::Denied => REFUSED,
        _ => UNAVAILABLE,
    }
}

/// The code of a connection that failed.
pub fn of_connect_error(error: &ConnectError) -> u8 {
    match error {
        ConnectError::Address { .. } | ConnectError::Certificate { .. } => USAGE,
        ConnectError::Denied { .. } => REFUSED,
        _ => UNAVAILABLE,
    }
}
