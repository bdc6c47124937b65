//! Promises that a history can break.

use std::fmt;

/// Which promise was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// More held a key at once than may, none of whom did not run.
    Overlap,
    /// A key was given on before its holder's own deadline.
    GivenEarly,
    /// A lease ended before its own deadline, as its holder was told.
    EndedEarly,
    /// A holder believed in a lease past its own deadline.
    Believed,
    /// A fence did not grow.
    Fence,
    /// The guard, or the order of records.
    Record,
    /// An ask was not answered, or a hold not ended, by a process that lived.
    Unanswered,
    /// An ask was answered much later than its wait.
    Hang,
    /// An ask was told that the key is in use before its wait was over.
    Impatient,
    /// A steady lease was lost although next to nothing was done to it.
    LostForNothing,
    /// A server that started again did not give a free key at once.
    SlowStart,
}

/// A broken promise, and what tells it.
#[derive(Debug, Clone)]
pub struct Breach {
    pub what: What,
    pub story: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.what, self.story)
    }
}
