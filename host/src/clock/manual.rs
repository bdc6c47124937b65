//! A clock that is turned by hand.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use super::{Alarm, Clock};
use crate::driver::lock;

/// A clock for tests: it stands still until it is advanced. Clones are the same
/// clock, to a store that is opened again too.
///
/// What an advance makes due is ended by a thread of the store's own, soon. Any
/// question to the store, [`counts`](crate::Store::counts) say, ends it first.
///
/// ```
/// use std::time::Duration;
/// use witlock::{Ending, Store, clock::ManualClock};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let clock = ManualClock::default();
/// let store = Store::builder().clock(clock.clone()).in_memory()?;
/// let minute = Duration::from_secs(60);
/// let summaries = store.lock("summaries").max_hold(minute).open()?;
/// let lease = summaries.blocking_lease("chat-1")?;
/// clock.advance(minute);
/// assert_eq!(lease.ended(), Some(Ending::Revoked));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct ManualClock(Arc<Hand>);

#[derive(Debug, Default)]
struct Hand {
    now: Mutex<u64>,
    turned: Condvar,
}

impl ManualClock {
    /// Lets time pass.
    pub fn advance(&self, by: Duration) {
        let by = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        let mut now = lock(&self.0.now);
        *now = now.saturating_add(by);
        self.0.turned.notify_all();
    }
}

impl Clock for ManualClock {
    fn now(&self) -> u64 {
        *lock(&self.0.now)
    }

    fn boot(&self) -> Option<String> {
        let process = std::process::id();
        Some(format!("process {process}, {:p}", Arc::as_ptr(&self.0)))
    }

    fn alarm(&self) -> io::Result<Box<dyn Alarm>> {
        Ok(Box::new(ManualAlarm {
            hand: self.0.clone(),
            at: AtomicU64::new(u64::MAX),
        }))
    }
}

struct ManualAlarm {
    hand: Arc<Hand>,
    /// Written only while the hand is held.
    at: AtomicU64,
}

impl Alarm for ManualAlarm {
    fn set(&self, at: u64) {
        let _hand = lock(&self.hand.now);
        self.at.store(at, Ordering::Release);
        self.hand.turned.notify_all();
    }

    fn wait(&self) {
        let mut now = lock(&self.hand.now);
        while *now < self.at.load(Ordering::Acquire) {
            now = self
                .hand
                .turned
                .wait(now)
                .unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        self.at.store(u64::MAX, Ordering::Release);
    }
}
