//! `client.wasm`: a `witlock serve` behind `witlock:locks/locks@0.2.0`, for
//! composition with an app.

pub mod settings;

mod bindings;
mod clock;
mod connection;
mod entry;
mod leases;
mod opened;
mod store;
mod version_0_2;
