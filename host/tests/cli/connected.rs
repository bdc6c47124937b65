//! `witlock run --connect`: guests whose keys are held across processes.
#![cfg(unix)]

use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use witlock_programs::{HOLDER, TASKS};

use crate::async_guests::converse;
use crate::child::{Witlock, witlock};
use crate::guests::{Place, command};
use crate::instances::fence;
use crate::served::{NO_WAIT, SHORT, Served, serve};

/// Runs an app on the served store: with these options, and these arguments.
fn guests(served: &Served, app: &str, options: &[&str], arguments: &[&str]) -> Witlock {
    let address = served.address();
    let run = ["run", app, "--connect", &address];
    witlock([&run, options, &["--"], arguments].concat())
}

/// Runs the holder.
fn holder(served: &Served, arguments: &[&str]) -> Witlock {
    guests(served, HOLDER, &[], arguments)
}

/// Runs so many of it, each to do what stands in its place.
fn holders(served: &Served, instances: &str, each: &str) -> Witlock {
    let each: Vec<&str> = ["by-number"].into_iter().chain(each.split(' ')).collect();
    guests(served, HOLDER, &["--instances", instances], &each)
}

/// A lock `l` of the program `tasks`, with a short ttl, and an ask for its key `k`.
const OPEN: &str = "open x6c - 5000 60000 - -";
/// One whose ttl outlasts a server's stop and start on a busy machine.
const OPEN_LONGER: &str = "open x6c - 15000 60000 - -";
const ASK: &str = "ask 0 x6b -";

/// Runs `tasks` until it has asked and been answered so.
fn tasks(served: &Served, answer: &str) -> Witlock {
    tasks_with(OPEN, served, answer)
}

fn tasks_with(open: &str, served: &Served, answer: &str) -> Witlock {
    let mut running = guests(served, TASKS, &[], &[]);
    converse(&mut running, &[(open, "opened"), (ASK, "asked")]);
    until(&mut running, "answer 0", answer);
    running
}

