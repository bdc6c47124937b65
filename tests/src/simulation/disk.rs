//! Where a simulated store's fences are, and what a crash leaves of them.

use std::ops::Range;

use witlock::fences::{FenceError, FenceStorage, next_range};

/// A disk with one number on it.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    written: u64,
    synced: u64,
    syncs_late: bool,
}

impl Disk {
    /// One on which a reservation is not durable before the next is made, as no
    /// storage may be.
    pub fn that_syncs_late() -> Self {
        Disk {
            syncs_late: true,
            ..Disk::default()
        }
    }

    /// What was not synced is lost.
    pub fn crash(&mut self) {
        self.written = self.synced;
    }

    fn write(&mut self, high_water: u64) {
        if self.syncs_late {
            self.synced = self.written;
        } else {
            self.synced = high_water;
        }
        self.written = high_water;
    }
}

impl FenceStorage for Disk {
    fn reserve(&mut self, at_least: u64, count: u64) -> Result<Range<u64>, FenceError> {
        let range = next_range(self.written, at_least, count)?;
        self.write(range.end - 1);
        Ok(range)
    }

    fn give_back(&mut self, unused: Range<u64>) -> Result<(), FenceError> {
        self.write(unused.start - 1);
        Ok(())
    }
}
