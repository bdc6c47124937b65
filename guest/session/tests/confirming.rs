//! A client asks its store whether a lease lasts, and can tell the answer to that
//! from others.

#![allow(clippy::expect_used)] // tests

use witlock_session::client::{Client, Ending, Event, Identity, Terms};
use witlock_session::wire::{self, Frames, MESSAGE_BYTES, ToClient, ToStore, to_client, to_store};

const SECOND: u64 = 1_000_000_000;

/// The only ask there is.
const ASK: u64 = 1;

const LEASE: wire::Lease = wire::Lease {
    fence: 7,
    secret: 8,
};

/// A client that holds a key with a ttl of 30 s, given at 0 s.
fn holder() -> Client {
    let mut client = Client::new(Identity::default(), 1);
    let session = client.open_session(1, None, None);
    client.connecting(0);
    client.connected(0);
    let welcome = to_client::Body::Welcome(wire::Welcome::default());
    hear(&mut client, 0, 0, welcome);
    let terms = Terms {
        name: "lock",
        key: "key",
        ..Terms::default()
    };
    client.ask(0, session, ASK, terms).expect("in bounds");
    let granted = wire::Granted {
        ask: ASK,
        lease: Some(LEASE),
        max_hold: None,
    };
    hear(&mut client, 0, 0, to_client::Body::Granted(granted));
    said(&mut client);
    client.events();
    client
}

fn hear(client: &mut Client, now: u64, echo: u64, body: to_client::Body) {
    let session = 1;
    let body = Some(body);
    let message = ToClient {
        session,
        echo,
        body,
    };
    let mut bytes = Vec::new();
    wire::put(&message, &mut bytes);
    client.received(now, &bytes);
}

fn renewed() -> to_client::Body {
    to_client::Body::Renewed(wire::Renewed {
        fence: LEASE.fence,
        max_hold: None,
    })
}

/// The renewals that the client sent, by their sending times.
fn said(client: &mut Client) -> Vec<u64> {
    let mut bytes = Vec::new();
    client.outgoing(&mut bytes);
    let mut frames = Frames::default();
    frames.push(&bytes);
    let mut sent = Vec::new();
    while let Some(message) = frames.next::<ToStore>(MESSAGE_BYTES).expect("messages") {
        if let Some(to_store::Body::Renew(renew)) = message.body {
            assert_eq!(renew.leases, [LEASE]);
            sent.push(message.sent);
        }
    }
    sent
}

// LOCK-08: the answer to an earlier renewal says nothing of the time after it.
#[test]
fn an_answer_tells_to_which_renewal_it_is_one() {
    let mut client = holder();
    client.renew(SECOND, ASK);
    client.renew(2 * SECOND, ASK);
    assert_eq!(said(&mut client), [SECOND, 2 * SECOND]);
    assert_eq!(client.dated_at(ASK), Some(0));

    hear(&mut client, 3 * SECOND, SECOND, renewed());
    assert_eq!(client.dated_at(ASK), Some(SECOND), "the earlier one's");
    hear(&mut client, 3 * SECOND, 2 * SECOND, renewed());
    assert_eq!(client.dated_at(ASK), Some(2 * SECOND));
    let renewed = Event::Renewed { ask: ASK };
    assert_eq!(client.events(), [renewed.clone(), renewed]);
}

// LOCK-07
#[test]
fn a_lease_that_the_store_does_not_know_is_told_as_lost() {
    let mut client = holder();
    client.renew(SECOND, ASK);
    let how = wire::ended::How::Unknown.into();
    let fence = LEASE.fence;
    let ended = to_client::Body::Ended(wire::Ended { fence, how });
    hear(&mut client, 2 * SECOND, 0, ended);
    let how = Ending::Expired;
    assert_eq!(client.events(), [Event::Ended { ask: ASK, how }]);
    assert_eq!(client.dated_at(ASK), None);
}

#[test]
fn what_is_due_anyway_is_asked_once() {
    let mut client = holder();
    client.tick(11 * SECOND);
    client.renew(11 * SECOND, ASK);
    assert_eq!(said(&mut client), [11 * SECOND]);
}

// LOCK-07, case J8: the reason is that nobody ran, and not that nobody could be
// reached, also where the server gave up the silent connection.
#[test]
fn a_lease_that_nobody_renewed_expired() {
    let mut client = holder();
    client.cut(SECOND, "nothing was heard for 15 s");
    client.tick(40 * SECOND);
    let how = Ending::Expired;
    assert_eq!(client.events(), [Event::Ended { ask: ASK, how }]);
}

// Case J8
#[test]
fn a_lease_whose_renewals_could_not_be_sent_is_unreachable() {
    let mut client = holder();
    client.cut(SECOND, "cut");
    client.tick(10 * SECOND);
    client.tick(40 * SECOND);
    let how = Ending::Unreachable;
    assert_eq!(client.events(), [Event::Ended { ask: ASK, how }]);
}
