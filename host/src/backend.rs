//! What stands behind a store's handle: the engine in this process, or a connection
//! to one in another. Nothing above knows which.

use std::pin::Pin;
use std::sync::Arc;

use crate::LockError;
use crate::driver::{Ask, Hold};
use crate::error::{BreakError, ListError};
use crate::listing::{Counts, Holding, HoldingsCursor, LeaseRef, Page, WaitersCursor, Waiting};
use crate::lock::Terms;

/// An answer that may take time.
pub(crate) type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

pub(crate) trait Backend: Send + Sync {
    /// What the clock says that the holders' deadlines follow.
    fn now(&self) -> u64;

    /// Opens a session and gives its number.
    fn open_session(&self, max_held: Option<u32>, max_waiting: Option<u32>) -> u64;

    /// Ends a session: what it holds is let go, what it waits for is refused.
    fn end_session(&self, session: u64);

    /// Whether a lock can be opened so.
    fn check(&self, terms: &Terms) -> Result<(), LockError>;

    /// Asks for a key. The answer, and the end of the lease, come to the ask.
    fn ask(&self, hold: &Hold) -> Result<Arc<Ask>, LockError>;

    /// Lets go whatever an ask has come to, or will.
    fn abandon(&self, ask: &Ask);

    /// Releases the lease that came of an ask. Its end tells whether it lasted until
    /// then.
    fn release(&self, ask: &Ask);

    /// The lease's deadline has come: sees to it that the ask knows its end, if it
    /// can be known.
    fn settle(&self, ask: &Ask);

    fn holdings(
        &self,
        from: Option<HoldingsCursor>,
    ) -> Answer<'_, Result<Page<Holding, HoldingsCursor>, ListError>>;

    fn waiters(
        &self,
        from: Option<WaitersCursor>,
    ) -> Answer<'_, Result<Page<Waiting, WaitersCursor>, ListError>>;

    fn break_lease(&self, lease: LeaseRef) -> Answer<'_, Result<(), BreakError>>;

    fn counts(&self) -> Answer<'_, Result<Counts, ListError>>;
}
