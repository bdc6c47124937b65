//! Where the summaries are kept: a table that refuses who is late.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, Result};

/// The guard. A row knows the largest fence that wrote it, and no older one
/// writes it again. One statement, so that nobody comes between look and write.
const SAVE: &str = "
    insert into summaries (chat, summary, fence) values (?1, ?2, ?3)
    on conflict (chat) do update
        set summary = excluded.summary, fence = excluded.fence
        where excluded.fence > summaries.fence";

/// A handle; clones are the same shelf.
#[derive(Clone)]
pub struct Shelf(Arc<Mutex<Connection>>);

impl Shelf {
    pub fn open(file: &Path) -> Result<Shelf> {
        let database = Connection::open(file)?;
        database.execute_batch(
            "create table if not exists summaries (
                chat text primary key, summary text not null, fence integer not null
            )",
        )?;
        Ok(Shelf(Arc::new(Mutex::new(database))))
    }

    /// Keeps a summary, unless one with a larger fence is kept: then gives that
    /// one's fence.
    pub fn save(&self, chat: &str, summary: &str, fence: u64) -> Result<Option<u64>> {
        // SQL's integers are signed. A fence is below 2^53.
        let values = (chat, summary, fence.cast_signed());
        let saved = self.with(|database| database.execute(SAVE, values))?;
        match saved {
            0 => self.fence(chat),
            _ => Ok(None),
        }
    }

    /// The fence that a chat's summary was written under.
    pub fn fence(&self, chat: &str) -> Result<Option<u64>> {
        const FENCE: &str = "select max(fence) from summaries where chat = ?1";
        let fence: Option<i64> =
            self.with(|database| database.query_one(FENCE, [chat], |row| row.get(0)))?;
        Ok(fence.map(i64::cast_unsigned))
    }

    /// A chat's summary.
    pub fn summary(&self, chat: &str) -> Result<String> {
        const SUMMARY: &str = "select summary from summaries where chat = ?1";
        self.with(|database| database.query_one(SUMMARY, [chat], |row| row.get(0)))
    }

    fn with<T>(&self, ask: impl FnOnce(&Connection) -> T) -> T {
        ask(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
