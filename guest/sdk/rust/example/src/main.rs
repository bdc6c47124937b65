//! One summary per chat, however many write it: `summaries CHAT [WORK_MS]`.

mod shelf;

use std::time::Duration;
use std::{env, process, thread};

use anyhow::{Context, Result, anyhow};
use shelf::Shelf;
use witlock_guest::HoldError;

/// Who this is, to the shelf and to operators.
const WRITER: &str = "rust";

/// A writer that hangs keeps the others from its chat for so long at most.
const MAX_HOLD: Duration = Duration::from_secs(2);

/// Longer than a few writers take one after the other.
const WAIT: Duration = Duration::from_secs(300);

/// How long the work takes unless the arguments say.
const WORK_MS: u64 = 50;

fn main() {
    if let Err(why) = run() {
        eprintln!("{why:#}");
        process::exit(1);
    }
}

fn run() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let chat = arguments
        .next()
        .context("usage: summaries CHAT [WORK_MS]")?;
    let work = arguments.next().map_or(Ok(WORK_MS), |text| text.parse())?;
    summarise(&chat, Duration::from_millis(work))
}

fn summarise(chat: &str, work: Duration) -> Result<()> {
    let summaries = witlock_guest::lock("summaries")
        .max_hold(MAX_HOLD)
        .wait(WAIT)
        .label(WRITER)
        .open()
        .context("no key")?;
    summaries
        .hold(chat, |lease| {
            let fence = lease.fence();
            println!("{WRITER} summarises {chat} under fence {fence}");
            let summary = ask_a_model(chat, work);
            // The lease may be over by now. A look at it would not help: it might end
            // right after the look. So its fence goes along, and the shelf refuses who
            // is late.
            match Shelf::at("/shelf").save(chat, WRITER, &summary, fence) {
                Ok(()) => println!("{WRITER} wrote {chat} under fence {fence}"),
                Err(why) => eprintln!("not written: {why}"),
            }
        })
        .map_err(told)
}

fn told(error: HoldError) -> anyhow::Error {
    match error {
        HoldError::Lock(why) => anyhow!("no key: {why}"),
        HoldError::Lost(how) => anyhow!("lease lost: {how}"),
    }
}

/// Stands for what takes long.
fn ask_a_model(chat: &str, work: Duration) -> String {
    thread::sleep(work);
    format!("what {chat} is about")
}
