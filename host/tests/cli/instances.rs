//! Several instances on one store.

use std::time::Duration;

use witlock_programs::HOLDER;

use crate::child::{Line, Witlock, witlock};

/// Starts so many instances of the holder.
pub fn holders(instances: usize, arguments: &[&str]) -> Witlock {
    let instances = instances.to_string();
    let run = ["run", HOLDER, "--instances", &instances, "--"];
    witlock(run.iter().chain(arguments))
}

/// The fence in a holder's line.
pub fn fence(line: &Line) -> u64 {
    let (_, fence) = line.text.split_once("fence=").expect("a fence");
    fence.parse().expect("a number")
}

// LOCK-01, LOCK-02
#[test]
fn instances_hold_a_key_one_at_a_time_with_growing_fences() {
    const WORK: Duration = Duration::from_millis(300);
    let mut running = holders(4, &["hold", "chats", "7", "300"]);
    let granted: Vec<Line> = (0..4).map(|_| running.line(&["fence="])).collect();
    for pair in granted.windows(2) {
        assert!(fence(&pair[1]) > fence(&pair[0]), "{pair:?}");
        // A grant is told soon after it came, and so is the next: the time
        // between them is the work's, save for how late the first was told.
        assert!(pair[1].at - pair[0].at > WORK / 2, "{pair:?}");
    }
    running.end().expect_code(0);
}

// LOCK-01
#[test]
fn instances_with_keys_of_their_own_hold_beside_each_other() {
    let apart = "by-number hold l 0 60000 / hold l 1 60000 / hold l 2 60000";
    let apart: Vec<&str> = apart.split(' ').collect();
    let mut running = holders(3, &apart);
    for _ in 0..3 {
        running.line(&["fence="]);
    }
}

// LOCK-06, case K1
#[test]
fn the_key_of_a_guest_that_trapped_goes_to_the_next() {
    let mut running = holders(3, &["hold-and-trap", "chats", "7"]);
    let granted: Vec<Line> = (0..3).map(|_| running.line(&["fence="])).collect();
    for pair in granted.windows(2) {
        // Else the next would have waited its 10 s and got nothing.
        assert!(pair[1].at - pair[0].at < Duration::from_secs(5), "{pair:?}");
    }
    let traps = [
        "instance 0 trapped",
        "instance 1 trapped",
        "instance 2 trapped",
    ];
    running.end().expect_error(134, &traps);
}

// LOCK-06
#[test]
fn the_key_of_a_guest_that_ended_goes_on_while_others_run() {
    // The second can only get the key from the first, which doesn't release it.
    let ends = "by-number keep chats 7 / keep chats 7 / echo";
    let ends: Vec<&str> = ends.split(' ').collect();
    let mut running = holders(3, &ends);
    running.line(&["fence="]);
    running.line(&["fence="]);
    running.write("\n");
    running.end().expect_code(0);
}

#[test]
fn the_code_is_that_of_the_first_in_number_that_failed() {
    for (each, code) in [
        ("exit 0 / exit 0 / exit 0", 0),
        ("exit 0 / exit 1 / trap", 1),
        ("exit 0 / trap / exit 1", 134),
        // The first in number, however late it ended.
        ("hold-and-trap l k / exit 1 / exit 0", 134),
    ] {
        let each: Vec<&str> = ["by-number"].into_iter().chain(each.split(' ')).collect();
        holders(3, &each).end().expect_code(code);
    }
}
