//! Keys held.

use witlock_session::client::Ending;

use crate::entry::enter;
use crate::store::Store;

/// A key held. Dropped, it is released.
pub(crate) struct Lease {
    ask: u64,
    fence: u64,
}

impl Lease {
    pub fn new(ask: u64, fence: u64) -> Self {
        Lease { ask, fence }
    }

    pub fn fence(&self) -> u64 {
        // As every call, it renews what is due. There is a store: it gave this.
        let _ = enter(Store::look);
        self.fence
    }

    /// How the lease ended by now, if it has, as the store says.
    pub fn ended(&self) -> Option<Ending> {
        enter(|store| store.ended(self.ask)).unwrap_or(Some(Ending::Unreachable))
    }

    /// Releases the key; or says how the lease had ended, if it had.
    pub fn release(&self) -> Result<(), Ending> {
        enter(|store| store.release(self.ask)).unwrap_or(Err(Ending::Unreachable))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let _ = enter(|store| store.let_go(self.ask));
    }
}
