//! Signals and terminals of a held command.
#![cfg(unix)]

use std::process::Command;

use crate::child::Witlock;
use crate::served::{SHORT, Served, group, has, look_for};

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

/// A `witlock hold` of this script at a terminal, which script(1) of util-linux makes,
/// in a shell that does something `after` it.
#[cfg(target_os = "linux")]
fn at_a_terminal(served: &Served, held: &str, after: &str) -> Witlock {
    let hold = format!(
        "{} hold l k --store {} --",
        env!("CARGO_BIN_EXE_witlock"),
        served.directory()
    );
    let script = format!("{hold} sh -c '{held}'{after}");
    let mut terminal = Command::new("script");
    terminal.args(["-q", "-e", "-c", &script, "/dev/null"]);
    Witlock::start(terminal)
}

#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_the_command_has_it_and_who_started_it_has_it_back() {
    if !has("script") {
        return eprintln!("no script(1) to make a terminal");
    }
    let served = Served::new();
    let held = "read line </dev/tty; echo inner $line";
    let after = "; read line </dev/tty; echo outer $line";
    let mut running = at_a_terminal(&served, held, after);
    running.write("one\n");
    running.line(&["inner one"]);
    running.write("two\n");
    running.line(&["outer two"]);
    running.end().expect_code(0);
}

/// As above, but the command uses the terminal before it can be in its foreground.
#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_a_command_that_reads_too_early_is_put_in_front() {
    if !has("script") {
        return eprintln!("no script(1) to make a terminal");
    }
    let served = Served::new();
    // It stands as if it had been stopped for that, again and again.
    let stop = "for i in 1 2 3; do kill -s TTIN $$; done";
    let held = format!("{stop}; read line </dev/tty; echo inner $line");
    let mut running = at_a_terminal(&served, &held, "");
    running.write("one\n");
    running.line(&["inner one"]);
    running.end().expect_code(0);
}
