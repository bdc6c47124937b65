//! Fences that outlast the process: ranges reserved before they are given.

mod memory;
mod redb;
mod reserve;

use std::io;
use std::ops::Range;
use std::path::PathBuf;

pub use memory::MemoryFences;
pub use redb::RedbFences;
pub use reserve::next_range;
pub(crate) use reserve::{Reserver, first_fence};
pub use witlock_engine::bounds::FENCE_END;

/// Where a store keeps how far its fences have got.
///
/// A store has at most one call under way, from a thread of its own. A call
/// that fails, or panics, is made again when the next ask needs a fence.
pub trait FenceStorage: Send + 'static {
    /// Reserves up to `count` fences, at least one, from `at_least` on, all of
    /// them larger than any reserved before and below [`FENCE_END`].
    ///
    /// The reservation is **durable before this returns**: after a crash at any
    /// later moment, nothing from the range is reserved again. [`next_range`]
    /// has the arithmetic.
    ///
    /// # Errors
    ///
    /// Any: then nothing may have been reserved, or a range may be lost, which
    /// harms nothing.
    fn reserve(&mut self, at_least: u64, count: u64) -> Result<Range<u64>, FenceError>;

    /// Takes back the end of the range reserved last: no lease had these
    /// fences, and the next reservation may begin with them. Doing nothing is
    /// right too.
    ///
    /// # Errors
    ///
    /// Any: then the fences are lost, which harms nothing.
    fn give_back(&mut self, unused: Range<u64>) -> Result<(), FenceError>;
}

/// Why fences could not be reserved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FenceError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not what this library wrote.
    #[error(
        "{} is damaged: {detail}; restore it from a backup, or delete it: then fences start from \
         the clock, above those given before unless there were more than a million a second",
        path.display()
    )]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// Every fence below 2^53 was given.
    #[error("the fences are exhausted: every number below 2^53 was given")]
    Exhausted,
    /// Another storage's own reason.
    #[error("{0}")]
    Other(String),
}
