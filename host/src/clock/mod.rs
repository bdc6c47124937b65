//! The time by which leases and waits end.

mod boot;
mod manual;

use std::io;
use std::time::SystemTime;

pub use boot::BootClock;
pub use manual::ManualClock;

/// A clock that no one can set. Deadlines follow it alone.
///
/// The default, [`BootClock`], counts the time for which the machine sleeps.
/// Tests bring one that they turn by hand.
pub trait Clock: Send + Sync + 'static {
    /// Nanoseconds since a moment of the clock's own. Never goes back.
    fn now(&self) -> u64;

    /// Names the beginning of this clock, a start of the machine say: the moments of
    /// two processes are of one clock if, and only if, these names are equal. By that a
    /// store that is opened again goes on with the leases over connections which it had
    /// given; where it is not known, it gives no key until they are over.
    fn boot(&self) -> Option<String> {
        None
    }

    /// An alarm for one store.
    ///
    /// # Errors
    ///
    /// What the system says when it has no more of them.
    fn alarm(&self) -> io::Result<Box<dyn Alarm>>;

    /// What the calendar says. It decides nothing but the first fence of an
    /// opening, which is at least the seconds since 1970 times 2^20, so that
    /// fences grow even over a store that was deleted.
    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// Wakes the thread of a store that ends what is due.
pub trait Alarm: Send + Sync {
    /// Sets the moment, by the clock, at which [`wait`](Alarm::wait) returns,
    /// in place of the one set before.
    fn set(&self, at: u64);

    /// Blocks until the moment that was set last has come. It may return
    /// earlier, at most some times a second.
    fn wait(&self);
}
