//! What the puppet has open and holds, by the numbers its host knows.

use std::cell::RefCell;

use crate::bindings::witlock::locks::locks::{Lease, Lock, LockError, Semaphore};

/// All that the puppet has.
#[derive(Default)]
pub(crate) struct Strings {
    pub opened: Numbered<Opened>,
    pub leases: Numbered<Lease>,
}

/// A lock or a semaphore: the difference ends where it is opened.
pub(crate) enum Opened {
    Lock(Lock),
    Semaphore(Semaphore),
}

impl Opened {
    pub fn hold(&self, key: &str, wait: Option<u32>) -> Result<Lease, LockError> {
        match self {
            Opened::Lock(lock) => lock.hold(key, wait),
            Opened::Semaphore(semaphore) => semaphore.hold(key, wait),
        }
    }

    pub fn try_hold(&self, key: &str) -> Result<Option<Lease>, LockError> {
        match self {
            Opened::Lock(lock) => lock.try_hold(key),
            Opened::Semaphore(semaphore) => semaphore.try_hold(key),
        }
    }
}

/// Things by the order in which they came; each may be taken out once.
pub(crate) struct Numbered<T>(RefCell<Vec<Option<T>>>);

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Numbered(RefCell::default())
    }
}

impl<T> Numbered<T> {
    pub fn add(&self, item: T) -> u32 {
        let mut items = self.0.borrow_mut();
        items.push(Some(item));
        items.len() as u32 - 1
    }

    pub fn with<R>(&self, number: u32, look: impl FnOnce(&T) -> R) -> R {
        let items = self.0.borrow();
        let item = items.get(number as usize).and_then(Option::as_ref);
        look(item.expect("a number that was given, and not dropped since"))
    }

    pub fn take(&self, number: u32) -> T {
        let mut items = self.0.borrow_mut();
        let item = items.get_mut(number as usize).and_then(Option::take);
        item.expect("a number that was given, and not dropped since")
    }
}
