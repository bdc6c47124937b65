//! Who may do what over TCP.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::child::{Ended, Witlock};
use crate::guests::Place;
use crate::served::{NO_WAIT, Served, serve};

const TCP: &[&str] = &["--listen", "tcp:127.0.0.1:0"];

/// What is asked of operators.
const ADMIN: &str = "known-to-operators-alone";

/// A server that is reached over TCP too.
struct OnTcp {
    served: Served,
    address: String,
    /// The file with its token.
    file: String,
    token: String,
}

impl OnTcp {
    fn new() -> OnTcp {
        OnTcp::at(Place::new(), &[])
    }

    fn at(place: Place, arguments: &[&str]) -> OnTcp {
        let mut server = serve(&place, &[TCP, arguments].concat());
        let file = said(&mut server, "the token is in ");
        let address = said(&mut server, "listening at tcp:");
        OnTcp {
            served: Served { place, server },
            address: format!("tcp:{address}"),
            token: fs::read_to_string(&file).expect("a token").trim().into(),
            file,
        }
    }

    /// One that operators reach too.
    fn with_operators() -> OnTcp {
        let place = Place::new();
        let file = place.file("admin", ADMIN.as_bytes());
        OnTcp::at(place, &["--admin-token-file", &file])
    }

    /// A client with these variables in its environment.
    fn client(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Witlock {
        let mut command = Command::new(env!("CARGO_BIN_EXE_witlock"));
        command.env("WITLOCK_CONNECT", &self.address);
        command.envs(variables.iter().copied()).args(arguments);
        Witlock::start(command)
    }

    fn hold(&self, variables: &[(&str, &str)], script: &str) -> Witlock {
        let hold = ["hold", "l", "k", "--try", "--", "sh", "-c", script];
        self.client(variables, &hold)
    }

    /// Stops it; all that it wrote.
    fn stop(self) -> (Place, String) {
        let Served { place, server } = self.served;
        server.signal("TERM");
        let ended = server.end();
        ended.expect_code(0);
        (place, all(&ended))
    }
}

/// The rest of the next line that begins so.
fn said(server: &mut Witlock, begin: &str) -> String {
    let line = server.line(&[begin]).text;
    line.strip_prefix(begin).expect("a beginning").to_owned()
}

/// All that it wrote.
fn all(ended: &Ended) -> String {
    ended.out() + &ended.err()
}

#[test]
fn the_stores_token_is_made_once_is_private_and_never_printed() {
    let first = OnTcp::new();
    assert_eq!(first.file, first.served.directory() + "/token");
    let mode = fs::metadata(&first.file).expect("a file").permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    let token = first.token.clone();
    assert_eq!(token.len(), 64, "{token}");
    let (place, said) = first.stop();
    assert!(!said.contains(&token), "{said}");
    let second = OnTcp::at(place, &[]);
    assert_eq!(second.token, token);
    let (place, said) = second.stop();
    assert!(!said.contains(&token), "{said}");
    // Another store has another.
    assert_ne!(OnTcp::new().token, token);
    drop(place);
}

#[test]
fn without_tcp_no_token_is_made() {
    let served = Served::new();
    assert!(!served.place.path("store").join("token").exists());
}

#[test]
fn a_token_of_ones_own_is_taken_instead() {
    let place = Place::new();
    let file = place.file("mine", b"my token\r\n");
    let server = OnTcp::at(place, &["--token-file", &file]);
    assert_eq!(server.file, file);
    assert!(!server.served.place.path("store").join("token").exists());
    let known = [("WITLOCK_TOKEN", "my token")];
    server.hold(&known, "true").end().expect_code(0);
}

#[test]
fn who_knows_the_token_holds() {
    let server = OnTcp::new();
    let (token, file) = (&*server.token, &*server.file);
    let mut first = server.hold(&[("WITLOCK_TOKEN", token)], "echo held; read line");
    first.line(&["held"]);
    let by_file = [("WITLOCK_TOKEN_FILE", file)];
    server.hold(&by_file, "true").end().expect_code(115);
    first.end_input();
    first.end();
    server.hold(&by_file, "true").end().expect_code(0);
    // The first of both is taken.
    let both = [("WITLOCK_TOKEN", token), ("WITLOCK_TOKEN_FILE", "missing")];
    server.hold(&both, "true").end().expect_code(0);
    // Over the Unix socket nobody is asked for it.
    server.served.hold(NO_WAIT, "true").end().expect_code(0);
}

// case J6
#[test]
fn who_does_not_is_refused_with_118() {
    let server = OnTcp::new();
    let wrong = "0".repeat(server.token.len());
    let wrong_file = server.served.place.file("wrong", wrong.as_bytes());
    let part = &server.token[..63];
    let longer = server.token.clone() + "0";
    for variables in [
        &[][..],
        &[("WITLOCK_TOKEN", "")],
        &[("WITLOCK_TOKEN", &wrong)],
        &[("WITLOCK_TOKEN", part)],
        &[("WITLOCK_TOKEN", &longer)],
        &[("WITLOCK_TOKEN_FILE", &wrong_file)],
        // The admin token of a server that has none.
        &[("WITLOCK_ADMIN_TOKEN", &server.token)],
    ] {
        let ended = server.hold(variables, "echo ran").end();
        ended.expect_error(118, &[&server.address, "refuses", "token"]);
        assert_eq!(ended.out(), "");
        assert!(!ended.err().contains(part), "{}", ended.err());
        assert!(!ended.err().contains(&wrong), "{}", ended.err());
    }
    let (_, said) = server.stop();
    assert!(!said.contains(&wrong), "{said}");
}

// LOCK-12
#[test]
fn a_token_that_cannot_be_one_is_2_and_its_file_named() {
    let server = OnTcp::new();
    let place = &server.served.place;
    let missing = place.text("missing");
    for file in [&missing, &place.file("empty", b"")] {
        let ended = server.hold(&[("WITLOCK_TOKEN_FILE", file)], "true").end();
        ended.expect_error(2, &[file]);
    }
    let long = "x".repeat(1025);
    let ended = server.hold(&[("WITLOCK_TOKEN", &long)], "true").end();
    ended.expect_error(2, &["WITLOCK_TOKEN", "1025 bytes, not 1 to 1024"]);
}

/// A file for TLS.
fn tls(name: &str) -> String {
    format!("{}/tests/served/tls/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn over_tls_the_server_is_vouched_for_and_the_client_knows_the_token() {
    let place = Place::new();
    let (chain, key) = (tls("server.pem"), tls("server.key"));
    let sealed = ["--tls-chain", &chain, "--tls-key", &key];
    let sealed = [&["--listen", "tls:127.0.0.1:0"], &sealed[..]].concat();
    let mut server = OnTcp::at(place, &sealed);
    server.address = "tls:".to_owned() + &said(&mut server.served.server, "listening at tls:");
    let token = ("WITLOCK_TOKEN", &*server.token);
    let (root, other) = (tls("root.pem"), tls("other-root.pem"));
    let trusted = ("WITLOCK_TLS_ROOTS", &*root);
    server.hold(&[token, trusted], "true").end().expect_code(0);
    for (variables, code, part) in [
        (&[trusted][..], 118, "token"),
        (&[token], 2, "WITLOCK_TLS_ROOTS"),
        (&[token, ("WITLOCK_TLS_ROOTS", "missing")], 2, "missing"),
        (&[token, ("WITLOCK_TLS_ROOTS", &key)], 2, "no certificate"),
        (&[token, ("WITLOCK_TLS_ROOTS", &other)], 117, "certificate"),
    ] {
        let ended = server.hold(variables, "echo ran").end();
        ended.expect_error(code, &[part]);
        assert_eq!(ended.out(), "");
    }
}

/// The arguments of a process, as every user of the machine sees them.
#[cfg(target_os = "linux")]
fn seen(process: &str) -> String {
    let seen = fs::read(format!("/proc/{process}/cmdline")).expect("it lives");
    String::from_utf8_lossy(&seen).replace('\0', " ")
}

#[cfg(target_os = "linux")]
#[test]
fn the_token_is_in_no_argument_and_in_no_output() {
    let server = OnTcp::new();
    for variable in [
        ("WITLOCK_TOKEN", &*server.token),
        ("WITLOCK_TOKEN_FILE", &server.file),
    ] {
        let mut holder = server.hold(&[variable], "echo guardian $PPID; read line");
        let guardian = said(&mut holder, "guardian ");
        for process in [&server.served.server.id(), &holder.id(), &guardian] {
            let seen = seen(process);
            assert!(
                seen.contains("witlock") && !seen.contains(&server.token),
                "{seen}"
            );
        }
        holder.end_input();
        let ended = all(&holder.end());
        assert!(!ended.contains(&server.token), "{ended}");
    }
    let token = server.token.clone();
    let (_, said) = server.stop();
    assert!(!said.contains(&token), "{said}");
}

// case J6
#[test]
fn listing_and_breaking_is_for_operators() {
    let server = OnTcp::with_operators();
    let plain = [("WITLOCK_TOKEN", &*server.token)];
    let mut holder = server.hold(&plain, "echo held; sleep 1000");
    holder.line(&["held"]);
    let listed = server.served.run(&["ls"]);
    listed.expect_code(0);
    let lease = listed.out();
    let lease = lease.split_whitespace().next().expect("a lease");
    for command in [
        &["ls"][..],
        &["ls", "--waiters", "--json"],
        &["break", lease],
    ] {
        let ended = server.client(&plain, command).end();
        ended.expect_error(118, &["only an operator", "admin token"]);
        assert_eq!(ended.out(), "");
        // Nor who knows no token at all.
        let ended = server.client(&[], command).end();
        ended.expect_error(118, &["refuses"]);
    }
    let by_file = ["--admin-token-file", &server.served.place.text("admin")];
    let admin = [("WITLOCK_ADMIN_TOKEN", ADMIN)];
    for ended in [
        server.client(&admin, &["ls"]).end(),
        server
            .client(&plain, &[&["ls"], &by_file[..]].concat())
            .end(),
    ] {
        ended.expect_code(0);
        assert!(ended.out().contains(lease), "{}", ended.out());
    }
    let broken = server.client(&admin, &["break", lease]).end();
    broken.expect_code(0);
    holder.end().expect_error(116, &["broken"]);
    let (_, said) = server.stop();
    assert!(!said.contains(ADMIN), "{said}");
}

// case J6
#[test]
fn over_the_unix_socket_whoever_may_connect_is_an_operator() {
    let server = OnTcp::with_operators();
    let mut holder = server.served.hold(&[], "echo held; sleep 1000");
    holder.line(&["held"]);
    let lease = server.served.run(&["ls"]).out();
    let lease = lease.split_whitespace().next().expect("a lease");
    server.served.run(&["break", lease]).expect_code(0);
    holder.end().expect_error(116, &["broken"]);
}
