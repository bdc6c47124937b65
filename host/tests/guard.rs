//! The guard of the README, as it stands there: what it lets write, and what not.
#![allow(clippy::unwrap_used, missing_docs)]

use std::time::Duration;

use rusqlite::{Connection, params};
use witlock::{Ending, HoldError, Store};

const README: &str = include_str!("../../README.md");

/// The two statements of the README's block of SQL.
fn statements() -> (&'static str, &'static str) {
    let block = README.split("```sql").nth(1).unwrap();
    let block = block.split("```").next().unwrap();
    block.split_once("\n\n").unwrap()
}

struct Summaries(Connection);

impl Summaries {
    fn new() -> Self {
        let database = Connection::open_in_memory().unwrap();
        database.execute_batch(statements().0).unwrap();
        Summaries(database)
    }

    /// Whether the database took it.
    fn write(&self, text: &str, fence: u64) -> bool {
        let fence = i64::try_from(fence).unwrap();
        let changed = self
            .0
            .execute(statements().1, params!["chat-1", text, fence]);
        changed.unwrap() == 1
    }

    fn text(&self) -> String {
        let read = "select text from summaries where chat = 'chat-1'";
        self.0.query_row(read, [], |row| row.get(0)).unwrap()
    }
}

// LOCK-02, case G2
#[test]
fn only_a_larger_fence_writes() {
    let summaries = Summaries::new();
    let wrote = [5, 3, 7, 7, 6].map(|fence| summaries.write(&fence.to_string(), fence));
    assert_eq!(wrote, [true, false, true, false, false]);
    assert_eq!(summaries.text(), "7");
}

// LOCK-02, LOCK-03, LOCK-07, case G8
#[test]
fn a_holder_that_is_late_is_turned_away() {
    let summaries = Summaries::new();
    let store = Store::in_memory().unwrap();
    let brief = store.lock("summaries").max_hold(Duration::from_millis(1));
    let (brief, next) = (
        brief.open().unwrap(),
        store.lock("summaries").open().unwrap(),
    );
    let stalled = brief.blocking_hold("chat-1", |late| {
        // The key goes on at the max-hold, while this one still works.
        next.blocking_hold("chat-1", |lease| {
            assert!(summaries.write("in time", lease.fence()));
        })
        .unwrap();
        assert!(!summaries.write("late", late.fence()));
    });
    assert_eq!(stalled, Err(HoldError::Lost(Ending::Revoked)));
    assert_eq!(summaries.text(), "in time");
}
