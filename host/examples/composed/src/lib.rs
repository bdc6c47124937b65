//! An app that is composed with `locks.wasm` and run by the stock wasmtime
//! command line: `./run`. Three tasks want to summarise one chat at the same
//! time; each gets its turn.

#[allow(missing_docs)] // documented in the WIT
mod bindings {
    wit_bindgen::generate!({
        path: ["../../../wit/locks-0.3", "wit"],
        world: "my:app/app",
        generate_all,
    });
}

use bindings::witlock::locks::locks::{Ending, Lock, LockError, Options};
use futures_util::future::join_all;

#[cfg_attr(not(target_family = "wasm"), allow(dead_code))]
struct App;

impl bindings::exports::wasi::cli::run::Guest for App {
    async fn run() -> Result<(), ()> {
        let options = Options {
            ttl: None,
            wait: Some(5_000),
            max_hold: Some(60_000),
            label: None,
        };
        let summaries = Lock::open("summaries", &options).map_err(complain)?;
        let writers = (1..=3).map(|writer| summarise(&summaries, writer));
        join_all(writers).await.into_iter().collect()
    }
}

async fn summarise(summaries: &Lock, writer: u32) -> Result<(), ()> {
    let lease = summaries
        .hold("chat-1".into(), None)
        .await
        .map_err(complain)?;
    println!(
        "writer {writer} summarises chat-1 under fence {}",
        lease.fence()
    );
    // Were the lease lost meanwhile, what was written would be in doubt.
    lease.release().await.map_err(lost)
}

fn complain(error: LockError) {
    eprintln!("no key: {error:?}");
}

fn lost(ending: Ending) {
    eprintln!("the lease ended: {ending:?}");
}

#[cfg(target_family = "wasm")]
bindings::export!(App with_types_in bindings);
