//! What a server is told that is wrong, each with its answer; nobody else notices.

use std::time::Duration;

use witlock_session::wire::goodbye::Reason;
use witlock_session::wire::{
    self, Enter, HELLO_BYTES, MESSAGE_BYTES, RENEWED_AT_ONCE, TOKEN_BYTES, VERSION, to_client,
    to_store,
};

use crate::raw::{Raw, hello, hello_of, hold};
use crate::stage::{Bystander, Stage, TOKEN, TTL};

/// Does something wrong to a server, of which a bystander notices nothing.
fn beside_a_bystander(act: impl FnOnce(&Stage, &Bystander)) {
    let stage = Stage::new();
    let bystander = Bystander::new(&stage);
    act(&stage, &bystander);
    bystander.noticed_nothing();
}

// LOCK-12
#[test]
fn a_wrong_token_lets_nobody_in() {
    beside_a_bystander(|stage, _| {
        for (token, why) in [
            ("", "a token is needed"),
            ("let me in!", "the token is wrong"),
            ("let me i", "the token is wrong"),
        ] {
            let mut raw = Raw::connect(&stage.tcp());
            raw.say(0, hello_of(VERSION, token));
            raw.is_dismissed(Reason::Token, why);
        }
        let mut raw = Raw::connect(&stage.tcp());
        raw.say(0, hello_of(VERSION, TOKEN));
        assert!(matches!(raw.hear(), Some(to_client::Body::Welcome(_))));
    });
}

// LOCK-12
#[test]
fn a_hello_of_another_version_is_told_which_is_spoken() {
    beside_a_bystander(|stage, _| {
        for version in [0, 2, u32::MAX] {
            let mut raw = Raw::connect(&stage.address());
            raw.say(0, hello_of(version, ""));
            raw.is_dismissed(Reason::Version, "version 1 of the protocol");
        }
    });
}

// LOCK-12: refused by its length, of which nothing is kept.
#[test]
fn a_frame_of_4_gib_is_refused() {
    beside_a_bystander(|stage, _| {
        let mut raw = Raw::connect(&stage.address());
        raw.write(&u32::MAX.to_be_bytes()).unwrap();
        raw.is_dismissed(Reason::Malformed, &format!("at most {HELLO_BYTES} bytes"));
        let mut raw = Raw::let_in(&stage.address());
        raw.write(&u32::MAX.to_be_bytes()).unwrap();
        raw.is_dismissed(Reason::Malformed, &format!("at most {MESSAGE_BYTES} bytes"));
    });
}

