//! Locks over `@0.2.0`, whose functions block the guest.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::bindings::version_0_2::witlock::locks::locks as raw;
use crate::builder::{LockBuilder, milliseconds};
use crate::{Ending, HoldError, LockError};

/// A lock, or a semaphore, opened. Clones are the same.
#[derive(Debug, Clone)]
pub struct Lock {
    opened: Arc<Opened>,
    wait: Option<Duration>,
}

#[derive(Debug)]
enum Opened {
    Lock(raw::Lock),
    Semaphore(raw::Semaphore),
}

pub(crate) fn open(builder: LockBuilder) -> Result<Lock, LockError> {
    let options = builder.options()?.into();
    let opened = match builder.limit {
        None => Opened::Lock(raw::Lock::open(&builder.name, &options)?),
        Some(limit) => Opened::Semaphore(raw::Semaphore::open(&builder.name, limit, &options)?),
    };
    Ok(Lock {
        opened: Arc::new(opened),
        wait: None,
    })
}

impl Lock {
    /// The same lock with another wait; bounds as [`LockBuilder::wait`], past which its
    /// holds are [`LockError::Invalid`].
    #[must_use]
    pub fn with_wait(&self, wait: Duration) -> Lock {
        Lock {
            opened: self.opened.clone(),
            wait: Some(wait),
        }
    }

    /// Waits for the key, 1 to 1024 bytes, and holds it while `work` runs. The whole
    /// guest stands still while this waits. The key is let go as the work returns; if
    /// it panics or traps, as the host drops the guest.
    ///
    /// # Errors
    ///
    /// [`HoldError::Lock`] if the key was not given; the work did not begin.
    /// [`HoldError::Lost`] if the lease ended while the work ran, even if the work
    /// succeeded: another holder may have worked beside it. (A lease that the work
    /// released itself is no loss.)
    ///
    /// The lease is the work's only: it can't be kept.
    ///
    /// ```compile_fail
    /// # fn example(summaries: witlock_guest::Lock) {
    /// let mut kept = None;
    /// summaries.hold("chat-1", |lease| kept = Some(lease));
    /// # }
    /// ```
    ///
    /// ```no_run
    /// # fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let charges = witlock_guest::lock("charges").open()?;
    /// let charged = charges.hold("invoice-17", |lease| charge("invoice-17", lease.fence()))?;
    /// # Ok(())
    /// # }
    /// # fn charge(_: &str, _: u64) {}
    /// ```
    pub fn hold<T>(&self, key: &str, work: impl FnOnce(&Lease) -> T) -> Result<T, HoldError> {
        let lease = self.lease(key)?;
        let value = work(&lease);
        Ending::loss(lease.release()).map(|()| value)
    }

    /// As [`hold`](Lock::hold) if the key is free; none if it is held, by whomever.
    ///
    /// # Errors
    ///
    /// As [`hold`](Lock::hold), but never [`LockError::InUse`].
    pub fn try_hold<T>(
        &self,
        key: &str,
        work: impl FnOnce(&Lease) -> T,
    ) -> Result<Option<T>, HoldError> {
        let Some(lease) = self.try_lease(key)? else {
            return Ok(None);
        };
        let value = work(&lease);
        Ending::loss(lease.release()).map(|()| Some(value))
    }

    /// Waits for the key and gives its lease, a guard that releases the key when it is
    /// dropped.
    ///
    /// # Errors
    ///
    /// Why the key was not given.
    pub fn lease(&self, key: &str) -> Result<Lease, LockError> {
        let wait = milliseconds("wait", self.wait)?;
        let lease = match &*self.opened {
            Opened::Lock(lock) => lock.hold(key, wait)?,
            Opened::Semaphore(semaphore) => semaphore.hold(key, wait)?,
        };
        Ok(Lease(lease))
    }

    /// The key's lease if the key is free; none if it is held, by whomever.
    ///
    /// # Errors
    ///
    /// As [`lease`](Lock::lease), but never [`LockError::InUse`].
    pub fn try_lease(&self, key: &str) -> Result<Option<Lease>, LockError> {
        let lease = match &*self.opened {
            Opened::Lock(lock) => lock.try_hold(key)?,
            Opened::Semaphore(semaphore) => semaphore.try_hold(key)?,
        };
        Ok(lease.map(Lease))
    }
}

/// A key held. Dropping it releases the key, without an answer.
pub struct Lease(raw::Lease);

impl Lease {
    /// The lease's fence: larger than that of every lease the store gave before,
    /// restarts included; at least 1 and below 2^53. Hand it to what the work writes
    /// to, and let that refuse older ones.
    pub fn fence(&self) -> u64 {
        self.0.fence()
    }

    /// How the lease ended, or none while it lasts. Once it ended, another holder may
    /// hold the key.
    pub fn ended(&self) -> Option<Ending> {
        self.0.ended().map(Ending::from)
    }

    /// Releases the key, and waits for the answer; over a connection at most 5 s,
    /// without one it was a success if the lease had time left.
    ///
    /// # Errors
    ///
    /// How the lease had ended before; then nothing was changed, and what was done
    /// under it may have run beside another holder, save after [`Ending::Released`],
    /// which says that it was released before.
    pub fn release(&self) -> Result<(), Ending> {
        self.0.release().map_err(Ending::from)
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lease = f.debug_struct("Lease");
        lease.field("fence", &self.fence());
        lease.field("ended", &self.ended()).finish()
    }
}
