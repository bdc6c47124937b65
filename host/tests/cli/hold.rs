//! `witlock hold`: the command's code and ours, and what it has around it.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::child::{Witlock, witlock};
use crate::guests::Place;
use crate::served::{NO_WAIT, SHORT, Served};

// LOCK-07, case J4
#[test]
fn the_code_is_the_commands() {
    let served = Served::new();
    for code in [0, 1, 7, 115, 255] {
        let script = format!("exit {code}");
        served.hold(&[], &script).end().expect_code(code);
    }
    served.hold(&[], "kill -s KILL $$").end().expect_code(137);
    served.hold(&[], "kill -s TERM $$").end().expect_code(143);
}

// LOCK-02
#[test]
fn the_command_finds_its_fence_lock_and_key() {
    let served = Served::new();
    let script = "echo $WITLOCK_FENCE; echo $WITLOCK_LOCK; echo $WITLOCK_KEY";
    let mut last = 0;
    for _ in 0..2 {
        let out = served.hold(&[], script).end().out();
        let lines: Vec<&str> = out.lines().collect();
        let [fence, "l", "k"] = lines[..] else {
            panic!("{out}");
        };
        let fence: u64 = fence.parse().expect("a number");
        assert!(fence > last, "{fence} after {last}");
        last = fence;
    }
}

#[test]
fn the_command_has_our_standard_input() {
    let served = Served::new();
    let mut running = served.hold(&[], "read line; echo \"$line and more\"");
    running.write("some\n");
    let ended = running.end();
    ended.expect_code(0);
    assert_eq!(ended.out(), "some and more\n");
}

#[test]
fn a_command_may_hold_as_well_where_the_environment_says_the_store() {
    let served = Served::new();
    let mut outer = Command::new(env!("CARGO_BIN_EXE_witlock"));
    outer.env(
        "WITLOCK_CONNECT",
        format!("unix:{}/witlock.sock", served.directory()),
    );
    outer.args(["hold", "l", "1", "--", env!("CARGO_BIN_EXE_witlock")]);
    outer.args(["hold", "l", "2", "--", "sh", "-c", "echo $WITLOCK_KEY"]);
    let ended = Witlock::start(outer).end();
    ended.expect_code(0);
    assert_eq!(ended.out(), "2\n");
}

// LOCK-01, case B8
#[test]
fn a_key_that_is_held_is_115_and_the_command_does_not_run() {
    let served = Served::new();
    let mut holder = served.hold(&[], "echo held; read line");
    holder.line(&["held"]);
    for options in [NO_WAIT, &["--wait", "100ms"], &["--wait", "0s"]] {
        let ended = served.hold(options, "echo ran").end();
        ended.expect_error(115, &["\"k\"", "held"]);
        assert_eq!(ended.out(), "");
    }
    holder.end_input();
    holder.end();
    served.hold(NO_WAIT, "echo ran").end().expect_code(0);
}

// LOCK-01
#[test]
fn a_semaphore_has_as_many_holders_as_its_limit() {
    let served = Served::new();
    let limit = ["--limit", "2", "--try"];
    let mut holders = [0, 1].map(|_| served.hold(&limit, "echo held; read line"));
    for holder in &mut holders {
        holder.line(&["held"]);
    }
    served.hold(&limit, "echo ran").end().expect_code(115);
}

// LOCK-06
#[test]
fn a_command_that_cannot_run_is_126_or_127_and_leaves_the_key() {
    let served = Served::new();
    let no_program = served.place.file("text", b"#!/no/such/shell\n");
    let plain = served.place.file("plain", b"exit 0\n");
    let runnable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&no_program, runnable).expect("ours");
    for (command, code) in [
        ("no-such-command", 127),
        ("/no/such/command", 127),
        (&*no_program, 127),
        (&*plain, 126),
        ("/", 127),
    ] {
        let ended = served.hold_command(&[], &[command]).end();
        ended.expect_error(code, &[command]);
        served.hold(NO_WAIT, "true").end().expect_code(0);
    }
}

#[test]
fn a_command_that_is_not_there_asks_no_store() {
    let place = Place::new();
    let directory = place.text("store");
    let ended = witlock([
        "hold",
        "l",
        "k",
        "--store",
        &directory,
        "--",
        "no-such-command",
    ])
    .end();
    ended.expect_error(127, &["no-such-command"]);
}

#[test]
fn a_store_that_nobody_serves_is_117_and_told_how_to_serve_it() {
    let place = Place::new();
    let directory = place.text("store");
    let serve = format!("witlock serve --store {directory}");
    let hold = || witlock(["hold", "l", "k", "--store", &directory, "--", "true"]).end();
    hold().expect_error(117, &[&serve]);
    // Nor is it served by a server that died and left its socket.
    let Served { place, server } = Served::new();
    server.signal("KILL");
    server.end();
    let directory = place.text("store");
    let ended = witlock(["hold", "l", "k", "--store", &directory, "--", "true"]).end();
    ended.expect_error(117, &[&format!("witlock serve --store {directory}")]);
}

// LOCK-12
#[test]
fn what_is_out_of_its_bounds_is_118_and_named() {
    let served = Served::new();
    let long = "x".repeat(1025);
    for (arguments, part) in [
        (&["l", "k", "--ttl", "0s"][..], "ttl"),
        (&["l", "k", "--ttl", "4294967295ms"], "ttl"),
        (&["l", "k", "--max-hold", "0s"], "max-hold"),
        (&["l", "k", "--limit", "0"], "limit"),
        (&["l", "k", "--label", "a\nb"], "label"),
        (&["", "k"], "name"),
        (&["l", ""], "key"),
        (&["l", &long], "key"),
    ] {
        let directory = served.directory();
        let hold = ["hold", "--store", &directory];
        let ended = witlock([&hold, arguments, &["--", "echo", "ran"]].concat()).end();
        ended.expect_error(118, &[part]);
        assert_eq!(ended.out(), "");
    }
}

#[test]
fn wrong_arguments_are_2() {
    for (arguments, part) in [
        (&["l", "k", "--", "true"][..], "WITLOCK_CONNECT"),
        (&["l", "k", "--store", "d"], "COMMAND"),
        (
            &[
                "l",
                "k",
                "--store",
                "d",
                "--connect",
                "unix:s",
                "--",
                "true",
            ],
            "--connect",
        ),
        (
            &["l", "k", "--store", "d", "--ttl", "30", "--", "true"],
            "30s",
        ),
        (
            &[
                "l", "k", "--store", "d", "--try", "--wait", "1s", "--", "true",
            ],
            "--try",
        ),
        (&["l", "k", "--connect", "nowhere", "--", "true"], "nowhere"),
    ] {
        let ended = witlock([&["hold"], arguments].concat()).end();
        ended.expect_error(2, &[part]);
    }
}

// LOCK-05
#[test]
fn a_lease_is_renewed_while_the_command_runs() {
    let served = Served::new();
    let ended = served.hold(SHORT, "sleep 3; echo done").end();
    ended.expect_code(0);
    assert_eq!(
        (ended.out(), ended.err()),
        ("done\n".to_owned(), String::new())
    );
}
