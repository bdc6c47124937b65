//! All guests at once on one key of a store that is served.

use std::fs::{self, File};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::child::witlock;
use crate::guest::{CHAT, LANGUAGES, run};
use crate::served::Served;
use crate::shelf::Shelf;

/// How long the work of each takes, in milliseconds.
const WORK: u32 = 100;

/// Killed when the test ends early.
struct Guest(Child);

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

// LOCK-01, LOCK-02
#[test]
#[ignore = "needs the guests of all languages: just guests"]
fn they_take_their_turns_in_order() {
    crate::watchdog();
    let served = Served::new();
    let shelf = Shelf::new(served.place.path("shelf"));
    let printed = served.place.path("printed");
    let holder = first(&served);
    let mut guests = LANGUAGES.map(|language| start(&served, language, &shelf, &printed));
    let line = until_all_wait(&served);

    holder.signal("TERM");
    for guest in &mut guests {
        assert!(guest.0.wait().unwrap().success());
    }
    drop(holder);
    let record = shelf.lines();
    let writers: Vec<&str> = record.iter().map(|line| line.writer.as_str()).collect();
    assert_eq!(writers, line, "first come, first served");
    assert!(
        record.is_sorted_by(|one, next| one.fence < next.fence),
        "{record:?}"
    );
    let turns: String = record
        .iter()
        .map(|line| {
            let (writer, fence) = (&line.writer, line.fence);
            format!(
                "{writer} summarises {CHAT} under fence {fence}\n\
                 {writer} wrote {CHAT} under fence {fence}\n"
            )
        })
        .collect();
    assert_eq!(
        fs::read_to_string(&printed).unwrap(),
        turns,
        "one at a time"
    );
}

/// Holds the key until it is stopped.
fn first(served: &Served) -> crate::child::Witlock {
    let directory = served.directory();
    let hold = ["hold", "summaries", CHAT, "--store", &directory];
    let mut holder = witlock([&hold[..], &["--", "sh", "-c", "echo held; sleep 600"]].concat());
    holder.line(&["held"]);
    holder
}

/// All print to one file, each line by one write.
fn start(served: &Served, language: &str, shelf: &Shelf, printed: &std::path::Path) -> Guest {
    let address = served.address();
    let mut run = run(language, ["--connect", &address], shelf.directory(), WORK);
    let printed = File::options()
        .create(true)
        .append(true)
        .open(printed)
        .unwrap();
    Guest(run.stdin(Stdio::null()).stdout(printed).spawn().unwrap())
}

/// The line, once all stand in it.
fn until_all_wait(served: &Served) -> Vec<String> {
    loop {
        let listed = served.run(&["ls", "--waiters", "--json"]).out();
        let entries = listed
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let waiting = entries.filter_map(|entry| {
            let label = entry["waiting"]["label"].as_str()?;
            Some(label.to_owned())
        });
        let line: Vec<String> = waiting.collect();
        if line.len() == LANGUAGES.len() {
            return line;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
