//! `witlock hold` when its lease is lost, or may be: the command is dead before the
//! key goes on.
#![cfg(unix)]

use crate::child::{is_alive, signal};
use crate::served::{NO_WAIT, SHORT, STUBBORN, Served, group, look_for};

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
    let mut next = served.hold(&[], "echo held; read line || true");
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

// LOCK-08, case L6
#[test]
fn a_command_that_kills_its_guardian_at_once_is_killed() {
    let served = Served::new();
    for _ in 0..10 {
        let script = "echo group $$; kill -s KILL $PPID; exec sleep 1000";
        let mut holder = served.hold(SHORT, script);
        let leader = group(&mut holder);
        holder.end().expect_error(116, &["guardian"]);
        assert!(!is_alive(&leader));
    }
}
