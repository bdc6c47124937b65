//! The other end of a connection: what it said, and what it was told.

use std::collections::{BTreeMap, BTreeSet};

use prost::Message;
use witlock_session::server::OUT_BYTES;
use witlock_session::wire::to_client::Body as Told;
use witlock_session::wire::{
    Enter, Frames, HELLO_BYTES, MESSAGE_BYTES, ToClient, ToStore, to_store,
};

/// Bytes of a frame's length.
const LENGTH: usize = 4;

/// A session at a connection, as far as its client may know.
#[derive(Debug, Default)]
pub struct At {
    pub number: u64,
    /// Leases that it was told of here, and not of their ends.
    pub told: BTreeSet<u64>,
    /// Leases and asks that it named as it entered.
    pub named: BTreeSet<u64>,
    pub named_asks: BTreeSet<u64>,
}

impl At {
    pub fn new(number: u64, enter: &Enter) -> Self {
        At {
            number,
            told: BTreeSet::new(),
            named: enter.leases.iter().map(|lease| lease.fence).collect(),
            named_asks: enter.asks.iter().copied().collect(),
        }
    }

    /// It is told of a lease's end.
    pub fn forget(&mut self, fence: u64) {
        self.told.remove(&fence);
        self.named.remove(&fence);
    }
}

pub struct Ear {
    /// Decodes what it says, as the server should.
    said: Frames,
    pub is_let_in: bool,
    pub is_operator: bool,
    /// It does not read.
    pub is_deaf: bool,
    /// It was told goodbye.
    pub is_over: bool,
    /// When something was heard of it last; before it is let in, when it came.
    pub heard_at: u64,
    pub sessions: BTreeMap<u64, At>,
}

impl Ear {
    pub fn new(now: u64) -> Self {
        Ear {
            said: Frames::default(),
            is_let_in: false,
            is_operator: false,
            is_deaf: false,
            is_over: false,
            heard_at: now,
            sessions: BTreeMap::new(),
        }
    }

    /// What it says by these bytes, up to what is no message.
    pub fn says(&mut self, bytes: &[u8]) -> Vec<ToStore> {
        self.said.push(bytes);
        let mut messages = Vec::new();
        let mut is_let_in = self.is_let_in;
        loop {
            let most = if is_let_in {
                MESSAGE_BYTES
            } else {
                HELLO_BYTES
            };
            let Ok(Some(message)) = self.said.next::<ToStore>(most) else {
                return messages;
            };
            is_let_in |= matches!(message.body, Some(to_store::Body::Hello(_)));
            messages.push(message);
        }
    }

    /// What it is told by these bytes: whole messages, the last of them goodbye if
    /// the connection is over.
    pub fn is_told(&mut self, mut bytes: &[u8], is_over: bool) -> Vec<ToClient> {
        assert!(bytes.len() <= OUT_BYTES + MESSAGE_BYTES, "{}", bytes.len());
        let mut messages = Vec::new();
        while let Some((length, rest)) = bytes.split_first_chunk::<LENGTH>() {
            let (message, rest) = rest.split_at(u32::from_be_bytes(*length) as usize);
            assert!(message.len() <= MESSAGE_BYTES, "{}", message.len());
            assert!(!self.is_over, "something after goodbye");
            let message = ToClient::decode(message).expect("a message");
            self.note(&message);
            messages.push(message);
            bytes = rest;
        }
        assert!(bytes.is_empty(), "a frame that is not whole");
        assert_eq!(self.is_over, is_over);
        messages
    }

    fn note(&mut self, message: &ToClient) {
        match message.body.as_ref().expect("a body") {
            Told::Welcome(welcome) => {
                assert!(!self.is_let_in, "welcome twice");
                (self.is_let_in, self.is_operator) = (true, welcome.operator);
            }
            Told::Goodbye(goodbye) => {
                assert!(!goodbye.text.is_empty(), "{goodbye:?}");
                self.is_over = true;
            }
            _ => {}
        }
    }
}
