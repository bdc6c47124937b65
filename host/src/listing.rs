//! What is held and who waits, by pages; and breaking a lease.

use std::time::Duration;

use crate::error::{BreakError, ListError};
use crate::store::Store;

/// A page of a listing, at most 256 items. It may be short, even empty, where
/// there is more: go on while there is a `next`.
///
/// A listing is no snapshot. What stays throughout is listed once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<Item, Cursor> {
    /// What is on it.
    pub items: Vec<Item>,
    /// Where to go on; none at the end.
    pub next: Option<Cursor>,
}

/// Where a listing of what is held goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HoldingsCursor(pub(crate) u64);

/// Where a listing of who waits goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitersCursor {
    pub(crate) key: u64,
    pub(crate) arrival: u64,
}

/// What names a lease to an operator. It breaks the lease; it neither releases
/// nor renews it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LeaseRef {
    /// The lease's fence.
    pub fence: u64,
    /// The lease's place in the engine.
    pub place: u32,
}

/// A lease as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holding {
    /// The lock's or semaphore's name.
    pub name: String,
    /// The semaphore's limit; a lock has none.
    pub limit: Option<u32>,
    /// The key.
    pub key: String,
    /// What its holder calls itself.
    pub label: Option<String>,
    /// What the client calls itself over whose connection it is held, where that is
    /// known: a listing over a connection tells it.
    pub client: Option<String>,
    /// What breaks it.
    pub lease: LeaseRef,
    /// How long it has been held.
    pub held: Duration,
    /// How long until its deadline, if it has one.
    pub left: Option<Duration>,
}

/// A waiter as a listing shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waiting {
    /// The lock's or semaphore's name.
    pub name: String,
    /// The semaphore's limit; a lock has none.
    pub limit: Option<u32>,
    /// The key.
    pub key: String,
    /// What the waiter calls itself.
    pub label: Option<String>,
    /// As of a [`Holding`].
    pub client: Option<String>,
    /// How long it has waited.
    pub waited: Duration,
    /// How long until its wait runs out.
    pub left: Duration,
}

/// How much a store keeps. A key that nobody holds or waits for takes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counts {
    /// Keys held or waited for.
    pub keys: u64,
    /// Leases.
    pub leases: u64,
    /// Asks in line.
    pub waiters: u64,
    /// Holders.
    pub sessions: u64,
}

impl Store {
    /// A page of what is held, from the first or from where the last ended.
    ///
    /// # Errors
    ///
    /// [`ListError`], over a connection for want of an operator's rights too.
    pub async fn holdings(
        &self,
        from: Option<HoldingsCursor>,
    ) -> Result<Page<Holding, HoldingsCursor>, ListError> {
        self.backend().holdings(from).await
    }

    /// A page of who waits, key by key, each line in its order.
    ///
    /// # Errors
    ///
    /// As [`holdings`](Store::holdings).
    pub async fn waiters(
        &self,
        from: Option<WaitersCursor>,
    ) -> Result<Page<Waiting, WaitersCursor>, ListError> {
        self.backend().waiters(from).await
    }

    /// Ends a lease as an operator does: its holder learns that it was
    /// [`Broken`](crate::Ending::Broken), and the key goes on. Who breaks a
    /// lease vouches that its holder is gone.
    ///
    /// # Errors
    ///
    /// [`BreakError::NotHeld`] if the lease is over; as
    /// [`holdings`](Store::holdings) besides.
    pub async fn break_lease(&self, lease: LeaseRef) -> Result<(), BreakError> {
        self.backend().break_lease(lease).await
    }

    /// How much the store keeps.
    ///
    /// # Errors
    ///
    /// As [`holdings`](Store::holdings).
    pub async fn counts(&self) -> Result<Counts, ListError> {
        self.backend().counts().await
    }
}
