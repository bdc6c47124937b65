//! What the wrapper and its guardian tell each other: a line of JSON each.

use serde::{Deserialize, Serialize};

/// When the command is to end, in nanoseconds of the boot clock, which is the
/// same in every process of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moments {
    /// When it is asked to, by SIGTERM.
    pub term: u64,
    /// When it is made to, by SIGKILL.
    pub kill: u64,
}

/// What the wrapper tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// From now on, these moments. The command starts with the first of them.
    Until(Moments),
    /// Give this signal on to the command's group.
    Signal(i32),
}

/// What the guardian tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum News {
    /// The command is about to run, in a process group of this number.
    Started(i32),
    /// The command could not be started, and why; with the exit code for that.
    Unstartable {
        /// The exit code.
        code: u8,
        /// Why.
        why: String,
    },
    /// The command was asked to end.
    Terminating,
    /// The command was stopped by this signal, as Ctrl-Z does.
    Stopped(i32),
    /// The command ended, and with it its group; with its exit code, as a shell
    /// tells it.
    Ended(u8),
}
