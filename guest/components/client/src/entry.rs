//! The one way into the store: every call into the component looks first at what
//! arrived and is due.

use std::cell::RefCell;
use std::env;

use crate::bindings::wit;
use crate::settings::{Settings, Unusable};
use crate::store::Store;

std::thread_local! {
    /// Opened by the first entry, or of no use from then on. A call that waits has
    /// it borrowed: no other call comes in meanwhile.
    static STORE: RefCell<Option<Result<Store, Unusable>>> = const { RefCell::new(None) };
}

/// Enters the store.
pub(crate) fn enter<R>(act: impl FnOnce(&mut Store) -> R) -> Result<R, wit::LockError> {
    STORE.with_borrow_mut(|store| match store.get_or_insert_with(open) {
        Ok(store) => Ok(act(store)),
        Err(why) => Err(wit::LockError::Unavailable(why.to_string())),
    })
}

fn open() -> Result<Store, Unusable> {
    Store::open(Settings::read(|name| env::var(name).ok())?)
}
