//! What every SDK has to do, by cases, with async functions: `conformance CASE`.
// Checked natively too, where nothing is exported.
#![cfg_attr(not(target_family = "wasm"), allow(dead_code))]

#[allow(missing_docs)] // documented in the WIT
mod bindings {
    wit_bindgen::generate!({
        path: "../example-async/wit",
        world: "example:summaries/app",
        generate_all,
    });
}

use std::env;
use std::future::pending;
use std::pin::pin;

use bindings::wasi::clocks::monotonic_clock;
use futures_util::future::{Either, select};
use witlock_guest::p3::Lock;
use witlock_guest::{LockBuilder, LockError};

// What the cases are written in, here for async functions.
macro_rules! cases {
    ($(fn $name:ident($($argument:ident: $type:ty)?) $body:block)*) => {
        $(pub async fn $name($($argument: $type)?) -> Told $body)*
    };
}
macro_rules! answer {
    ($asked:expr) => {
        $asked.await
    };
}
macro_rules! work {
    (|$lease:pat_param| $body:expr) => {
        async |$lease: &witlock_guest::p3::Lease| $body
    };
}

#[path = "../../conformance/src/cases.rs"]
mod cases;

fn open(lock: LockBuilder) -> Result<Lock, LockError> {
    lock.open_p3()
}

async fn pause() {
    let nanoseconds = u64::try_from(cases::PAUSE.as_nanos()).unwrap_or(u64::MAX);
    monotonic_clock::wait_for(nanoseconds).await;
}

/// A hold that waits and one that works are dropped; both let go.
async fn cancel() -> cases::Told {
    let lock = open(witlock_guest::lock("conformance"))?;
    let lease = lock.lease("mine").await?;
    cancelled(lock.hold("mine", async |_| ())).await;
    cancelled(lock.hold("other", async |_| pending::<()>().await)).await;
    drop(lease);
    cases::tell(lock.try_hold("mine", async |lease| lease.fence()).await);
    cases::tell(lock.try_hold("other", async |lease| lease.fence()).await);
    Ok(())
}

/// Drops a future after a while in which it had its turns.
async fn cancelled(task: impl Future) {
    match select(pin!(task), pin!(pause())).await {
        Either::Left(_) => println!("done"),
        Either::Right(_) => println!("cancelled"),
    }
}

/// The component.
struct Conformance;

impl bindings::exports::wasi::cli::run::Guest for Conformance {
    async fn run() -> Result<(), ()> {
        let case = env::args().nth(1).unwrap_or_default();
        cases::run(&case).await.map_err(|why| eprintln!("{why}"))
    }
}

#[cfg(target_family = "wasm")]
bindings::export!(Conformance with_types_in bindings);
