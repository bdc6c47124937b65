//! Guests of WASI 0.3: `witlock:locks/locks@0.3.0`, whose functions are async.
//!
//! While one of a guest's calls waits, the guest's other tasks go on: each hold
//! stands in line by itself, also behind a key that another task of the same
//! guest holds. All that shares one [`LocksCtx`](crate::LocksCtx) is one holder
//! still.
//!
//! A hold that its guest cancels leaves the line at once; cancelled as it is
//! granted, it lets the key go. `lease.until-ended` resolves the moment the
//! lease ends, however it ends.
//!
//! The feature `p3` is needed, a wasmtime `Engine` that has the component
//! model's async support, as it has by default, and a guest that is called from
//! [`run_concurrent`](wasmtime::StoreContextMut::run_concurrent). Dropping that
//! call's future stops no task of the guest; dropping the `wasmtime::Store`
//! does, and lets go all that the guest holds and waits for.
//!
//! ```no_run
//! use wasmtime::component::{Component, Linker};
//! use wasmtime::{Engine, Result, Store};
//! use wasmtime_wasi::WasiView;
//! use wasmtime_wasi::p3::bindings::Command;
//! use witlock::LocksView;
//!
//! /// Runs a command that exports `wasi:cli/run@0.3.0`.
//! async fn run<T: WasiView + LocksView + 'static>(guest: T, app: &str) -> Result<()> {
//!     let engine = Engine::default();
//!     let mut linker = Linker::new(&engine);
//!     wasmtime_wasi::p3::add_to_linker(&mut linker)?;
//!     wasmtime_wasi::p2::add_to_linker_async(&mut linker)?; // what std uses
//!     witlock::p3::add_to_linker(&mut linker)?;
//!     witlock::p2::add_to_linker_async(&mut linker)?; // beside it, for guests that import both
//!
//!     let mut store = Store::new(&engine, guest);
//!     let component = Component::from_file(&engine, app)?;
//!     let command = Command::instantiate_async(&mut store, &component, &linker).await?;
//!     let returned = store
//!         .run_concurrent(async |accessor| command.wasi_cli_run().call_run(accessor).await)
//!         .await;
//!     drop(store); // lets go all that the guest still held
//!     returned??.map_err(|()| wasmtime::Error::msg("the guest failed"))
//! }
//! ```

mod bindings;
mod host;

use wasmtime::component::Linker;

use crate::ctx::{Locks, LocksView};

/// Offers `witlock:locks/locks@0.3.0`. The same linker may offer `@0.2.0` too,
/// see [`p2`](crate::p2): a guest that imports both is one holder in both.
///
/// # Errors
///
/// If the linker has the interface already, or its engine was configured
/// without concurrency support.
pub fn add_to_linker<T: LocksView + 'static>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    bindings::wit::add_to_linker::<T, Locks>(linker, T::locks)
}
