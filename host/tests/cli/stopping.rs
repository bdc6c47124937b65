//! A server that is stopped or killed, and the one after it.
#![cfg(unix)]

use crate::child::{is_alive, witlock};
use crate::guests::Place;
use crate::served::{NO_WAIT, SHORT, STUBBORN, Served, group, look_for, serve};

const LOOP: &str = "while read line; do echo $line; done; exit 7";

// LOCK-08
#[test]
fn a_signal_stops_it_with_0_and_takes_its_sockets_away() {
    for signal in ["TERM", "INT"] {
        let place = Place::new();
        let other = place.text("other.sock");
        let server = serve(&place, &["--listen", &format!("unix:{other}")]);
        let socket = place.path("store").join("witlock.sock");
        assert!(socket.exists() && place.path("other.sock").exists());
        server.signal(signal);
        let ended = server.end();
        ended.expect_code(0);
        assert_eq!(ended.err(), "");
        assert!(!socket.exists() && !place.path("other.sock").exists());
        let served = Served {
            server: serve(&place, &[]),
            place,
        };
        served.hold(NO_WAIT, "true").end().expect_code(0);
    }
}

// LOCK-08, cases G7 and L3
#[test]
fn a_stopped_servers_holders_keep_their_keys_at_the_next() {
    for signal in ["TERM", "INT", "KILL"] {
        keeps_its_key(signal, "30s", "500ms");
    }
}

// LOCK-05, LOCK-08, cases G7 and L3: the next server renews what the one before gave.
#[test]
fn a_stopped_servers_holder_keeps_its_key_for_longer_than_its_ttl() {
    keeps_its_key("TERM", "6s", TWICE_AND_MORE);
}

// LOCK-05, LOCK-08, cases G7 and L3
#[test]
fn a_killed_servers_holder_keeps_its_key_for_longer_than_its_ttl() {
    keeps_its_key("KILL", "6s", TWICE_AND_MORE);
}

/// A wait of more than two ttls of 6 s.
const TWICE_AND_MORE: &str = "13s";

fn keeps_its_key(signal: &str, ttl: &str, wait: &str) {
    let served = Served::new();
    let mut holder = served.hold(&["--ttl", ttl], LOOP);
    holder.write("before\n");
    holder.line(&["before"]);
    let served = served.restart_by(signal);
    let next = served.hold(&["--wait", wait], "true").end();
    next.expect_code(115);
    holder.write("after\n");
    holder.line(&["after"]);
    holder.end_input();
    holder.end().expect_code(7);
}

// LOCK-08, cases L3 and E7
#[test]
fn a_restarted_server_gives_no_key_while_a_holder_that_is_cut_off_may_have_it() {
    let served = Served::new();
    let mut holder = served.hold(&["--ttl", "2s"], STUBBORN);
    let leader = group(&mut holder);
    // Its command is its guardian's to end.
    holder.signal("STOP");
    let served = served.restart();
    let next = served.hold(SHORT, &look_for(&leader)).end();
    next.expect_code(0);
    assert_eq!(next.out(), "0 alive\n");
    holder.signal("CONT");
    holder.end().expect_error(116, &["lost"]);
}

// LOCK-08, case E7
#[test]
fn a_try_is_answered_at_once_after_a_restart() {
    let served = Served::new();
    let mut holder = served.hold(&["--ttl", "60s"], "echo held; read line");
    holder.line(&["held"]);
    holder.signal("STOP");
    let served = served.restart();
    for options in [NO_WAIT, &["--wait", "100ms"]] {
        let ended = served.hold(options, "echo ran").end();
        ended.expect_error(115, &["\"k\"", "held"]);
        assert_eq!(ended.out(), "");
    }
    let free = ["hold", "l", "free", "--try", "--store"];
    let free = witlock([&free[..], &[&served.directory(), "--", "true"]].concat());
    free.end().expect_code(0);
    holder.signal("CONT");
    holder.end_input();
    holder.end();
}

