//! What is held and who waits, by pages; and breaking a lease.

use std::time::Duration;

use crate::driver::wit;
use crate::store::Store;
use crate::{LockError, NotHeld};

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
pub struct HoldingsCursor(u64);

/// Where a listing of who waits goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitersCursor {
    key: u64,
    arrival: u64,
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
    /// [`LockError::Closed`] once the store is.
    pub async fn holdings(
        &self,
        from: Option<HoldingsCursor>,
    ) -> Result<Page<Holding, HoldingsCursor>, LockError> {
        let cursor = from.map_or(0, |cursor| cursor.0);
        let list = |tag| wit::Command::ListHoldings(wit::ListHoldings { tag, cursor });
        match self.driver().request(list).await? {
            wit::Event::Holdings(page) => Ok(Page {
                items: page.items.into_iter().map(holding).collect(),
                next: page.next.map(HoldingsCursor),
            }),
            _ => Err(LockError::Closed),
        }
    }

    /// A page of who waits, key by key, each line in its order.
    ///
    /// # Errors
    ///
    /// [`LockError::Closed`] once the store is.
    pub async fn waiters(
        &self,
        from: Option<WaitersCursor>,
    ) -> Result<Page<Waiting, WaitersCursor>, LockError> {
        let (key, arrival) = from.map_or((0, 0), |from| (from.key, from.arrival));
        let cursor = wit::WaitersCursor { key, arrival };
        let list = |tag| wit::Command::ListWaiters(wit::ListWaiters { tag, cursor });
        match self.driver().request(list).await? {
            wit::Event::Waiters(page) => Ok(Page {
                items: page.items.into_iter().map(waiting).collect(),
                next: page.next.map(|at| WaitersCursor {
                    key: at.key,
                    arrival: at.arrival,
                }),
            }),
            _ => Err(LockError::Closed),
        }
    }

    /// Ends a lease as an operator does: its holder learns that it was
    /// [`Broken`](crate::Ending::Broken), and the key goes on. Who breaks a
    /// lease vouches that its holder is gone.
    ///
    /// # Errors
    ///
    /// [`NotHeld`] if the lease is over.
    pub async fn break_lease(&self, lease: LeaseRef) -> Result<(), NotHeld> {
        let LeaseRef { fence, place } = lease;
        let command = |tag| wit::Command::BreakLease(wit::BreakLease { tag, fence, place });
        match self.driver().request(command).await {
            Ok(wit::Event::Fine(_)) => Ok(()),
            _ => Err(NotHeld),
        }
    }

    /// How much the store keeps.
    ///
    /// # Errors
    ///
    /// [`LockError::Closed`] once the store is.
    pub async fn counts(&self) -> Result<Counts, LockError> {
        match self.driver().request(wit::Command::Count).await? {
            wit::Event::Counted(counts) => Ok(Counts {
                keys: counts.keys,
                leases: counts.leases,
                waiters: counts.waiters,
                sessions: counts.sessions,
            }),
            _ => Err(LockError::Closed),
        }
    }
}

fn holding(held: wit::Holding) -> Holding {
    Holding {
        name: held.name,
        limit: held.limit,
        key: held.key,
        label: held.label,
        lease: LeaseRef {
            fence: held.fence,
            place: held.place,
        },
        held: Duration::from_nanos(held.held),
        left: held.left.map(Duration::from_nanos),
    }
}

fn waiting(waiting: wit::Waiting) -> Waiting {
    Waiting {
        name: waiting.name,
        limit: waiting.limit,
        key: waiting.key,
        label: waiting.label,
        waited: Duration::from_nanos(waiting.waited),
        left: Duration::from_nanos(waiting.left),
    }
}
