//! Ctrl-C and SIGTERM, whatever the guest is at.
#![cfg(unix)]

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use witlock_programs::HOLDER;

use crate::child::{Ended, Witlock, witlock};
use crate::guests::Place;
use crate::instances::holders;

/// A person's moment.
const MOMENT: Duration = Duration::from_secs(3);

/// Sends a signal, and waits for an end with this code, within a moment.
fn stop(running: Witlock, signal: &str, code: i32) -> Ended {
    let sent = Instant::now();
    running.signal(signal);
    let ended = running.end();
    ended.expect_code(code);
    let took = ended.at - sent;
    assert!(took < MOMENT, "{took:?}");
    ended
}

fn stop_while(arguments: &[&str], ready: &str) {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let mut running = holders(2, arguments);
        running.line(&[ready]);
        let ended = stop(running, signal, code);
        let out = ended.out();
        assert!(!out.contains("lost") && !out.contains("refused"), "{out}");
    }
}

#[test]
fn stops_guests_that_spin() {
    stop_while(&["spin"], "spinning");
}

#[test]
fn stops_guests_that_sleep() {
    stop_while(&["sleep", "600000"], "sleeping");
}

#[test]
fn stops_guests_that_read_standard_input() {
    stop_while(&["echo"], "reading");
}

// LOCK-06
#[test]
fn stops_guests_that_hold_and_wait() {
    stop_while(&["hold", "chats", "7", "600000"], "fence=");
    stop_while(&["hold-and-spin", "chats", "7", "600000"], "fence=");
}

#[test]
fn stops_guests_whose_output_nobody_reads() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_witlock"));
    command.args(["run", HOLDER, "--instances", "4", "--", "flood"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("witlock starts");
    let mut unread = child.stdout.take().expect("stdout is piped");
    unread.read_exact(&mut [0]).expect("the guests write");
    let sent = Instant::now();
    let id = child.id().to_string();
    let kill = Command::new("kill").args(["-s", "INT", &id]).status();
    assert!(kill.expect("kill runs").success());
    let status = loop {
        match child.try_wait().expect("a child") {
            Some(status) => break status,
            None if sent.elapsed() > MOMENT => {
                child.kill().expect("a child");
                panic!("it does not end");
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    assert_eq!(status.code(), Some(130));
}

// LOCK-06
#[test]
fn leaves_the_directory_to_the_next() {
    let place = Place::new();
    let directory = place.text("store");
    let run = [
        "run", HOLDER, "--store", &directory, "--", "hold", "chats", "7",
    ];
    let mut first = witlock(run.iter().chain(&["600000"]));
    first.line(&["fence="]);
    stop(first, "INT", 130);
    witlock(run).end().expect_code(0);
}