// LOCK-08
#[test]
fn a_killed_servers_holder_has_its_key_or_is_dead_before_the_key_goes_on() {
    let served = Served::new();
    let mut holder = served.hold(SHORT, STUBBORN);
    let leader = group(&mut holder);
    let served = served.restart_by("KILL");
    let next = served.hold(&["--ttl", "1s", "--wait", "4s"], &look_for(&leader));
    let next = next.end();
    match next.code() {
        // It came back in time.
        Some(115) => assert!(is_alive(&leader)),
        _ => {
            next.expect_code(0);
            assert_eq!(next.out(), "0 alive\n");
        }
    }
    holder.signal("KILL");
    holder.end();
    served.hold(SHORT, "true").end().expect_code(0);
}

// LOCK-08, case E12
#[test]
fn restarts_again_and_again_keep_no_dead_holders_key() {
    let mut served = Served::new();
    let mut holder = served.hold(SHORT, "echo held; read line");
    holder.line(&["held"]);
    holder.signal("KILL");
    holder.end();
    for signal in ["TERM", "KILL", "TERM", "KILL"] {
        served = served.restart_by(signal);
    }
    served.hold(SHORT, "true").end().expect_code(0);
}

// LOCK-06
#[test]
fn a_waiter_comes_back_to_the_next_server() {
    let served = Served::new();
    let mut holder = served.hold(&["--ttl", "15s"], "echo held; read line; exit 7");
    holder.line(&["held"]);
    let next = served.hold(SHORT, "echo next");
    served.until_waiting(1);
    let served = served.restart();
    served.until_waiting(1);
    holder.end_input();
    holder.end().expect_code(7);
    let next = next.end();
    next.expect_code(0);
    assert_eq!(next.out(), "next\n");
}

// LOCK-08
#[test]
fn without_a_next_server_the_command_ends_by_its_deadline() {
    let Served { place, server } = Served::new();
    let directory = place.text("store");
    let hold = ["hold", "l", "k", "--store", &directory];
    let script = ["--", "sh", "-c", STUBBORN];
    let mut holder = witlock([&hold, SHORT, &script].concat());
    let leader = group(&mut holder);
    server.signal("TERM");
    server.end().expect_code(0);
    holder.end().expect_error(116, &["lost", "unreachable"]);
    assert!(!is_alive(&leader));
}

// LOCK-08, case L10: said once, and waited out unless that is told not to be needed.
#[test]
fn a_damaged_journal_is_waited_out_unless_it_need_not_be() {
    let served = Served::new();
    let mut holder = served.hold(&["--ttl", "60s"], "echo held; read line");
    holder.line(&["held"]);
    holder.signal("STOP");
    let served = served.restart_damaged(&[]);
    let tried = served.hold(NO_WAIT, "true").end();
    tried.expect_code(115);
    let served = served.restart_damaged(&["--no-grace"]);
    served.hold(NO_WAIT, "true").end().expect_code(0);
    holder.signal("KILL");
    holder.end();
}

// LOCK-08: after a backup was put back.
#[test]
fn a_server_waits_as_long_as_it_is_told() {
    let served = Served::with(&["--grace=2s"]);
    served.hold(NO_WAIT, "true").end().expect_code(115);
    let next = served.hold(SHORT, "echo next").end();
    next.expect_code(0);
    assert_eq!(next.out(), "next\n");
    let hour = Served::with(&["--grace"]);
    hour.hold(NO_WAIT, "true").end().expect_code(115);
    for arguments in [
        &["--grace=2h"][..],
        &["--grace", "2s"],
        &["--grace", "--no-grace"],
    ] {
        let place = Place::new();
        let directory = place.text("store");
        let serve = ["serve", "--store", &directory];
        let ended = witlock([&serve[..], arguments].concat()).end();
        ended.expect_code(2);
    }
}
