//! The guardian of a held command by itself: the test is its wrapper.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use witlock::clock::{BootClock, Clock};

use crate::child::{Witlock, is_alive, signal};

/// Longer than any test.
const LATER: u64 = 3_600_000;

/// A guardian, and the wrapper's end of their socket.
struct Guarded {
    wrapper: BufReader<UnixStream>,
    running: Witlock,
}

/// Starts the guardian of a shell's script.
fn guarded(script: &str) -> Guarded {
    guarded_command(&["sh", "-c", script])
}

fn guarded_command(command: &[&str]) -> Guarded {
    let (ours, its) = UnixStream::pair().expect("a socket");
    let patience = Some(Duration::from_secs(60));
    ours.set_read_timeout(patience).expect("a socket");
    // By a shell, so that no other child of this process gets the socket too.
    let mut shell = Command::new("sh");
    let start = r#"exec "$0" guardian --wrapper 3 -- "$@" 3<&0 </dev/null"#;
    shell.args(["-c", start, env!("CARGO_BIN_EXE_witlock")]);
    shell.args(command);
    Guarded {
        wrapper: BufReader::new(ours),
        running: Witlock::start_on(shell, Stdio::from(OwnedFd::from(its))),
    }
}

impl Guarded {
    fn order(&mut self, order: &str) {
        writeln!(self.wrapper.get_mut(), "{order}").expect("the guardian lives");
    }

