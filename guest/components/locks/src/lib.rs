//! `locks.wasm`: [`witlock_engine`] behind `witlock:locks/locks`, for
//! composition with an app. Both versions of the interface, one set of locks:
//!
//! - the time is the runtime's monotonic clock, read at every entry;
//! - fences are kept in a file of a directory ([`fences`]);
//! - all that shares one copy of the component is one holder, since a component
//!   learns nothing of its caller.
//!
//! Without the feature `async` it is `locks-0.2.wasm`: the same without
//! `@0.3.0`, in which alone a hold waits.

pub mod fences;

mod asks;
mod bindings;
mod clock;
mod entry;
mod leases;
mod opened;
mod store;
#[cfg(feature = "async")]
mod timers;
mod version_0_2;
#[cfg(feature = "async")]
mod version_0_3;
#[cfg(feature = "async")]
mod waiting;
