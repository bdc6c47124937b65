//! Guests of WASI 0.2: `witlock:locks/locks@0.2.0`, whose functions block.
//!
//! While a guest's `hold` waits, all of the guest stands still. With
//! [`add_to_linker_async`] its host thread goes on meanwhile; with
//! [`add_to_linker_sync`] that thread waits too.

mod bindings;
mod host;
mod sync;

use wasmtime::component::Linker;

pub use sync::add_to_linker_sync;

use crate::ctx::{Locks, LocksView};

/// Offers `witlock:locks/locks@0.2.0` to guests that are called with
/// `call_async`.
///
/// # Errors
///
/// If the linker has the interface already.
pub fn add_to_linker_async<T: LocksView + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    bindings::wit::add_to_linker::<T, Locks>(linker, T::locks)
}
