//! A holder's session with the engine.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::LockError;
use crate::driver::{block_on, wit};
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
            number: store.driver().open_session(max_held, max_waiting),
            ended: AtomicBool::new(false),
        }
    }

    /// Whether a lock can be opened so. The engine answers at once.
    pub fn check(&self, terms: &Terms) -> Result<(), LockError> {
        let check = |tag| {
            wit::Command::Check(wit::Check {
                tag,
                name: terms.name.clone(),
                limit: terms.limit,
                options: terms.options.clone(),
            })
        };
        match block_on(self.store.driver().request(check))? {
            wit::Event::Invalid(wit::Invalid { why, .. }) => Err(LockError::Invalid(why)),
            _ => Ok(()),
        }
    }

    /// Lets go of all that it holds and refuses all that it waits for.
    pub fn end(&self) {
        if !self.ended.swap(true, Ordering::AcqRel) {
            self.store.driver().end_session(self.number);
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
    }
}
