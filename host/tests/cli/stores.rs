//! The store's directory, and the store without one.

use witlock_programs::HOLDER;

use crate::child::{Witlock, witlock};
use crate::guests::Place;
use crate::instances::fence;

/// Starts a holder on the store in a directory.
fn holder(directory: &str, arguments: &[&str]) -> Witlock {
    let run = ["run", HOLDER, "--store", directory, "--"];
    witlock(run.iter().chain(arguments))
}

// LOCK-02
#[test]
fn fences_grow_over_runs_on_one_directory() {
    let place = Place::new();
    let directory = place.text("store");
    let mut largest = 0;
    for _ in 0..3 {
        let mut running = holder(&directory, &["hold", "chats", "7"]);
        let given = fence(&running.line(&["fence="]));
        assert!(given > largest, "{given} after {largest}");
        largest = given;
        let ended = running.end();
        ended.expect_code(0);
        assert_eq!(ended.err(), "");
    }
}

// LOCK-02
#[test]
fn fences_grow_over_a_killed_run() {
    let place = Place::new();
    let directory = place.text("store");
    let mut killed = holder(&directory, &["hold", "chats", "7", "60000"]);
    let given = fence(&killed.line(&["fence="]));
    drop(killed);
    let mut running = holder(&directory, &["hold", "chats", "7"]);
    assert!(fence(&running.line(&["fence="])) > given);
    running.end().expect_code(0);
}

// NOT-03
#[test]
fn a_second_process_is_told_who_holds_the_directory_and_what_to_do() {
    let place = Place::new();
    let directory = place.text("store");
    let mut first = holder(&directory, &["hold", "chats", "7", "60000"]);
    first.line(&["fence="]);
    let second = holder(&directory, &["hold", "chats", "7"]).end();
    second.expect_error(1, &[&directory, "held by another process", "--instances"]);
    assert_eq!(second.out(), "");
    // The first is not disturbed, and leaves the directory free.
    drop(first);
    holder(&directory, &["hold", "chats", "7"])
        .end()
        .expect_code(0);
}

// LOCK-02
#[test]
fn without_a_directory_there_is_a_warning_about_fences() {
    let ended = witlock(["run", HOLDER, "--", "hold", "chats", "7"]).end();
    ended.expect_error(0, &["witlock: ", "in memory", "--store", "fences"]);
    assert_eq!(ended.err().lines().count(), 1, "{}", ended.err());
}

#[test]
fn what_cannot_run_makes_no_store() {
    let place = Place::new();
    let directory = place.text("store");
    let app = place.component("(component)");
    witlock(["run", &app, "--store", &directory])
        .end()
        .expect_code(1);
    assert!(!place.path("store").exists());
}

#[test]
fn a_refusal_is_the_guests_to_tell() {
    let ended = witlock(["run", HOLDER, "--", "hold", "", "7"]).end();
    ended.expect_code(1);
    assert!(ended.out().contains("refused=invalid"), "{}", ended.out());
}
