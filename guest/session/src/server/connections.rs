//! Connections: what arrives and leaves, and why one is closed.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::due::Due;
use super::{HELLO_WAIT, OUT_BYTES, SILENCE, Server, Trust};
use crate::Nanoseconds;
use crate::wire::goodbye::Reason;
use crate::wire::to_client::Body;
use crate::wire::{self, Frames, HELLO_BYTES, MESSAGE_BYTES, ToClient, ToStore};

/// Names a connection of a server, and no other one after it: what is answered to
/// one that is gone goes to nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub(super) u64);

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub trust: Trust,
    /// Once its hello was heard, who it is.
    pub client: Option<Client>,
    /// The engine's numbers of its sessions, by its own.
    pub sessions: BTreeMap<u64, u64>,
    /// How many asks of its sessions are not answered.
    pub waiting: usize,
    frames: Frames,
    out: Vec<u8>,
    /// Whether it stands among the touched.
    pub touched: bool,
    /// Nothing more is read or said once this is set.
    over: bool,
    /// When something was heard last; before the hello, when it was made.
    pub heard_at: Nanoseconds,
    /// When it is looked at next.
    looked_at: Nanoseconds,
}

/// Who is at the other end.
#[derive(Debug)]
pub(super) struct Client {
    pub name: String,
    pub is_operator: bool,
}

impl Server {
    /// A new connection.
    pub fn connected(&mut self, now: Nanoseconds, trust: Trust) -> ConnectionId {
        let looked_at = now.saturating_add(HELLO_WAIT);
        let connection = Connection {
            trust,
            client: None,
            sessions: BTreeMap::new(),
            waiting: 0,
            frames: Frames::default(),
            out: Vec::new(),
            touched: false,
            over: false,
            heard_at: now,
            looked_at,
        };
        self.last_connection += 1;
        self.connections.insert(self.last_connection, connection);
        let id = ConnectionId(self.last_connection);
        self.due.add(looked_at, Due::Connection(id));
        id
    }

    /// The connection is gone: leases live on by their ttl, waiters keep their
    /// places for 5 s.
    pub fn disconnected(&mut self, now: Nanoseconds, id: ConnectionId) {
        self.detach(now, id);
        if let Some(connection) = self.connections.remove(&id.0) {
            self.due.remove(connection.looked_at, Due::Connection(id));
        }
    }

    /// Bytes arrived.
    pub fn received(&mut self, now: Nanoseconds, id: ConnectionId, bytes: &[u8]) {
        if let Some(connection) = self.connections.get_mut(&id.0) {
            if connection.client.is_some() {
                connection.heard_at = now;
            }
            connection.frames.push(bytes);
        }
        while let Some(message) = self.next_message(id) {
            self.hear(now, id, message);
        }
    }

    fn next_message(&mut self, id: ConnectionId) -> Option<ToStore> {
        let connection = self.connections.get_mut(&id.0).filter(|c| !c.over)?;
        let most = match connection.client {
            Some(_) => MESSAGE_BYTES,
            None => HELLO_BYTES,
        };
        match connection.frames.next(most) {
            Ok(message) => message,
            Err(malformed) => {
                let text = alloc::format!("{malformed}");
                self.dismiss(id, Reason::Malformed, &text);
                None
            }
        }
    }

    /// Takes out what is to be sent; whether the connection is to be closed after
    /// that. Of one that is gone there is nothing, and it is.
    pub fn outgoing(&mut self, id: ConnectionId, out: &mut Vec<u8>) -> bool {
        let Some(connection) = self.connections.get_mut(&id.0) else {
            return true;
        };
        out.append(&mut connection.out);
        connection.over
    }

    /// Whether the connection is to be closed after what is to be sent.
    pub fn is_over(&self, id: ConnectionId) -> bool {
        self.connections.get(&id.0).is_none_or(|c| c.over)
    }

    /// Says something to a connection; who doesn't read is cut off.
    pub(super) fn say(&mut self, id: ConnectionId, session: u64, echo: u64, body: Body) {
        let body = Some(body);
        let message = ToClient {
            session,
            echo,
            body,
        };
        let put = self.put(id, &message);
        if put.is_some_and(|connection| connection.out.len() > OUT_BYTES) {
            self.dismiss(id, Reason::Slow, "what was sent is not read");
        }
    }

    /// Tells a client, once it is let in, that the store closed.
    pub(super) fn tell_closing(&mut self, id: ConnectionId) {
        let connection = self.connections.get(&id.0);
        if connection.is_some_and(|connection| connection.client.is_some()) {
            self.say(id, 0, 0, Body::Closing(wire::Closing {}));
        }
    }

    /// Says why, and closes the connection.
    pub(super) fn dismiss(&mut self, id: ConnectionId, reason: Reason, text: &str) {
        let goodbye = wire::Goodbye {
            reason: reason.into(),
            text: text.into(),
        };
        let body = Some(Body::Goodbye(goodbye));
        let message = ToClient {
            body,
            ..ToClient::default()
        };
        if let Some(connection) = self.put(id, &message) {
            connection.over = true;
        }
    }

    /// Puts a message behind what is to be sent; nothing to a connection that is
    /// over.
    fn put(&mut self, id: ConnectionId, message: &ToClient) -> Option<&mut Connection> {
        let connection = self.connections.get_mut(&id.0).filter(|c| !c.over)?;
        wire::put(message, &mut connection.out);
        if !core::mem::replace(&mut connection.touched, true) {
            self.touched.push(id);
        }
        Some(connection)
    }

    /// Cuts off a connection that is silent, or says when to look again.
    pub(super) fn check_silence(&mut self, now: Nanoseconds, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(&id.0).filter(|c| !c.over) else {
            return;
        };
        let (may, text) = match connection.client {
            Some(_) => (SILENCE, "nothing was heard for 15 s"),
            None => (HELLO_WAIT, "no hello was heard for 5 s"),
        };
        let until = connection.heard_at.saturating_add(may);
        if until <= now {
            return self.dismiss(id, Reason::Silent, text);
        }
        connection.looked_at = until;
        self.due.add(until, Due::Connection(id));
    }
}
