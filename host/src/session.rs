//! A holder's session with the engine.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::LockError;
use crate::lock::Terms;
use crate::store::Store;

/// One holder. Dropping it ends the session and lets all its keys go.
#[derive(Debug)]
pub(crate) struct Session {
    pub store: Store,
    pub number: u64,
    ended: AtomicBool,
}

impl Session {
    pub fn open(store: &Store, max_held: Option<u32>, max_waiting: Option<u32>) -> Self {
        Session {
            store: store.clone(),
            number: store.backend().open_session(max_held, max_waiting),
            ended: AtomicBool::new(false),
        }
    }

    /// Whether a lock can be opened so.
    pub fn check(&self, terms: &Terms) -> Result<(), LockError> {
        self.store.backend().check(terms)
    }

    /// Lets go of all that it holds and refuses all that it waits for.
    pub fn end(&self) {
        if !self.ended.swap(true, Ordering::AcqRel) {
            self.store.backend().end_session(self.number);
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
    }
}
