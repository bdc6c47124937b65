//! Fences that last as long as the process.

use std::ops::Range;

use super::{FenceError, FenceStorage, next_range};

/// Keeps nothing: for tests, and for stores of one run, whose fences start from
/// the clock each time.
#[derive(Debug, Default)]
pub struct MemoryFences {
    high_water: u64,
}

impl MemoryFences {
    /// A storage that reserved all up to `high_water` before.
    pub fn new(high_water: u64) -> Self {
        MemoryFences { high_water }
    }
}

impl FenceStorage for MemoryFences {
    fn reserve(&mut self, at_least: u64, count: u64) -> Result<Range<u64>, FenceError> {
        let range = next_range(self.high_water, at_least, count)?;
        self.high_water = range.end - 1;
        Ok(range)
    }

    fn give_back(&mut self, unused: Range<u64>) -> Result<(), FenceError> {
        if unused.end == self.high_water + 1 {
            self.high_water = unused.start - 1;
        }
        Ok(())
    }
}
