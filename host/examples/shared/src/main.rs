//! An app whose key other processes hold too: `./run` has it take turns with them,
//! under `witlock run --connect`, and composed with `client.wasm` under the stock
//! wasmtime command line.

#[allow(missing_docs)] // documented in the WIT
mod bindings {
    wit_bindgen::generate!({
        path: ["../../../wit/locks-0.2", "wit"],
        world: "my:app/app",
        generate_all,
    });
}

use std::process::ExitCode;

use bindings::witlock::locks::locks::{Lock, Options};

fn main() -> ExitCode {
    match summarise() {
        Ok(fence) => {
            println!("a guest summarised chat-1 under fence {fence}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn summarise() -> Result<u64, String> {
    let options = Options {
        ttl: None,
        wait: Some(60_000),
        max_hold: None,
        label: Some("the example".into()),
    };
    let summaries = Lock::open("summaries", &options).map_err(|why| format!("no lock: {why:?}"))?;
    let lease = summaries
        .hold("chat-1", None)
        .map_err(|why| format!("no key: {why:?}"))?;
    let fence = lease.fence();
    // Were the lease lost meanwhile, what was written would be in doubt.
    lease.release().map_err(|how| format!("lost: {how:?}"))?;
    Ok(fence)
}
