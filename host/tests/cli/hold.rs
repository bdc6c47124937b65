//! `witlock hold`: the command's code and ours, and what it has around it.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::child::{Witlock, is_alive, signal, witlock};
use crate::guests::Place;
use crate::served::{SHORT, STUBBORN, Served, group, has, look_for};

const NO_WAIT: &[&str] = &["--try"];

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

// LOCK-06, case J3
#[test]
fn signals_are_given_on_and_the_key_is_free_only_after_the_command() {
    for (name, number) in [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("TERM", 15),
        ("USR1", 10),
    ] {
        let served = Served::new();
        let script = format!("trap 'sleep 0.3; exit {number}' {name}; {LOOP}");
        let mut holder = served.hold(SHORT, &script);
        let leader = group(&mut holder);
        let next = served.hold(SHORT, &look_for(&leader));
        served.until_waiting(1);
        holder.signal(name);
        holder.end().expect_code(number);
        let next = next.end();
        next.expect_code(0);
        assert_eq!(next.out(), "0 alive\n");
    }
}

const LOOP: &str = "echo group $$; while :; do sleep 0.05; done";

#[test]
fn ignored_signals_stay_ignored() {
    let served = Served::new();
    let mut shell = Command::new("sh");
    let script = r#"trap '' HUP; exec "$0" "$@""#;
    shell.args(["-c", script, env!("CARGO_BIN_EXE_witlock")]);
    shell.args(["hold", "l", "k", "--store", &served.directory(), "--"]);
    shell.args([
        "sh",
        "-c",
        "echo group $$; read line; kill -s HUP $$; echo lives",
    ]);
    let mut running = Witlock::start(shell);
    group(&mut running);
    running.signal("HUP");
    running.write("\n");
    running.line(&["lives"]);
    running.end().expect_code(0);
}

// LOCK-09
#[test]
fn a_signal_ends_the_wait_and_leaves_the_line() {
    let served = Served::new();
    let mut holder = served.hold(&[], "echo held; read line");
    holder.line(&["held"]);
    for (name, code) in [("HUP", 129), ("INT", 130), ("QUIT", 131), ("TERM", 143)] {
        let waiting = served.hold(SHORT, "echo ran");
        served.until_waiting(1);
        waiting.signal(name);
        let ended = waiting.end();
        ended.expect_code(code);
        assert_eq!(ended.out(), "");
        let listed = served.run(&["ls", "--waiters"]);
        assert!(!listed.out().contains("in line"), "{}", listed.out());
    }
}

// LOCK-03
#[test]
fn at_the_end_of_max_hold_the_command_is_asked_to_end_and_then_killed() {
    let served = Served::new();
    let max_hold = ["--max-hold", "1s"];
    let ended = served.hold(&max_hold, "sleep 1000").end();
    ended.expect_error(143, &["SIGTERM"]);
    let mut holder = served.hold(&max_hold, STUBBORN);
    let leader = group(&mut holder);
    let next = served.hold(SHORT, &look_for(&leader));
    holder.end().expect_error(116, &["lost", "revoked"]);
    assert_eq!(next.end().out(), "0 alive\n");
}

// LOCK-07, cases J2 and J5
#[test]
fn a_broken_lease_is_lost_and_nothing_is_left_of_the_group() {
    let served = Served::new();
    let script = "trap '' TERM; sleep 1000 & echo child $!; echo group $$; wait; sleep 1000";
    let mut holder = served.hold(&["--label", "nightly"], script);
    let child = holder.line(&["child "]).text;
    let leader = group(&mut holder);
    let listed = served.run(&["ls"]).out();
    assert!(listed.contains("nightly"), "{listed}");
    let lease = listed
        .split_whitespace()
        .next()
        .expect("a lease")
        .to_owned();
    served.run(&["break", &lease]).expect_code(0);
    holder
        .end()
        .expect_error(116, &["lost", "broken", "SIGTERM"]);
    assert!(!is_alive(&leader) && !is_alive(&child["child ".len()..]));
    // The name of a lease that is over breaks nobody's.
    let mut next = served.hold(&[], "echo held; read line");
    next.line(&["held"]);
    served
        .run(&["break", &lease])
        .expect_error(116, &[&lease, "not held"]);
    next.end_input();
    next.end().expect_code(0);
}

