//! Fences that outlast the program: ranges reserved in a directory before they
//! are given, by the same rules as the host's.
//!
//! Without a directory fences start from the wall clock, which is above those of
//! earlier runs unless these gave more than a million a second, or the clock was
//! set back.

mod disk;
mod ledger;

use std::env;
use std::ops::Range;
use std::path::PathBuf;
use std::time::SystemTime;

use witlock_engine::ranges::{OPENING_RESERVE, first_fence, next_count, next_range};

pub use disk::{Directory, Disk};
pub use ledger::{Ledger, LedgerError};

/// The directory of the fences, unless [`DIRECTORY_VARIABLE`] names another.
pub const DIRECTORY: &str = "/witlock";

/// The environment variable that names the directory of the fences. It has to
/// be there, if this is set.
pub const DIRECTORY_VARIABLE: &str = "WITLOCK_DIR";

/// Where fences come from, and how many are to be reserved next.
pub(crate) struct Fences {
    source: Source,
    first: u64,
    next_count: u64,
}

enum Source {
    Ledger(Ledger<Directory>),
    /// The largest fence reserved so far.
    Clock(u64),
}

impl Fences {
    /// Looks for the directory. Nothing is reserved yet.
    pub fn open() -> Self {
        Fences {
            source: source(),
            first: first(),
            next_count: OPENING_RESERVE,
        }
    }

    /// Reserves the next range.
    pub fn next(&mut self) -> Result<Range<u64>, LedgerError> {
        let (at_least, count) = (self.first, self.next_count);
        let range = match &mut self.source {
            Source::Ledger(ledger) => ledger.reserve(at_least, count)?,
            Source::Clock(high_water) => {
                let range = next_range(*high_water, at_least, count);
                let range = range.ok_or(LedgerError::Exhausted)?;
                *high_water = range.end - 1;
                range
            }
        };
        self.next_count = next_count(count);
        Ok(range)
    }
}

fn source() -> Source {
    let named = env::var_os(DIRECTORY_VARIABLE).map(PathBuf::from);
    let is_named = named.is_some();
    let directory = named.unwrap_or_else(|| DIRECTORY.into());
    if is_named || directory.is_dir() {
        return Source::Ledger(Ledger::new(Directory::new(directory)));
    }
    eprintln!(
        "witlock: there is no directory {DIRECTORY}, so fences start from the clock: what is \
         guarded by them must outlast no clock that is set back. Give one: wasmtime run --dir \
         <directory>::{DIRECTORY}"
    );
    Source::Clock(0)
}

fn first() -> u64 {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let since_1970 = since_1970.unwrap_or_default();
    first_fence(since_1970).unwrap_or_else(|| {
        eprintln!(
            "witlock: the wall clock is not used for the first fence: it says {} s since 1970, \
             which is not between 2024 and 2150",
            since_1970.as_secs()
        );
        1
    })
}
