//! One summary per chat, however many write it: `summaries CHAT [WORK_MS]`, with async
//! functions. While it waits in line, other tasks of the guest would go on.
// Checked natively too, where nothing is exported.
#![cfg_attr(not(target_family = "wasm"), allow(dead_code))]

#[path = "../../example/src/shelf.rs"]
mod shelf;

#[allow(missing_docs)] // documented in the WIT
mod bindings {
    wit_bindgen::generate!({ path: "wit", world: "example:summaries/app", generate_all });
}

use std::env;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use bindings::wasi::clocks::monotonic_clock;
use shelf::Shelf;
use witlock_guest::HoldError;

/// Who this is, to the shelf and to operators.
const WRITER: &str = "rust-async";

/// A writer that hangs keeps the others from its chat for so long at most.
const MAX_HOLD: Duration = Duration::from_secs(2);

/// Longer than a few writers take one after the other.
const WAIT: Duration = Duration::from_secs(300);

/// How long the work takes unless the arguments say.
const WORK_MS: u64 = 50;

/// The component.
struct App;

impl bindings::exports::wasi::cli::run::Guest for App {
    async fn run() -> Result<(), ()> {
        run().await.map_err(|why| eprintln!("{why:#}"))
    }
}

async fn run() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let chat = arguments
        .next()
        .context("usage: summaries CHAT [WORK_MS]")?;
    let work = arguments.next().map_or(Ok(WORK_MS), |text| text.parse())?;
    summarise(&chat, Duration::from_millis(work)).await
}

async fn summarise(chat: &str, work: Duration) -> Result<()> {
    let summaries = witlock_guest::lock("summaries")
        .max_hold(MAX_HOLD)
        .wait(WAIT)
        .label(WRITER)
        .open_p3()
        .context("no key")?;
    summaries
        .hold(chat, async |lease| {
            let fence = lease.fence();
            println!("{WRITER} summarises {chat} under fence {fence}");
            let summary = ask_a_model(chat, work).await;
            // The lease may be over by now. A look at it would not help: it might end
            // right after the look. So its fence goes along, and the shelf refuses who
            // is late.
            match Shelf::at("/shelf").save(chat, WRITER, &summary, fence) {
                Ok(()) => println!("{WRITER} wrote {chat} under fence {fence}"),
                Err(why) => eprintln!("not written: {why}"),
            }
        })
        .await
        .map_err(told)
}

fn told(error: HoldError) -> anyhow::Error {
    match error {
        HoldError::Lock(why) => anyhow!("no key: {why}"),
        HoldError::Lost(how) => anyhow!("lease lost: {how}"),
    }
}

/// Stands for what takes long.
async fn ask_a_model(chat: &str, work: Duration) -> String {
    let nanoseconds = u64::try_from(work.as_nanos()).unwrap_or(u64::MAX);
    monotonic_clock::wait_for(nanoseconds).await;
    format!("what {chat} is about")
}

#[cfg(target_family = "wasm")]
bindings::export!(App with_types_in bindings);