    /// Tells it moments, in milliseconds from now.
    fn until(&mut self, term: u64, kill: u64) {
        let now = BootClock.now();
        let [term, kill] = [term, kill].map(|after| now + after * 1_000_000);
        self.order(&format!(r#"{{"until":{{"term":{term},"kill":{kill}}}}}"#));
    }

    /// The next that it tells; nothing once it is dead.
    fn news(&mut self) -> String {
        let mut line = String::new();
        self.wrapper.read_line(&mut line).expect("news in time");
        line.trim_end().to_owned()
    }

    #[track_caller]
    fn expect_news(&mut self, news: &str) {
        assert_eq!(self.news(), news);
    }

    /// The process group that it says to have started.
    fn started(&mut self) -> String {
        let news = self.news();
        let group = news.strip_prefix(r#"{"started":"#);
        let group = group.and_then(|rest| rest.strip_suffix('}'));
        group.unwrap_or_else(|| panic!("{news}")).to_owned()
    }
}

/// Writes "ready", and goes on whatever SIGTERM says.
const STUBBORN: &str = "trap 'echo asked' TERM; echo ready; while :; do sleep 0.05; done";

#[test]
fn the_command_runs_from_the_first_order_on_and_its_code_is_told() {
    let mut guarded = guarded("echo ready; exit 7");
    guarded.until(LATER, LATER);
    guarded.started();
    guarded.running.line(&["ready"]);
    guarded.expect_news(r#"{"ended":7}"#);
    guarded.running.end().expect_code(0);
}

#[test]
fn without_an_order_the_command_never_runs() {
    let Guarded { wrapper, running } = guarded("echo ready");
    drop(wrapper);
    let ended = running.end();
    ended.expect_code(0);
    assert_eq!(ended.out(), "");
}

// LOCK-08, case A6
#[test]
fn a_command_is_asked_to_end_and_at_its_deadline_is_killed() {
    let mut guarded = guarded(STUBBORN);
    guarded.until(1_000, 1_500);
    let group = guarded.started();
    guarded.expect_news(r#""terminating""#);
    guarded.expect_news(r#"{"ended":137}"#);
    assert!(!is_alive(&group));
    let ended = guarded.running.end();
    assert_eq!(ended.out(), "ready\nasked\n");
}

// LOCK-08, case A6
#[test]
fn a_command_that_heeds_sigterm_is_not_killed() {
    let mut guarded = guarded("trap 'exit 3' TERM; echo ready; while :; do sleep 0.05; done");
    guarded.until(1_000, LATER);
    guarded.started();
    guarded.expect_news(r#""terminating""#);
    guarded.expect_news(r#"{"ended":3}"#);
}

// LOCK-08
#[test]
fn a_new_deadline_takes_the_place_of_the_last() {
    let mut guarded = guarded("sleep 1; echo done");
    guarded.until(300, 400);
    guarded.until(LATER, LATER);
    guarded.started();
    guarded.expect_news(r#"{"ended":0}"#);
    assert_eq!(guarded.running.end().out(), "done\n");
}

// LOCK-08
#[test]
fn a_deadline_may_also_come_nearer() {
    let mut guarded = guarded(STUBBORN);
    guarded.until(LATER, LATER);
    guarded.started();
    guarded.running.line(&["ready"]);
    guarded.until(0, 0);
    guarded.expect_news(r#"{"ended":137}"#);
}

// LOCK-08, case L6
#[test]
fn with_the_wrapper_the_whole_group_dies() {
    let mut guarded = guarded("sleep 1000 & echo child $!; wait");
    guarded.until(LATER, LATER);
    let leader = guarded.started();
    let child = guarded.running.line(&["child "]).text;
    let child = child.strip_prefix("child ").expect("a child");
    assert!(is_alive(&leader) && is_alive(child));
    let Guarded { wrapper, running } = guarded;
    drop(wrapper);
    running.end().expect_code(0);
    assert!(!is_alive(&leader) && !is_alive(child));
}

// LOCK-08, case J2
#[test]
fn what_a_command_leaves_of_its_group_is_dead_before_its_end_is_told() {
    let mut guarded = guarded("sleep 1000 & echo child $!");
    guarded.until(LATER, LATER);
    guarded.started();
    let child = guarded.running.line(&["child "]).text;
    let child = child.strip_prefix("child ").expect("a child");
    guarded.expect_news(r#"{"ended":0}"#);
    assert!(!is_alive(child));
}

// LOCK-08
#[test]
fn a_stopped_command_ends_as_well() {
    let mut guarded = guarded("trap 'exit 3' TERM; echo ready; kill -s STOP $$; sleep 1000");
    guarded.until(1_000, LATER);
    guarded.started();
    let stop = rustix::process::Signal::STOP.as_raw();
    guarded.expect_news(&format!(r#"{{"stopped":{stop}}}"#));
    guarded.expect_news(r#""terminating""#);
    guarded.expect_news(r#"{"ended":3}"#);
}

// LOCK-08, case J3
#[test]
fn whoever_stops_a_service_does_not_stop_its_guardian() {
    let mut guarded = guarded("trap 'exit 3' USR1; echo ready; while :; do sleep 0.05; done");
    guarded.until(LATER, LATER);
    guarded.started();
    guarded.running.line(&["ready"]);
    for name in ["HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "ALRM"] {
        guarded.running.signal(name);
    }
    let usr1 = rustix::process::Signal::USR1.as_raw();
    guarded.order(&format!(r#"{{"signal":{usr1}}}"#));
    guarded.expect_news(r#"{"ended":3}"#);
}

// LOCK-08
#[test]
fn the_command_does_not_keep_a_dead_guardians_socket_open() {
    let mut guarded = guarded("echo ready; exec sleep 1000");
    guarded.until(LATER, LATER);
    let group = guarded.started();
    guarded.running.line(&["ready"]);
    guarded.running.signal("KILL");
    guarded.expect_news("");
    assert!(is_alive(&group));
    signal(&group, "KILL");
}

// LOCK-08, case L6
#[test]
fn a_command_that_runs_was_told_even_if_its_guardian_died_at_once() {
    for _ in 0..20 {
        let mut guarded = guarded("kill -s KILL $PPID; exec sleep 1000");
        guarded.until(LATER, LATER);
        let group = guarded.started();
        guarded.expect_news("");
        // It would not be dead if it had not run.
        assert!(is_alive(&group));
        signal(&group, "KILL");
    }
}

#[test]
fn a_command_is_not_started_after_its_deadline() {
    let mut guarded = guarded("echo ready");
    guarded.until(0, 0);
    let news = guarded.news();
    assert!(
        news.contains("unstartable") && news.contains("116"),
        "{news}"
    );
    assert_eq!(guarded.running.end().out(), "");
}

#[test]
fn a_command_that_is_not_there_is_named() {
    let mut guarded = guarded_command(&["no-such-command"]);
    guarded.until(LATER, LATER);
    guarded.started();
    let news = guarded.news();
    for part in ["unstartable", "127", "no-such-command"] {
        assert!(news.contains(part), "{news}");
    }
}
