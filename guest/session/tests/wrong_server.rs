//! A client whose server does not keep to the protocol.

#![allow(clippy::expect_used)] // tests

use witlock_session::client::{ANSWER_WAIT, Client, Event, Identity, Terms, Wants};
use witlock_session::wire::to_client::Body;
use witlock_session::wire::{Left, Pong, ToClient, Welcome, put, refused::Why};

fn greeting() -> Client {
    let mut client = Client::new(Identity::default(), 1);
    client.connecting(0);
    client.connected(0);
    client
}

fn hear(client: &mut Client, session: u64, body: Body) {
    let body = Some(body);
    let message = ToClient {
        session,
        body,
        ..ToClient::default()
    };
    let mut bytes = Vec::new();
    put(&message, &mut bytes);
    client.received(0, &bytes);
}

// LOCK-07
#[test]
fn one_that_answers_and_does_not_let_the_client_in_is_given_up() {
    let mut client = greeting();
    hear(&mut client, 0, Body::Pong(Pong {}));
    assert_eq!(client.next_deadline(), Some(ANSWER_WAIT));
    client.tick(ANSWER_WAIT);
    assert_ne!(client.wants(ANSWER_WAIT), Wants::ThisConnection);
}

// LOCK-07: a session that its server takes for left goes on until its holder ends it.
#[test]
fn one_that_ends_a_session_by_itself_ends_none() {
    let mut client = greeting();
    hear(&mut client, 0, Body::Welcome(Welcome::default()));
    let session = client.open_session(1, None, None);
    let terms = Terms {
        name: "jobs",
        key: "k",
        ..Terms::default()
    };
    client.ask(0, session, 1, terms).expect("in bounds");
    hear(&mut client, session, Body::Left(Left {}));
    client.events();
    client.end_session(0, session);
    let refused = Event::Refused {
        ask: 1,
        why: Why::Closed,
        text: String::new(),
    };
    assert_eq!(client.events(), [refused]);
    hear(&mut client, session, Body::Left(Left {}));
    assert!(!client.has_sessions());
}
