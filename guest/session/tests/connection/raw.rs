//! Strangers: connections that speak by raw messages.

use witlock_session::server::{ConnectionId, Trust};
use witlock_session::wire::goodbye::Reason;
use witlock_session::wire::to_client::Body as Told;
use witlock_session::wire::to_store::Body as Said;
use witlock_session::wire::{Ended, Enter, Hello, Hold, Lease, ToStore, VERSION, put};

use crate::world::{TOKEN, TTL, World};

/// A frame with one message.
pub fn frame(session: u64, body: Said) -> Vec<u8> {
    let body = Some(body);
    let sent = 0;
    let message = ToStore {
        sent,
        session,
        body,
    };
    let mut bytes = Vec::new();
    put(&message, &mut bytes);
    bytes
}

pub fn hello(token: &str) -> Hello {
    Hello {
        version: VERSION,
        token: token.into(),
        client: "stranger".into(),
    }
}

pub fn enter(id: u8) -> Enter {
    Enter {
        id: vec![id; 16],
        entry: 1,
        ..Enter::default()
    }
}

pub fn hold(ask: u64, key: &str) -> Hold {
    Hold {
        ask,
        name: "jobs".into(),
        key: key.into(),
        ttl: Some(TTL),
        ..Hold::default()
    }
}

impl World {
    pub fn say(&mut self, id: ConnectionId, session: u64, body: Said) {
        self.send(id, &frame(session, body));
    }

    /// A connection that is let in, with session 1 entered.
    pub fn guest(&mut self, session: u8) -> ConnectionId {
        let id = self.stranger(Trust::Nobody);
        self.say(id, 0, Said::Hello(hello(TOKEN)));
        self.say(id, 1, Said::Enter(enter(session)));
        self.heard(id);
        id
    }

    /// Takes out what a stranger heard.
    pub fn heard(&mut self, id: ConnectionId) -> Vec<Told> {
        let heard = std::mem::take(&mut self.at(id).heard);
        heard.into_iter().filter_map(|it| it.body).collect()
    }

    /// Holds a key by a raw message.
    pub fn hold(&mut self, id: ConnectionId, ask: u64, key: &str) -> Lease {
        self.say(id, 1, Said::Hold(hold(ask, key)));
        match self.heard(id)[..] {
            [Told::Granted(granted)] => granted.lease.expect("a lease"),
            ref other => panic!("{other:?}"),
        }
    }

    /// Why a stranger's connection was closed: the reason, and its text.
    pub fn goodbye(&mut self, id: ConnectionId) -> (Reason, String) {
        assert!(self.at(id).over, "it is not closed");
        match self.heard(id).pop() {
            Some(Told::Goodbye(goodbye)) => (goodbye.reason(), goodbye.text),
            other => panic!("{other:?}"),
        }
    }

    /// How leases ended, as a stranger heard it.
    pub fn ended(&mut self, id: ConnectionId) -> Vec<Ended> {
        let heard = self.heard(id).into_iter();
        heard
            .map(|told| match told {
                Told::Ended(ended) => ended,
                other => panic!("{other:?}"),
            })
            .collect()
    }
}
