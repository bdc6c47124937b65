//! Many instances of a guest write summaries of chats into SQLite, one per chat
//! at a time.
//!
//! ```text
//! cargo run --release --example summaries [DIRECTORY]
//! ```
//!
//! `guest/` is the component, `wit/` what it imports and exports, `writers.rs`
//! runs it, and `shelf.rs` has the SQL that refuses who is late.

mod shelf;
mod writers;

use std::env;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;
use wasmtime::Result;

use shelf::Shelf;
use writers::Writers;

const CHATS: [&str; 2] = ["garden", "holidays"];

#[tokio::main]
async fn main() -> Result<()> {
    let dir = env::args_os().nth(1).map(PathBuf::from);
    let dir = dir.unwrap_or_else(|| env::temp_dir().join("witlock-summaries"));
    fs::create_dir_all(&dir)?;
    println!("all is kept in {}", dir.display());

    let shelf = Shelf::open(&dir.join("summaries.sqlite"))?;
    tell_of_earlier_run(&shelf)?;
    let locks = witlock::Store::open(dir.join("locks"))?;
    let writers = Arc::new(Writers::new(locks, shelf.clone())?);
    served_in_order(&writers).await?;
    late(&writers).await?;

    println!("\nkept: {}", shelf.summary("garden")?);
    println!("run it again: the fences go on growing");
    Ok(())
}

fn tell_of_earlier_run(shelf: &Shelf) -> Result<()> {
    if let Some(fence) = shelf.fence("garden")? {
        println!("an earlier run wrote under fences up to {fence}");
    }
    Ok(())
}

/// Who comes first writes first, and the chats don't wait for each other.
async fn served_in_order(writers: &Arc<Writers>) -> Result<()> {
    println!("\nfour writers come for each of two chats:");
    let mut working = JoinSet::new();
    for number in 1..=4 {
        for chat in CHATS {
            working.spawn(write(writers.clone(), number, chat, 50));
        }
        // So that the next ones come later.
        sleep(Duration::from_millis(20)).await;
    }
    working.join_all().await.into_iter().collect()
}

/// A writer that stalls loses the chat to the next in line, and can't overwrite
/// what that one wrote.
async fn late(writers: &Arc<Writers>) -> Result<()> {
    println!("\nwriter 5 stalls past its max-hold, with writer 6 behind it:");
    let stalling = write(writers.clone(), 5, "garden", 1_000);
    let stalling: JoinHandle<Result<()>> = tokio::spawn(stalling);
    sleep(Duration::from_millis(20)).await;
    write(writers.clone(), 6, "garden", 50).await?;
    stalling.await?
}

async fn write(writers: Arc<Writers>, number: u32, chat: &str, milliseconds: u32) -> Result<()> {
    let summary = format!("what writer {number} made of {chat}");
    match writers.write(chat, &summary, milliseconds).await? {
        Ok(fence) => println!("  {chat:8}  writer {number}  kept, under fence {fence}"),
        Err(why) => println!("  {chat:8}  writer {number}  refused: {why}"),
    }
    Ok(())
}
