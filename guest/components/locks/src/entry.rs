//! The one way into the store: every entry steps it with the current time, and
//! wakes whoever it is news for once the store is let go.

use std::cell::RefCell;

#[cfg(feature = "async")]
use witlock_engine::Nanoseconds;
use witlock_engine::{Command, Event};

use crate::asks::CallNumber;
use crate::store::Store;

std::thread_local! {
    /// Opened by the first entry. Borrowed within this module only, where
    /// nothing is awaited: no other call finds it borrowed.
    static STORE: RefCell<Option<Store>> = const { RefCell::new(None) };
}

/// Enters the store.
pub(crate) fn enter<R>(act: impl FnOnce(&mut Store, &mut Vec<CallNumber>) -> R) -> R {
    let mut told = Vec::new();
    let result = STORE.with_borrow_mut(|store| {
        let store = store.get_or_insert_with(Store::open);
        act(store, &mut told)
    });
    #[cfg(feature = "async")]
    crate::waiting::tell(told);
    #[cfg(not(feature = "async"))]
    debug_assert!(told.is_empty(), "a call waits");
    result
}

/// Ends what is due by now, then handles a command.
pub(crate) fn step(command: Command) {
    enter(|store, told| store.step(&[command], told));
}

/// Ends what is due by now.
pub(crate) fn step_with_time() {
    enter(|store, told| store.step(&[], told));
}

/// Handles a command that is answered under a tag, at once.
pub(crate) fn ask_engine(command: Command) -> Option<Event> {
    enter(|store, told| store.ask_engine(command, told))
}

/// The time of the last step, and when something is due next.
#[cfg(feature = "async")]
pub(crate) fn time() -> (Nanoseconds, Option<Nanoseconds>) {
    STORE.with_borrow(|store| store.as_ref().map_or((0, None), Store::time))
}
