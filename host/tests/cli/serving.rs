//! `witlock serve` of what can't be served: what is wrong is named, and nothing is
//! lost.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::Command;

use crate::child::{Ended, Witlock, witlock};
use crate::guests::Place;
use crate::served::{NO_WAIT, Served, serve};

/// Tries to serve a place's store.
fn try_serve(place: &Place, arguments: &[&str]) -> Ended {
    let directory = place.text("store");
    witlock([&["serve", "--store", &directory], arguments].concat()).end()
}

/// Checks that the place's store is not served, and can be.
fn expect_free(place: Place) {
    assert!(!place.path("store").join("witlock.sock").exists());
    let server = serve(&place, &[]);
    let served = Served { place, server };
    served.hold(NO_WAIT, "true").end().expect_code(0);
}

// LOCK-12
#[test]
fn an_address_that_is_none_is_2_and_told_how_to_write_one() {
    let place = Place::new();
    for (address, part) in [
        ("", "unix:PATH"),
        ("nowhere", "unix:PATH, tcp:HOST:PORT or tls:HOST:PORT"),
        ("/run/w.sock", "unix:PATH"),
        ("unix:", "no path"),
        ("tcp:localhost", "HOST:PORT"),
        ("tcp:127.0.0.1:70000", "HOST:PORT"),
    ] {
        let ended = try_serve(&place, &["--listen", address]);
        ended.expect_error(2, &[&format!("{address:?}"), part]);
    }
    expect_free(place);
}

#[test]
fn tcp_beyond_this_machine_is_2_and_told_of_tls() {
    let place = Place::new();
    for address in ["tcp:0.0.0.0:0", "tcp:[::]:0"] {
        let ended = try_serve(&place, &["--listen", address]);
        ended.expect_error(2, &[address, "other machines", "tls:HOST:PORT"]);
    }
    expect_free(place);
}

#[test]
fn tls_without_a_certificate_is_2_and_told_the_options() {
    let place = Place::new();
    let file = place.file("some.pem", b"");
    for arguments in [&[][..], &["--tls-chain", &file], &["--tls-key", &file]] {
        let tls = ["--listen", "tls:127.0.0.1:0"];
        let ended = try_serve(&place, &[&tls, arguments].concat());
        ended.expect_error(2, &["--tls-chain", "--tls-key"]);
    }
    expect_free(place);
}

#[test]
fn a_certificate_that_is_none_is_1() {
    let place = Place::new();
    let file = place.file("some.pem", b"no certificate");
    let missing = place.text("missing.pem");
    for (chain, part) in [(&file, "sealed"), (&missing, &*missing)] {
        let tls = ["--listen", "tls:127.0.0.1:0", "--tls-key", &file];
        let ended = try_serve(&place, &[&tls[..], &["--tls-chain", chain]].concat());
        ended.expect_error(1, &[part]);
    }
    expect_free(place);
}

#[test]
fn an_address_in_use_is_1_and_its_server_goes_on() {
    let mut there = Served::with(&["--listen", "tcp:127.0.0.1:0"]);
    let tcp = there.server.line(&["listening at tcp:"]).text;
    let tcp = tcp.strip_prefix("listening at ").expect("an address");
    let place = Place::new();
    for address in [tcp, &there.address()] {
        let ended = try_serve(&place, &["--listen", address]);
        ended.expect_error(1, &[address, "in use"]);
    }
    there.hold(NO_WAIT, "true").end().expect_code(0);
    expect_free(place);
}

#[test]
fn a_file_that_is_no_socket_is_left_as_it_is() {
    let place = Place::new();
    let file = place.file("notes", b"to be kept");
    let address = format!("unix:{file}");
    let ended = try_serve(&place, &["--listen", &address]);
    ended.expect_error(1, &[&address, "no socket"]);
    assert_eq!(fs::read(&file).expect("a file"), b"to be kept");
    fs::create_dir(place.path("directory")).expect("writable");
    let address = format!("unix:{}", place.text("directory"));
    let ended = try_serve(&place, &["--listen", &address]);
    ended.expect_error(1, &[&address, "no socket"]);
    assert!(place.path("directory").is_dir());
    expect_free(place);
}

#[test]
fn a_path_in_no_directory_is_1() {
    let place = Place::new();
    let address = format!("unix:{}", place.text("missing/w.sock"));
    let ended = try_serve(&place, &["--listen", &address]);
    ended.expect_error(1, &[&address]);
    expect_free(place);
}

#[test]
fn a_socket_that_a_killed_server_left_is_replaced() {
    let Served { place, server } = Served::new();
    server.signal("KILL");
    server.end();
    assert!(is_socket(&place.path("store").join("witlock.sock")));
    let server = serve(&place, &[]);
    let served = Served { place, server };
    served.hold(NO_WAIT, "true").end().expect_code(0);
}

