//! `client.wasm`: a `witlock serve` behind `witlock:locks/locks@0.2.0`, for apps
//! under a stock runtime. Composed with an app, it makes the app's keys those of
//! every other client of the server:
//!
//! ```sh
//! witlock serve --store ./store --listen tcp:127.0.0.1:7411   # names the token's file
//! wac plug app.wasm --plug client.wasm -o composed.wasm
//! wasmtime run -S inherit-network \
//!     --env WITLOCK_CONNECT=tcp:127.0.0.1:7411 --env WITLOCK_TOKEN composed.wasm
//! ```
//!
//! `--env WITLOCK_TOKEN` without a value passes the variable on; with one, it would
//! stand in an argument list, which every user of the machine can read. In its
//! place `WITLOCK_TOKEN_FILE` names a file in a directory that `--dir` gives.
//! `WITLOCK_CLIENT` is what operators see beside the leases. A name for the host,
//! as in `tcp:locks.internal:7411`, needs `-S inherit-network,allow-ip-name-lookup`.
//! There is no TLS here: beyond one machine, the network has to be trusted.
//!
//! All that shares one copy of the component is one holder, since a component
//! learns nothing of its caller: one connection, and one session. It is a shell
//! around [`witlock_session::client::Client`], which decides all there is to decide.
//!
//! # Long work
//!
//! A component has no thread of its own, and so nothing renews its leases while the
//! app works. What does is the app's own calls:
//!
//! - Every call of the interface, on whichever lock or lease, renews all leases of
//!   the instance that were not renewed for a third of their ttl. A hold that waits
//!   goes on renewing them.
//! - So long work has to call at least each third of the ttl (`lease.ended()` is
//!   the call for that), or be given a ttl that is longer than it takes. The ttl is
//!   also for how long the key stays taken if the app dies.
//! - Work that makes no call for longer than the ttl has lost its key, and may have
//!   run beside the next holder: `ended` and `release` then say `expired`. Guard
//!   what is written by the fence.
//!
//! The deadlines here follow the runtime's clock, which may stand still while the
//! machine sleeps. Therefore `ended` and `release` ask the store each time, a round
//! trip. Where no answer comes within 5 s, a lease lasts until its own deadline, and
//! is `unreachable` from then on: the server may be back before. Of a machine that
//! slept, and whose network has not woken after 5 s, that may be too long; there only
//! the fence guards.
//!
//! An app that ends while it holds, by a trap too, leaves its keys to their ttl; a
//! lease that is dropped is released without waiting for an answer.

pub mod settings;

mod bindings;
mod clock;
mod connection;
mod entry;
mod leases;
mod opened;
mod store;
mod version_0_2;
