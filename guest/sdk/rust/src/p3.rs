//! The async twins, over `witlock:locks/locks@0.3.0`: while one call waits, the other
//! tasks of the guest go on. A guest that imports it exports `wasi:cli/run@0.3.0` or
//! another async function, in place of `fn main`.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let summaries = witlock_guest::lock("summaries").open_p3()?;
//! summaries.hold("chat-1", async |lease| write("chat-1", lease.fence()).await).await?;
//! # Ok(())
//! # }
//! # async fn write(_: &str, _: u64) {}
//! ```

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::bindings::version_0_3::witlock::locks::locks as raw;
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
    let options: raw::Options = builder.options()?.into();
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
    /// As [`Lock::with_wait`](crate::Lock::with_wait).
    #[must_use]
    pub fn with_wait(&self, wait: Duration) -> Lock {
        Lock {
            opened: self.opened.clone(),
            wait: Some(wait),
        }
    }

    /// Waits for the key, 1 to 1024 bytes, and holds it while `work` runs. The key is
    /// let go as soon as the work returns or is dropped with this future. Dropped while
    /// it waits, this leaves the line. A hold of a key that the guest itself holds
    /// waits, since another of its tasks may release it.
    ///
    /// # Errors
    ///
    /// As [`Lock::hold`](crate::Lock::hold), but never [`LockError::HeldByCaller`].
    pub async fn hold<T>(
        &self,
        key: &str,
        work: impl AsyncFnOnce(&Lease) -> T,
    ) -> Result<T, HoldError> {
        let lease = self.lease(key).await?;
        let value = work(&lease).await;
        Ending::loss(lease.release().await).map(|()| value)
    }

    /// As [`hold`](Lock::hold) if the key is free; none if it is held, by whomever.
    ///
    /// # Errors
    ///
    /// As [`hold`](Lock::hold), but never [`LockError::InUse`].
    pub async fn try_hold<T>(
        &self,
        key: &str,
        work: impl AsyncFnOnce(&Lease) -> T,
    ) -> Result<Option<T>, HoldError> {
        let Some(lease) = self.try_lease(key).await? else {
            return Ok(None);
        };
        let value = work(&lease).await;
        Ending::loss(lease.release().await).map(|()| Some(value))
    }

    /// Waits for the key and gives its lease, a guard that releases the key when it is
    /// dropped. Dropped while it waits, this leaves the line.
    ///
    /// # Errors
    ///
    /// Why the key was not given.
    pub async fn lease(&self, key: &str) -> Result<Lease, LockError> {
        let wait = milliseconds("wait", self.wait)?;
        let lease = match &*self.opened {
            Opened::Lock(lock) => lock.hold(key.into(), wait).await?,
            Opened::Semaphore(semaphore) => semaphore.hold(key.into(), wait).await?,
        };
        Ok(Lease(lease))
    }

    /// The key's lease if the key is free; none if it is held, by whomever.
    ///
    /// # Errors
    ///
    /// As [`lease`](Lock::lease), but never [`LockError::InUse`].
    pub async fn try_lease(&self, key: &str) -> Result<Option<Lease>, LockError> {
        let lease = match &*self.opened {
            Opened::Lock(lock) => lock.try_hold(key.into()).await?,
            Opened::Semaphore(semaphore) => semaphore.try_hold(key.into()).await?,
        };
        Ok(lease.map(Lease))
    }
}

/// A key held. Dropping it releases the key, without an answer.
pub struct Lease(raw::Lease);

impl Lease {
    /// As [`Lease::fence`](crate::Lease::fence).
    pub fn fence(&self) -> u64 {
        self.0.fence()
    }

    /// As [`Lease::ended`](crate::Lease::ended).
    pub fn ended(&self) -> Option<Ending> {
        self.0.ended().map(Ending::from)
    }

    /// Waits until the lease ends, [`Ending::Released`] included, and says how.
    /// Dropping this future changes nothing.
    pub async fn until_ended(&self) -> Ending {
        self.0.until_ended().await.into()
    }

    /// As [`Lease::release`](crate::Lease::release). Dropped meanwhile, the release
    /// goes on.
    ///
    /// # Errors
    ///
    /// As [`Lease::release`](crate::Lease::release).
    pub async fn release(&self) -> Result<(), Ending> {
        self.0.release().await.map_err(Ending::from)
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lease = f.debug_struct("Lease");
        lease.field("fence", &self.fence());
        lease.field("ended", &self.ended()).finish()
    }
}
