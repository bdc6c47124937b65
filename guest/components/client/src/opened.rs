//! Locks and semaphores, opened.

use witlock_engine::{Options, bounds};
use witlock_session::client::Terms;

use crate::bindings::wit;
use crate::entry::enter;
use crate::leases::Lease;
use crate::store::Store;

/// A lock or a semaphore.
pub(crate) struct Opened {
    name: String,
    limit: Option<u32>,
    wait: Option<u32>,
    options: Options,
}

impl Opened {
    pub fn open(
        name: String,
        limit: Option<u32>,
        opening: wit::Options,
    ) -> Result<Self, wit::LockError> {
        let options = Options {
            ttl: opening.ttl,
            max_hold: opening.max_hold,
            label: opening.label,
        };
        enter(Store::look)?;
        let checked = bounds::check(&name, limit, &options);
        checked.map_err(|why| wit::LockError::Invalid(why.to_string()))?;
        Ok(Opened {
            name,
            limit,
            wait: opening.wait,
            options,
        })
    }

    /// Waits for a key. All of the caller stands still meanwhile.
    pub fn hold(&self, key: &str, wait: Option<u32>) -> Result<Lease, wit::LockError> {
        self.ask(key, wait.or(self.wait), true)
    }

    /// Holds a key if it is free.
    pub fn try_hold(&self, key: &str) -> Result<Option<Lease>, wit::LockError> {
        match self.ask(key, Some(0), false) {
            Ok(lease) => Ok(Some(lease)),
            Err(wit::LockError::InUse) => Ok(None),
            Err(why) => Err(why),
        }
    }

    fn ask(&self, key: &str, wait: Option<u32>, alone: bool) -> Result<Lease, wit::LockError> {
        let terms = Terms {
            name: &self.name,
            limit: self.limit,
            key,
            wait,
            options: self.options.clone(),
            alone,
        };
        let (ask, fence) = enter(|store| store.hold(terms))??;
        Ok(Lease::new(ask, fence))
    }
}
