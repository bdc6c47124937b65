//! A clock whose calendar is not used, so that fences come from the storage
//! alone.

use std::io;
use std::time::SystemTime;

use witlock::clock::{Alarm, BootClock, Clock};

/// The boot-time clock, in 1970. An opening's first fence is then the next that
/// the storage has, and one that a storage forgot is given twice.
#[derive(Debug, Clone, Copy)]
pub struct NoCalendar;

impl Clock for NoCalendar {
    fn now(&self) -> u64 {
        BootClock.now()
    }

    fn alarm(&self) -> io::Result<Box<dyn Alarm>> {
        BootClock.alarm()
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}