// LOCK-12
#[test]
fn what_is_no_message_is_refused() {
    beside_a_bystander(|stage, _| {
        let mut raw = Raw::let_in(&stage.address());
        raw.write(&[0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff]).unwrap();
        raw.is_dismissed(Reason::Malformed, "no message");
        // A browser's.
        let mut raw = Raw::connect(&stage.address());
        raw.write(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        raw.is_dismissed(Reason::Malformed, "at most");
    });
}

// LOCK-12: and who said hello, and who did not.
#[test]
fn half_a_frame_and_silence_is_cut_off() {
    beside_a_bystander(|stage, bystander| {
        let mut half = Raw::let_in(&stage.address());
        let mut nothing = Raw::connect(&stage.address());
        // What the server answers to this one was heard after the others connected.
        let mut last = Raw::let_in(&stage.address());
        half.say(0, to_store::Body::Ping(wire::Ping {}));
        half.write(&[0, 0, 1]).unwrap();
        assert!(matches!(half.hear(), Some(to_client::Body::Pong(_))));
        stage.pass_renewing(TTL / 3, &[&bystander.lease]);
        nothing.is_dismissed(Reason::Silent, "no hello was heard for 5 s");
        last.say(0, to_store::Body::Ping(wire::Ping {}));
        assert!(matches!(last.hear(), Some(to_client::Body::Pong(_))));
        stage.clock.advance(Duration::from_secs(5));
        half.is_dismissed(Reason::Silent, "nothing was heard for 15 s");
        last.say(0, to_store::Body::Ping(wire::Ping {}));
        assert!(matches!(last.hear(), Some(to_client::Body::Pong(_))));
    });
}

// LOCK-12
#[test]
fn what_comes_out_of_order_is_refused() {
    beside_a_bystander(|stage, _| {
        let mut raw = Raw::connect(&stage.address());
        raw.say(1, to_store::Body::Hold(hold(1, "k")));
        raw.is_dismissed(Reason::Malformed, "the first message is a hello");
        let mut raw = Raw::let_in(&stage.address());
        raw.say(0, hello());
        raw.is_dismissed(Reason::Malformed, "there is one hello");
        let mut raw = Raw::let_in(&stage.address());
        raw.say(1, to_store::Body::Hold(hold(1, "k")));
        raw.is_dismissed(Reason::Malformed, "has not entered");
        assert!(crate::stage::is_free(&stage.store, "k"));
    });
}

// LOCK-12
#[test]
fn a_hello_out_of_its_bounds_is_refused() {
    beside_a_bystander(|stage, _| {
        let named = |client: &str| {
            to_store::Body::Hello(wire::Hello {
                version: VERSION,
                token: String::new(),
                client: client.into(),
            })
        };
        for (said, why) in [
            (named(&"n".repeat(129)), "at most 128 bytes"),
            (named("a\nb"), "control characters"),
            (
                hello_of(VERSION, &"t".repeat(TOKEN_BYTES + 1)),
                "at most 1024 bytes",
            ),
            (
                hello_of(VERSION, &"t".repeat(HELLO_BYTES)),
                "at most 4096 bytes",
            ),
        ] {
            let mut raw = Raw::connect(&stage.address());
            raw.say(0, said);
            raw.is_dismissed(Reason::Malformed, why);
        }
    });
}

// LOCK-12
#[test]
fn an_entry_out_of_its_bounds_is_refused() {
    beside_a_bystander(|stage, _| {
        let enter = |length| Enter {
            id: vec![1; length],
            entry: 1,
            ..Enter::default()
        };
        for (session, length, why) in [
            (1, 0, "16 bytes"),
            (1, 15, "16 bytes"),
            (1, 17, "16 bytes"),
            (0, 16, "which is not 0"),
        ] {
            let mut raw = Raw::let_in(&stage.address());
            raw.say(session, to_store::Body::Enter(enter(length)));
            raw.is_dismissed(Reason::Malformed, why);
        }
        let mut raw = Raw::entered(&stage.address(), 2);
        let leases = vec![wire::Lease::default(); RENEWED_AT_ONCE + 1];
        raw.say(1, to_store::Body::Renew(wire::Renew { leases }));
        raw.is_dismissed(Reason::Malformed, "at most 1000 leases");
    });
}

// LOCK-09, case L5: a session has one connection, and an entry that is read late
// changes nothing.
#[test]
fn a_session_that_enters_elsewhere_leaves_its_older_connection() {
    beside_a_bystander(|stage, _| {
        let enter = |entry| {
            to_store::Body::Enter(Enter {
                id: vec![1; 16],
                entry,
                ..Enter::default()
            })
        };
        let mut first = Raw::entered(&stage.address(), 1);
        let mut second = Raw::let_in(&stage.address());
        second.say(1, enter(2));
        first.is_dismissed(Reason::Replaced, "");
        let mut late = Raw::let_in(&stage.address());
        late.say(1, enter(1));
        late.is_dismissed(Reason::Replaced, "");
        second.say(1, to_store::Body::Hold(hold(1, "k")));
        assert!(matches!(second.hear(), Some(to_client::Body::Granted(_))));
    });
}

// Fields are only ever added: what a later version says is passed over.
#[test]
fn a_message_of_a_later_version_is_passed_over() {
    beside_a_bystander(|stage, _| {
        let mut raw = Raw::let_in(&stage.address());
        // Field 100 of the message: a text of one byte.
        raw.write(&[0, 0, 0, 4, 0xa2, 0x06, 1, b'x']).unwrap();
        raw.say(0, to_store::Body::Ping(wire::Ping {}));
        assert!(matches!(raw.hear(), Some(to_client::Body::Pong(_))));
    });
}

// LOCK-12: refused without an end of the connection, as by the engine itself.
#[test]
fn a_hold_out_of_its_bounds_is_refused_alone() {
    use witlock_session::wire::refused::Why;
    beside_a_bystander(|stage, _| {
        let mut raw = Raw::entered(&stage.address(), 1);
        let of = |change: fn(&mut wire::Hold)| {
            let mut asked = hold(1, "k");
            change(&mut asked);
            asked
        };
        for asked in [
            of(|hold| hold.name = String::new()),
            of(|hold| hold.key = "k".repeat(1_025)),
            of(|hold| hold.ttl = Some(0)),
            of(|hold| hold.ttl = Some(u32::MAX)),
            of(|hold| hold.max_hold = Some(0)),
            of(|hold| hold.limit = Some(0)),
            of(|hold| hold.label = Some("l".repeat(129))),
        ] {
            raw.say(1, to_store::Body::Hold(asked.clone()));
            let Some(to_client::Body::Refused(refused)) = raw.hear() else {
                panic!("{asked:?} is not refused");
            };
            assert_eq!(refused.why(), Why::Invalid, "{asked:?}");
            assert!(!refused.text.is_empty());
        }
        raw.say(1, to_store::Body::Hold(hold(2, "k")));
        assert!(matches!(raw.hear(), Some(to_client::Body::Granted(_))));
    });
}