/// Says a line until it is answered so: a grant has its way to come.
fn until(running: &mut Witlock, line: &str, answer: &str) {
    for _ in 0..3_000 {
        running.write(&format!("{line}\n"));
        if running.line(&[""]).text.contains(answer) {
            return;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("{line:?} is never answered {answer:?}");
}

// LOCK-01, LOCK-02
#[test]
fn a_guest_waits_for_what_a_command_holds_and_a_command_for_a_guest() {
    let served = Served::new();
    let mut first = served.hold(&[], "echo fence=$WITLOCK_FENCE; read line; echo over");
    let mut fences = vec![fence(&first.line(&["fence="]))];
    let mut second = holder(&served, &["wait", "l", "k", "60000"]);
    served.until_waiting(1);
    let third = served.hold(SHORT, "echo fence=$WITLOCK_FENCE");
    served.until_waiting(2);
    // Nobody releases the key before its turn.
    first.end_input();
    first.end().expect_code(0);
    fences.push(fence(&second.line(&["fence="])));
    second.end().expect_code(0);
    let third = third.end();
    third.expect_code(0);
    fences.push(fence(&third.lines[0]));
    assert!(fences.is_sorted_by(|one, next| one < next), "{fences:?}");
}

// LOCK-01
#[test]
fn guests_of_both_wasis_and_commands_take_turns_in_order() {
    let served = Served::new();
    let mut first = served.hold(&[], "echo held; read line");
    first.line(&["held"]);
    let mut second = tasks(&served, "waiting");
    served.until_waiting(1);
    let mut third = holder(&served, &["wait", "l", "k", "60000"]);
    served.until_waiting(2);
    let fourth = served.hold(SHORT, "echo fence=$WITLOCK_FENCE");
    served.until_waiting(3);
    first.end_input();
    first.end().expect_code(1);
    until(&mut second, "answer 0", "held");
    // It is renewed: longer than its ttl it is nobody else's.
    sleep(Duration::from_secs(6));
    converse(&mut second, &[("ended 0", "lasts")]);
    served.until_waiting(2);
    converse(&mut second, &[("release 0", "released")]);
    let of_third = fence(&third.line(&["fence="]));
    third.end().expect_code(0);
    let fourth = fourth.end();
    fourth.expect_code(0);
    assert!(fence(&fourth.lines[0]) > of_third);
    second.end_input();
    second.end().expect_code(0);
}

// case L9
#[test]
fn instances_on_one_connection_are_holders_of_their_own() {
    let served = Served::new();
    const WORK: Duration = Duration::from_millis(500);
    let mut running = holders(&served, "2", "hold l k 500 / hold l k 500");
    let [first, second] = [0, 1].map(|_| running.line(&["fence="]));
    assert!(fence(&second) > fence(&first));
    // Told soon after they came, save for how late the first was told.
    assert!(second.at - first.at > WORK / 2);
    running.end().expect_code(0);
}

/// Waits until a held key, or what else a listing has, is listed.
fn until_listed(served: &Served, part: &str) {
    for _ in 0..1_000 {
        if served.run(&["ls"]).out().contains(part) {
            return;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("{part} is never listed");
}

// LOCK-06, cases K1 and L9
#[test]
fn an_instance_that_traps_lets_its_keys_go_and_leaves_the_others_theirs() {
    let served = Served::new();
    let mut running = holders(&served, "2", "hold-and-trap l k / hold l other 60000");
    running.line(&["instance 0 trapped"]);
    until_listed(&served, "\"other\"");
    // By its ttl it would be free after the half minute that it is by default.
    let next = served.hold(&["--wait", "20s"], "echo next").end();
    next.expect_code(0);
    let directory = served.directory();
    let other = [
        "hold", "l", "other", "--store", &directory, "--try", "--", "true",
    ];
    witlock(other).end().expect_code(115);
    running.signal("INT");
    running.end().expect_code(130);
    witlock(other).end().expect_code(0);
}

// LOCK-06
#[test]
fn a_guest_that_ends_lets_its_keys_go() {
    let served = Served::new();
    let kept = holder(&served, &["keep", "l", "k"]).end();
    kept.expect_code(0);
    served.hold(NO_WAIT, "true").end().expect_code(0);
    let mut kept = tasks(&served, "held");
    kept.end_input();
    kept.end().expect_code(0);
    served.hold(NO_WAIT, "true").end().expect_code(0);
}

// LOCK-06
#[test]
fn a_signal_lets_the_keys_go_at_once() {
    let served = Served::new();
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        for what in ["hold l k 600000", "hold-and-spin l k 600000"] {
            let what: Vec<&str> = what.split(' ').collect();
            let mut running = holder(&served, &what);
            running.line(&["fence="]);
            running.signal(signal);
            running.end().expect_code(code);
            served.hold(NO_WAIT, "true").end().expect_code(0);
        }
    }
    let running = tasks(&served, "held");
    running.signal("INT");
    running.end().expect_code(130);
    served.hold(NO_WAIT, "true").end().expect_code(0);
}

// LOCK-09
#[test]
fn a_signal_takes_a_waiting_guest_out_of_line() {
    let served = Served::new();
    let mut first = served.hold(&[], "echo held; read line");
    first.line(&["held"]);
    let running = holder(&served, &["wait", "l", "k", "60000"]);
    served.until_waiting(1);
    running.signal("INT");
    running.end().expect_code(130);
    served.until_waiting(0);
}

// LOCK-05, case E2
#[test]
fn the_key_of_a_killed_run_goes_on_by_its_ttl() {
    let served = Served::new();
    let running = tasks(&served, "held");
    running.signal("KILL");
    running.end();
    served.hold(SHORT, "true").end().expect_code(0);
}

// LOCK-08, cases G7 and L3
#[test]
fn a_guests_lease_outlasts_its_server() {
    let served = Served::new();
    let mut running = tasks_with(OPEN_LONGER, &served, "held");
    let served = served.restart();
    converse(&mut running, &[("ended 0", "lasts")]);
    served.hold(NO_WAIT, "true").end().expect_code(115);
    converse(&mut running, &[("release 0", "released")]);
    // It goes on with the next server.
    converse(&mut running, &[(ASK, "asked")]);
    until(&mut running, "answer 1", "held");
    running.end_input();
    running.end().expect_code(0);
}

// LOCK-07, LOCK-08, case J8
#[test]
fn without_a_server_a_guests_lease_ends_unreachable_by_its_ttl() {
    for signal in ["TERM", "KILL"] {
        let served = Served::new();
        let mut running = tasks(&served, "held");
        converse(&mut running, &[("watch 0", "watching")]);
        let Served { place, server } = served;
        server.signal(signal);
        server.end();
        until(&mut running, "ended 0", "unreachable");
        until(&mut running, "watched 0", "unreachable");
        // A server that comes too late has the key for others, and then for it.
        let server = serve(&place, &[]);
        let served = Served { place, server };
        served.hold(SHORT, "true").end().expect_code(0);
        converse(&mut running, &[(ASK, "asked")]);
        until(&mut running, "answer 1", "held");
        running.end_input();
        running.end().expect_code(0);
    }
}

// LOCK-06
#[test]
fn a_guest_is_told_that_its_lease_was_broken() {
    let served = Served::new();
    let mut running = holder(&served, &["hold", "l", "k", "600000"]);
    running.line(&["fence="]);
    let listed = served.run(&["ls"]).out();
    assert!(listed.contains("holder 0"), "{listed}");
    let lease = listed.split_whitespace().next().expect("a lease");
    served.run(&["break", lease]).expect_code(0);
    running.line(&["lost=broken"]);
    running.end().expect_code(1);
}

#[test]
fn a_store_that_nobody_serves_is_117_and_told_how_to_serve_it() {
    let place = Place::new();
    let app = place.component(&command("i32.const 0"));
    let directory = place.text("store");
    let in_directory = format!("unix:{directory}/witlock.sock");
    let elsewhere = format!("unix:{}", place.text("w.sock"));
    for (address, serve) in [
        (
            &*in_directory,
            format!("`witlock serve --store {directory}`"),
        ),
        (
            &*elsewhere,
            format!("`witlock serve --store DIR --listen {elsewhere}`"),
        ),
        (
            "tcp:127.0.0.1:1",
            "`witlock serve --store DIR --listen tcp:127.0.0.1:1`".into(),
        ),
    ] {
        let ended = witlock(["run", &app, "--connect", address]).end();
        ended.expect_error(117, &[address, &serve]);
    }
    let Served { place, server } = Served::new();
    server.signal("KILL");
    server.end();
    let address = format!("unix:{}/witlock.sock", place.text("store"));
    let ended = witlock(["run", HOLDER, "--connect", &address, "--", "args"]).end();
    ended.expect_error(117, &[&address, "witlock serve --store"]);
    assert_eq!(ended.out(), "");
}

#[test]
fn what_is_no_address_or_one_too_many_is_2() {
    let place = Place::new();
    let app = place.component(&command("i32.const 0"));
    let ended = witlock(["run", &app, "--connect", "nowhere"]).end();
    ended.expect_error(2, &["\"nowhere\"", "unix:PATH"]);
    let both = ["run", &app, "--connect", "unix:w.sock", "--store", "d"];
    witlock(both)
        .end()
        .expect_error(2, &["--connect", "--store"]);
}

// case J6
#[test]
fn a_server_that_refuses_is_118_and_no_guest_runs() {
    let mut served = Served::with(&["--listen", "tcp:127.0.0.1:0"]);
    let address = served.server.line(&["listening at tcp:"]).text;
    let address = address.strip_prefix("listening at ").expect("an address");
    let run = ["run", HOLDER, "--connect", address, "--", "hold", "l", "k"];
    let ended = witlock(run).end();
    ended.expect_error(118, &[address, "refuses", "token"]);
    assert_eq!(ended.out(), "");
    let mut known = Command::new(env!("CARGO_BIN_EXE_witlock"));
    known.env("WITLOCK_TOKEN_FILE", served.directory() + "/token");
    known.args(run);
    Witlock::start(known).end().expect_code(0);
}