// LOCK-07
#[test]
fn a_command_that_succeeds_under_a_broken_lease_did_not() {
    let served = Served::new();
    let mut holder = served.hold(
        &[],
        "trap 'exit 0' TERM; echo held; while :; do sleep 0.05; done",
    );
    holder.line(&["held"]);
    let listed = served.run(&["ls"]).out();
    let lease = listed.split_whitespace().next().expect("a lease");
    served.run(&["break", lease]).expect_code(0);
    holder.end().expect_error(116, &["broken"]);
}

// LOCK-08, case L3
#[test]
fn a_command_does_not_notice_a_restarted_server() {
    let served = Served::new();
    let mut holder = served.hold(&["--ttl", "10s"], "echo held; read line; exit 7");
    holder.line(&["held"]);
    let served = served.restart();
    let ended = served.hold(NO_WAIT, "echo ran").end();
    ended.expect_code(115);
    holder.write("\n");
    holder.end().expect_code(7);
    served.hold(SHORT, "echo ran").end().expect_code(0);
}

// LOCK-08, case A6
#[test]
fn a_command_that_ignores_sigterm_is_dead_before_the_store_gives_its_key_on() {
    let served = Served::new();
    let mut holder = served.hold(SHORT, STUBBORN);
    let leader = group(&mut holder);
    let next = served.hold(SHORT, &look_for(&leader));
    served.until_waiting(1);
    served.server.signal("STOP");
    holder.line(&["SIGTERM"]);
    holder.end().expect_error(116, &["lost", "unreachable"]);
    assert!(!is_alive(&leader));
    served.server.signal("CONT");
    let next = next.end();
    next.expect_code(0);
    assert_eq!(next.out(), "0 alive\n");
}

// LOCK-08, case L6
#[test]
fn the_command_of_a_killed_wrapper_is_dead_before_the_store_gives_its_key_on() {
    let served = Served::new();
    let mut holder = served.hold(SHORT, &format!("sleep 1000 & {STUBBORN}"));
    let leader = group(&mut holder);
    let next = served.hold(SHORT, &look_for(&leader));
    served.until_waiting(1);
    holder.signal("KILL");
    // Nobody has its outputs any more.
    holder.end();
    assert!(!is_alive(&leader));
    let next = next.end();
    next.expect_code(0);
    assert_eq!(next.out(), "0 alive\n");
}

// LOCK-08, case L6
#[test]
fn the_command_of_a_stopped_wrapper_is_dead_before_the_store_gives_its_key_on() {
    let served = Served::new();
    let mut holder = served.hold(SHORT, STUBBORN);
    let leader = group(&mut holder);
    let next = served.hold(SHORT, &look_for(&leader));
    served.until_waiting(1);
    holder.signal("STOP");
    let next = next.end();
    next.expect_code(0);
    assert_eq!(next.out(), "0 alive\n");
    holder.signal("CONT");
    holder.end().expect_error(116, &["lost"]);
}

// LOCK-08, case L6
#[test]
fn without_its_guardian_a_command_is_killed() {
    let served = Served::new();
    let mut holder = served.hold(SHORT, &format!("echo guardian $PPID; {STUBBORN}"));
    let guardian = holder.line(&["guardian "]).text;
    let leader = group(&mut holder);
    signal(&guardian["guardian ".len()..], "KILL");
    holder.end().expect_error(116, &["guardian"]);
    assert!(!is_alive(&leader));
    served.hold(NO_WAIT, "true").end().expect_code(0);
}

/// A terminal is made by script(1), of util-linux.
#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_the_command_has_it_and_who_started_it_has_it_back() {
    if !has("script") {
        return eprintln!("no script(1) to make a terminal");
    }
    let served = Served::new();
    let hold = format!(
        "{} hold l k --store {} --",
        env!("CARGO_BIN_EXE_witlock"),
        served.directory()
    );
    let inner = "read line </dev/tty; echo inner $line";
    let script = format!("{hold} sh -c '{inner}'; read line </dev/tty; echo outer $line");
    let mut terminal = Command::new("script");
    terminal.args(["-q", "-e", "-c", &script, "/dev/null"]);
    let mut running = Witlock::start(terminal);
    running.write("one\n");
    running.line(&["inner one"]);
    running.write("two\n");
    running.line(&["outer two"]);
    running.end().expect_code(0);
}
