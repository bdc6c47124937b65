//! Each guest as a writer that stalls past its max-hold, while another writes.

use std::time::Duration;

use witlock::Store;

use crate::child::Witlock;
use crate::guest::{CHAT, run};
use crate::served::Served;
use crate::shelf::Shelf;

/// How long the guest stalls, in milliseconds: far longer than its max-hold of 2 s.
const STALLS: u32 = 8_000;

pub fn is_refused(language: &str) {
    let served = Served::new();
    let shelf = Shelf::new(served.place.path("shelf"));
    let address = served.address();
    let stalled = run(language, ["--connect", &address], shelf.directory(), STALLS);
    let stalled = Witlock::start(stalled);
    until_held(&served, language);

    let store = Store::connect(&address).unwrap();
    let summaries = store
        .lock("summaries")
        .wait(Duration::from_secs(60))
        .open()
        .unwrap();
    let in_time = summaries.blocking_hold(CHAT, |lease| {
        shelf.append(lease.fence(), CHAT, "in-time");
        lease.fence()
    });
    let in_time = in_time.unwrap();

    let ended = stalled.end();
    ended.expect_code(1);
    let lines = shelf.lines();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[0].writer, "in-time");
    assert_eq!(lines[1].writer, language);
    let late = lines[1].fence;
    assert!(late < in_time, "{lines:?}");
    for told in [
        format!("not written: {late} is late, {in_time} has written"),
        "lease lost: revoked".into(),
    ] {
        assert!(ended.err().contains(&told), "{}", ended.err());
    }
    assert!(!ended.out().contains("wrote"), "{}", ended.out());
}

/// Waits until the language's guest holds a key.
fn until_held(served: &Served, language: &str) {
    crate::watchdog();
    let label = format!("{language:?}");
    while !served.run(&["ls"]).out().contains(&label) {
        std::thread::sleep(Duration::from_millis(20));
    }
}

// LOCK-02, LOCK-03, LOCK-07, case G2, case G8
crate::each_language!(
    "needs the guests of all languages: just guests",
    crate::late::is_refused
);
