//! Locks and semaphores, and their holds.

use std::sync::Arc;
use std::time::Duration;

use crate::driver::{block_on, wit};
use crate::lease::{Lease, Ticket};
use crate::session::Session;
use crate::store::Store;
use crate::{HoldError, LockError};

/// How a lock or semaphore is opened.
#[derive(Debug, Clone)]
#[must_use = "nothing is opened until `open` is called"]
pub struct LockBuilder {
    store: Store,
    name: String,
    limit: Option<u32>,
    ttl: Option<Duration>,
    wait: Option<Duration>,
    max_hold: Option<Duration>,
    label: Option<String>,
}

/// A lock, or a semaphore, opened.
///
/// A handle and its clones are one holder: all that it holds, and waits for,
/// counts against one bound of 10 000 keys each. (Guests have a holder each,
/// see [`LocksCtx`](crate::LocksCtx).)
#[derive(Debug, Clone)]
pub struct Lock {
    session: Arc<Session>,
    terms: Arc<Terms>,
}

/// What a lock was opened with.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    pub name: String,
    pub limit: Option<u32>,
    pub wait: Option<u32>,
    pub options: wit::Options,
}

/// How one ask differs from another of the same lock.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Manner {
    /// How long to wait, in place of what the lock says.
    pub wait: Option<u32>,
    /// Whether all of the holder stands still while it waits.
    pub alone: bool,
}

impl Manner {
    /// Take the key only if it is free.
    pub const TRY: Manner = Manner {
        wait: Some(0),
        alone: false,
    };
}

impl LockBuilder {
    pub(crate) fn new(store: &Store, name: &str, limit: Option<u32>) -> Self {
        LockBuilder {
            store: store.clone(),
            name: name.into(),
            limit,
            ttl: None,
            wait: None,
            max_hold: None,
            label: None,
        }
    }

    /// How long a lease over a connection lasts from its last renewal, 1 s to
    /// 1 h; 30 s unless given. Leases of a store that this process holds last
    /// until they are released.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// How long a hold waits in line, up to 2^32 - 1 ms (49 days); 10 s unless
    /// given. What is less than a millisecond counts as one; zero takes a key
    /// only if it is free.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = Some(wait);
        self
    }

    /// How long one lease may last from its grant, 1 ms to 2^32 - 1 ms. Past it
    /// the lease is [`Revoked`](crate::Ending::Revoked) and the key goes to the
    /// next in line, whatever its holder does. No bound unless given.
    pub fn max_hold(mut self, max_hold: Duration) -> Self {
        self.max_hold = Some(max_hold);
        self
    }

    /// What an operator sees beside the leases, at most 128 bytes. It decides
    /// nothing.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Opens the lock or semaphore.
    ///
    /// # Errors
    ///
    /// [`LockError::Invalid`] if the name, the limit or an option is out of its
    /// bounds, and says which; [`LockError::Closed`] once the store is.
    pub fn open(self) -> Result<Lock, LockError> {
        let terms = Terms {
            limit: self.limit,
            wait: milliseconds("wait", self.wait)?,
            options: wit::Options {
                ttl: milliseconds("ttl", self.ttl)?,
                max_hold: milliseconds("max-hold", self.max_hold)?,
                label: self.label,
            },
            name: self.name,
        };
        let session = Session::open(&self.store, None, None);
        session.check(&terms)?;
        Ok(Lock {
            session: Arc::new(session),
            terms: Arc::new(terms),
        })
    }
}

/// A span as the engine takes it. Less than a millisecond is not nothing.
fn milliseconds(what: &str, span: Option<Duration>) -> Result<Option<u32>, LockError> {
    let Some(span) = span else { return Ok(None) };
    let millis = span.as_nanos().div_ceil(1_000_000);
    let fits = u32::try_from(millis).map(Some);
    fits.map_err(|_| {
        LockError::Invalid(format!("a {what} is at most {} ms, not {millis}", u32::MAX))
    })
}

impl Lock {
    /// The same lock and holder, with another wait; bounds as
    /// [`LockBuilder::wait`], past which it is the longest.
    #[must_use]
    pub fn with_wait(&self, wait: Duration) -> Lock {
        let longest = Duration::from_millis(u32::MAX.into());
        let wait = milliseconds("wait", Some(wait.min(longest))).ok().flatten();
        let terms = Terms {
            wait,
            ..Terms::clone(&self.terms)
        };
        Lock {
            session: self.session.clone(),
            terms: Arc::new(terms),
        }
    }

