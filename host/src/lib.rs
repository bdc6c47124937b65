//! Locks for WebAssembly components: one holder of a key at a time, across
//! everything that shares a [`Store`]. Who waits is served first come, first
//! served, and every lease carries a [fence](Lease::fence), a number larger than
//! any given before, restarts included.
//!
//! The lock engine is itself a component, which this crate drives; a store keeps
//! its fences in a directory, which one process at a time holds open.
//!
//! # For the guests of your wasmtime host
//!
//! Each guest gets a [`LocksCtx`] in the data of its `wasmtime::Store`, and the
//! linker gets [`p2::add_to_linker_async`] (or
//! [`_sync`](p2::add_to_linker_sync)), as with wasmtime's own capability crates.
//! Beside it or alone, for guests of WASI 0.3, `p3::add_to_linker` of the feature
//! `p3`; one guest may import both versions.
//!
//! ```no_run
//! use wasmtime::component::{Component, Linker, ResourceTable};
//! use wasmtime::{Config, Engine, Result, Store};
//! use wasmtime_wasi::p2::bindings::Command;
//! use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
//! use witlock::{LocksCtx, LocksCtxView, LocksView};
//!
//! struct Guest {
//!     locks: LocksCtx,
//!     wasi: WasiCtx,
//!     table: ResourceTable,
//! }
//!
//! impl LocksView for Guest {
//!     fn locks(&mut self) -> LocksCtxView<'_> {
//!         LocksCtxView { ctx: &mut self.locks, table: &mut self.table }
//!     }
//! }
//!
//! impl WasiView for Guest {
//!     fn ctx(&mut self) -> WasiCtxView<'_> {
//!         WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<()> {
//!     // A guest that spins gives the thread back now and then; see below.
//!     let engine = Engine::new(Config::new().epoch_interruption(true))?;
//!     let ticked = engine.clone();
//!     std::thread::spawn(move || loop {
//!         std::thread::sleep(std::time::Duration::from_millis(10));
//!         ticked.increment_epoch();
//!     });
//!
//!     let mut linker = Linker::new(&engine);
//!     wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
//!     witlock::p2::add_to_linker_async(&mut linker)?;
//!
//!     let locks = witlock::Store::open("./store")?;
//!     let guest = Guest {
//!         locks: LocksCtx::builder(&locks).scope("tenant-1/").build(),
//!         wasi: WasiCtx::builder().inherit_stdio().build(),
//!         table: ResourceTable::new(),
//!     };
//!     let mut store = Store::new(&engine, guest);
//!     store.epoch_deadline_async_yield_and_update(1);
//!
//!     let component = Component::from_file(&engine, "app.wasm")?;
//!     let command = Command::instantiate_async(&mut store, &component, &linker).await?;
//!     let returned = command.wasi_cli_run().call_run(&mut store).await;
//!     drop(store); // lets go all that the guest still held
//!     returned?.map_err(|()| wasmtime::Error::msg("the guest failed"))
//! }
//! ```
//!
//! ## After a trap, a time-out or a cancelled call
//!
//! A guest that trapped can't be entered again, and never drops its leases; one
//! whose call was dropped in the middle may be left holding. Neither lets a key
//! go by itself: **the end of its context does**. Drop the `wasmtime::Store`, or,
//! where it is kept, end the context:
//!
//! ```no_run
//! # use std::time::Duration;
//! # use witlock::LocksView;
//! # async fn example<T: LocksView>(mut store: wasmtime::Store<T>, run: wasmtime::component::TypedFunc<(), ()>) {
//! let called = tokio::time::timeout(Duration::from_secs(60), run.call_async(&mut store, ())).await;
//! if !matches!(called, Ok(Ok(()))) {
//!     store.data_mut().locks().ctx.end(); // or: drop(store)
//! }
//! # }
//! ```
//!
//! A call that is dropped while it waits in line leaves the line at once, and one
//! that is dropped as its key is granted passes the key on.
//!
//! ## A guest that spins
//!
//! Deadlines are kept by a thread of the store's own: a lease with a `max-hold`
//! ends on time even if every thread of the runtime is busy. The other *guests*
//! of such a runtime go on only if wasmtime makes the spinning one yield, hence
//! the epochs above.
//!
//! # From Rust, without guests
//!
//! ```
//! # use std::time::Duration;
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let store = witlock::Store::open("./store")?;
//! let summaries = store.lock("summaries").max_hold(Duration::from_secs(60)).open()?;
//!
//! // Waits in line, holds while the work runs, lets go however it ends.
//! summaries.hold("chat-1", async |lease| write("chat-1", lease.fence()).await).await?;
//!
//! // Only if the key is free; and without a runtime.
//! let tried = summaries.blocking_try_hold("chat-1", |lease| lease.fence())?;
//! println!("{tried:?}");
//! # Ok(())
//! # }
//! # async fn write(_: &str, _: u64) {}
//! ```
//!
//! Nothing here needs a runtime: futures are woken by whoever releases, and by
//! the store's own threads.
//!
//! # What is promised
#![doc = include_str!("../docs/promises.md")]
#![deny(missing_docs)]

mod backend;
pub mod clock;
#[cfg(feature = "net")]
mod connector;
mod ctx;
mod driver;
mod error;
pub mod fences;
mod grace;
mod guests;
#[cfg(feature = "net")]
mod journal;
mod lease;
mod listing;
mod lock;
#[cfg(feature = "net")]
mod net;
pub mod p2;
#[cfg(feature = "p3")]
pub mod p3;
mod session;
mod store;

#[cfg(feature = "net")]
pub use connector::Connector;
pub use ctx::{LocksCtx, LocksCtxBuilder, LocksCtxView, LocksView};
#[cfg(feature = "net")]
pub use error::{BindError, ConnectError};
pub use error::{BreakError, Ending, HoldError, ListError, LockError, OpenError};
pub use lease::Lease;
pub use listing::{Counts, Holding, HoldingsCursor, LeaseRef, Page, WaitersCursor, Waiting};
pub use lock::{Lock, LockBuilder};
#[cfg(feature = "net")]
pub use net::{Server, ServerBuilder};
pub use store::{Store, StoreBuilder};