fn is_socket(path: &Path) -> bool {
    let found = path.symlink_metadata();
    found.is_ok_and(|found| found.file_type().is_socket())
}

/// As long as the name of a directory of `Place` may be with others before it, and
/// too long for what holds a socket.
const LONG: &str = "a-directory-that-is-deep-down-and-has-a-name-of-fifty-and-more-bytes";

// LOCK-12
#[test]
fn a_directory_whose_socket_would_have_too_long_a_path_is_2_and_a_relative_path_does() {
    let place = Place::new();
    let deep = place.path(LONG).join(LONG);
    fs::create_dir_all(&deep).expect("writable");
    let store = deep.join("store");
    let store = store.to_str().expect("UTF-8");
    let longest = if cfg!(target_os = "linux") {
        "107"
    } else {
        "103"
    };
    for command in [
        &["serve"][..],
        &["ls"],
        &["break", "1-1"],
        &["hold", "l", "k"],
    ] {
        let after: &[&str] = if command[0] == "hold" {
            &["--", "true"]
        } else {
            &[]
        };
        let ended = witlock([command, &["--store", store], after].concat()).end();
        ended.expect_error(2, &[longest, "relative path", store]);
    }
    let nearby = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_witlock"));
        command.args(arguments).current_dir(&deep);
        Witlock::start(command)
    };
    let mut server = nearby(&["serve", "--store", "store"]);
    server.line(&["listening at unix:store/witlock.sock"]);
    let hold = ["hold", "l", "k", "--store", "store", "--", "echo", "held"];
    let ended = nearby(&hold).end();
    ended.expect_code(0);
    assert_eq!(ended.out(), "held\n");
}

// NOT-03
#[test]
fn a_store_that_another_process_holds_is_1_and_its_server_goes_on() {
    let there = Served::new();
    let mut holder = there.hold(&[], "echo held; read line; exit 7");
    holder.line(&["held"]);
    let ended = try_serve(&there.place, &[]);
    ended.expect_error(1, &[&there.directory(), "held by another process"]);
    there.hold(NO_WAIT, "true").end().expect_code(115);
    holder.end_input();
    holder.end().expect_code(7);
    there.hold(NO_WAIT, "true").end().expect_code(0);
}

#[test]
fn a_store_that_cannot_be_a_directory_is_1() {
    let place = Place::new();
    let file = place.file("store", b"to be kept");
    try_serve(&place, &[]).expect_error(1, &[&file, "cannot be opened"]);
    assert_eq!(fs::read(&file).expect("a file"), b"to be kept");
}

#[test]
fn without_a_store_it_is_2() {
    witlock(["serve"]).end().expect_error(2, &["--store"]);
}

// LOCK-12
#[test]
fn a_token_file_that_has_none_is_2_and_named() {
    let place = Place::new();
    let empty = place.file("empty", b"\n");
    let long = place.file("long", "x".repeat(1025).as_bytes());
    let binary = place.file("binary", b"\xff\xfe");
    let missing = place.text("missing");
    for (file, part) in [
        (&missing, "cannot be read"),
        (&place.text(""), "cannot be read"),
        (&binary, "cannot be read"),
        (&empty, "0 bytes, not 1 to 1024"),
        (&long, "1025 bytes, not 1 to 1024"),
    ] {
        for option in ["--token-file", "--admin-token-file"] {
            let tcp = ["--listen", "tcp:127.0.0.1:0", option, file];
            let ended = try_serve(&place, &tcp);
            ended.expect_error(2, &[file, part]);
        }
    }
    expect_free(place);
}

#[test]
fn a_token_of_the_stores_own_that_was_emptied_is_named() {
    let place = Place::new();
    fs::create_dir(place.path("store")).expect("writable");
    let file = place.file("store/token", b"");
    let ended = try_serve(&place, &["--listen", "tcp:127.0.0.1:0"]);
    ended.expect_error(2, &[&file, "0 bytes"]);
    expect_free(place);
}

#[test]
fn help_tells_what_each_command_takes_and_answers() {
    for (command, parts) in [
        (
            "serve",
            &[
                "--listen",
                "--token-file",
                "DIR/token",
                "--tls-chain",
                "SIGTERM",
            ][..],
        ),
        (
            "hold",
            &[
                "--try",
                "--max-hold",
                "WITLOCK_FENCE",
                "115",
                "118",
                "SIGKILL",
            ],
        ),
        ("ls", &["--waiters", "--json", "WITLOCK_ADMIN_TOKEN", "118"]),
        ("break", &["LEASE", "WITLOCK_ADMIN_TOKEN", "116", "118"]),
        (
            "run",
            &["--connect", "WITLOCK_TOKEN", "witlock serve", "117", "118"],
        ),
    ] {
        let help = witlock(["help", command]).end();
        help.expect_code(0);
        for part in parts {
            assert!(
                help.out().contains(part),
                "{part:?} is not in: {}",
                help.out()
            );
        }
    }
}