    /// Waits for the key, 1 to 1024 bytes, and holds it while `work` runs. The
    /// key is let go as soon as the work returns, panics, or is dropped with
    /// this future. Dropped while it waits, this leaves the line; nothing is
    /// left behind at any await point.
    ///
    /// # Errors
    ///
    /// [`HoldError::Lock`] if the key was not given; the work did not begin.
    /// [`HoldError::Lost`] if the lease ended while the work ran, even if the
    /// work succeeded: another holder may have worked beside it. (A lease that
    /// the work released itself is no loss.)
    ///
    /// ```
    /// # async fn example(store: witlock::Store) -> Result<(), Box<dyn std::error::Error>> {
    /// let charges = store.lock("charges").open()?;
    /// let charged = charges
    ///     .hold("invoice-17", async |lease| charge("invoice-17", lease.fence()).await)
    ///     .await?;
    /// # Ok(())
    /// # }
    /// # async fn charge(_: &str, _: u64) {}
    /// ```
    pub async fn hold<T>(
        &self,
        key: &str,
        work: impl AsyncFnOnce(&Lease) -> T,
    ) -> Result<T, HoldError> {
        let lease = self.lease(key).await?;
        let value = work(&lease).await;
        lease.finish().await.map(|()| value)
    }

    /// As [`hold`](Lock::hold) if the key is free; none if it is held, by
    /// whomever.
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
        lease.finish().await.map(|()| Some(value))
    }

    /// Waits for the key and gives its lease, a guard that releases the key
    /// when it is dropped. Dropped while it waits, this leaves the line.
    ///
    /// # Errors
    ///
    /// Why the key was not given.
    pub async fn lease(&self, key: &str) -> Result<Lease, LockError> {
        self.ask(key, Manner::default())?.await
    }

    /// The key's lease if the key is free; none if it is held, by whomever.
    ///
    /// # Errors
    ///
    /// As [`lease`](Lock::lease), but never [`LockError::InUse`].
    pub async fn try_lease(&self, key: &str) -> Result<Option<Lease>, LockError> {
        none_in_use(self.ask(key, Manner::TRY)?.await)
    }

    /// As [`hold`](Lock::hold), for a caller without a runtime: blocks its
    /// thread.
    ///
    /// # Errors
    ///
    /// As [`hold`](Lock::hold).
    ///
    /// ```
    /// # fn example(store: witlock::Store) -> Result<(), Box<dyn std::error::Error>> {
    /// let charges = store.lock("charges").open()?;
    /// charges.blocking_hold("invoice-17", |lease| charge("invoice-17", lease.fence()))?;
    /// # Ok(())
    /// # }
    /// # fn charge(_: &str, _: u64) {}
    /// ```
    pub fn blocking_hold<T>(
        &self,
        key: &str,
        work: impl FnOnce(&Lease) -> T,
    ) -> Result<T, HoldError> {
        block_on(self.hold(key, async |lease| work(lease)))
    }

    /// As [`try_hold`](Lock::try_hold), for a caller without a runtime.
    ///
    /// # Errors
    ///
    /// As [`try_hold`](Lock::try_hold).
    pub fn blocking_try_hold<T>(
        &self,
        key: &str,
        work: impl FnOnce(&Lease) -> T,
    ) -> Result<Option<T>, HoldError> {
        block_on(self.try_hold(key, async |lease| work(lease)))
    }

    /// As [`lease`](Lock::lease), for a caller without a runtime.
    ///
    /// # Errors
    ///
    /// As [`lease`](Lock::lease).
    pub fn blocking_lease(&self, key: &str) -> Result<Lease, LockError> {
        block_on(self.lease(key))
    }

    /// As [`try_lease`](Lock::try_lease), for a caller without a runtime.
    ///
    /// # Errors
    ///
    /// As [`try_lease`](Lock::try_lease).
    pub fn blocking_try_lease(&self, key: &str) -> Result<Option<Lease>, LockError> {
        block_on(self.try_lease(key))
    }

    fn ask(&self, key: &str, manner: Manner) -> Result<Ticket, LockError> {
        Ticket::ask(&self.session, &self.terms, key, manner)
    }
}

/// A try's answer: that the key is in use is none.
pub(crate) fn none_in_use(answer: Result<Lease, LockError>) -> Result<Option<Lease>, LockError> {
    match answer {
        Ok(lease) => Ok(Some(lease)),
        Err(LockError::InUse) => Ok(None),
        Err(error) => Err(error),
    }
}
