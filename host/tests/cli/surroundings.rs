//! What a guest finds around it: its arguments, its environment, standard input,
//! and the files that it was given, no others.

use std::fs;
use std::path::Path;
use std::process::Command;

use witlock_programs::HOLDER;

use crate::child::{Witlock, witlock};
use crate::guests::Place;

#[test]
fn arguments_come_after_the_apps_name() {
    let ended = witlock(["run", HOLDER, "--", "args", "--store", "a b", ""]).end();
    ended.expect_code(0);
    assert_eq!(ended.out(), "holder.wasm\nargs\n--store\na b\n\n");
}

#[test]
fn arguments_need_the_dashes() {
    let ended = witlock(["run", HOLDER, "args"]).end();
    ended.expect_error(2, &["'args'", "[-- <ARGS>...]"]);
}

#[test]
fn the_environment_is_what_was_given_and_the_number() {
    let given = ["--env", "LEVEL=debug", "--env", "EQUATION=1+1=2"];
    let ended = witlock([&["run", HOLDER], &given[..], &["--", "env"]].concat()).end();
    ended.expect_code(0);
    assert_eq!(
        ended.out(),
        "EQUATION=1+1=2\nLEVEL=debug\nWITLOCK_INSTANCE=0\n"
    );
}

#[test]
fn every_instance_is_told_its_number() {
    let ended = witlock(["run", HOLDER, "--instances", "3", "--", "env"]).end();
    ended.expect_code(0);
    let out = ended.out();
    let mut numbers: Vec<&str> = out.lines().collect();
    numbers.sort();
    let expected = [
        "WITLOCK_INSTANCE=0",
        "WITLOCK_INSTANCE=1",
        "WITLOCK_INSTANCE=2",
    ];
    assert_eq!(numbers, expected);
}

#[test]
fn standard_input_is_the_guests() {
    let mut running = witlock(["run", HOLDER, "--", "echo"]);
    running.line(&["reading"]);
    running.write("a line\n");
    let ended = running.end();
    ended.expect_code(0);
    assert!(ended.out().ends_with("\na line\n"), "{}", ended.out());
}

#[test]
fn a_given_directory_is_read_and_written() {
    let place = Place::new();
    let directory = format!("{}::/data", place.text(""));
    let run = |guest: &[&str]| {
        witlock([&["run", HOLDER, "--dir", &directory, "--"], guest].concat()).end()
    };
    run(&["write", "/data/note", "seen"]).expect_code(0);
    let written = fs::read_to_string(place.path("note"));
    assert_eq!(written.expect("the guest's file"), "seen");
    let shown = run(&["show", "/data/note"]);
    shown.expect_code(0);
    assert_eq!(shown.out(), "seen\n");
}

#[test]
fn a_directory_without_another_name_keeps_its_own() {
    let place = Place::new();
    let directory = place.text("");
    let file = place.file("note", b"seen");
    let ended = witlock(["run", HOLDER, "--dir", &directory, "--", "show", &file]).end();
    ended.expect_code(0);
    assert_eq!(ended.out(), "seen\n");
}

#[test]
fn there_are_no_other_files() {
    let place = Place::new();
    let secret = place.file("secret", b"not for guests");
    let inner = place.path("inner");
    fs::create_dir(&inner).expect("a directory");
    let directory = format!("{}::/data", place.text("inner"));
    for (given, file) in [
        (&[][..], &*secret),
        (&["--dir", &directory], &secret),
        (&["--dir", &directory], "/data/../secret"),
    ] {
        let run = [&["run", HOLDER], given, &["--", "show", file]].concat();
        let ended = witlock(run).end();
        ended.expect_code(1);
        assert!(ended.out().contains("reading "), "{}", ended.out());
        assert!(!ended.out().contains("not for guests"), "{}", ended.out());
    }
    let written = place.text("written");
    let ended = witlock(["run", HOLDER, "--", "write", &written, "seen"]).end();
    ended.expect_code(1);
    assert!(!place.path("written").exists());
}

/// Runs a guest of a user whose caches are here.
fn run_with_caches_in(directory: &Path) -> Witlock {
    let mut run = Command::new(env!("CARGO_BIN_EXE_witlock"));
    run.args(["run", HOLDER, "--store"]);
    run.arg(directory.with_file_name("store"));
    run.args(["--", "hold", "lock", "key"]);
    run.env("HOME", directory).env("XDG_CACHE_HOME", directory);
    Witlock::start(run)
}

#[test]
fn what_was_compiled_is_kept_for_the_next_run() {
    let place = Place::new();
    let caches = place.path("caches");
    fs::create_dir(&caches).expect("a directory");
    let kept = || {
        let mut find = Command::new("find");
        find.arg(&caches).args(["-type", "f", "-size", "+50k"]);
        let found = find.output().expect("find runs");
        String::from_utf8_lossy(&found.stdout).lines().count()
    };
    assert_eq!(kept(), 0);
    run_with_caches_in(&caches).end().expect_code(0);
    assert_eq!(kept(), 1);
    run_with_caches_in(&caches).end().expect_code(0);
    assert_eq!(kept(), 1);
}

#[test]
fn without_a_place_for_what_was_compiled_it_runs_and_says_nothing() {
    let place = Place::new();
    // A file, in which nothing can be kept.
    let file = place.file("caches", b"");
    let ended = run_with_caches_in(Path::new(&file)).end();
    ended.expect_code(0);
    assert_eq!(ended.err(), "");
}
