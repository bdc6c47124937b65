//! What becomes of what is said.

use std::collections::BTreeMap;

use witlock_session::server::ConnectionId;
use witlock_session::wire::{Frames, ToClient, ToStore};

/// What becomes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Arrives,
    /// It arrives so much later; what is said after it does not wait for it.
    Late(u64),
    Lost,
}

/// Messages under way, by when they arrive.
pub type UnderWay = BTreeMap<(u64, usize), (ConnectionId, Vec<u8>)>;

/// A client's way to the server, and back.
pub struct Network {
    /// No connection can be made.
    pub refuses: bool,
    /// The server does not see that a connection is gone.
    pub hides_ends: bool,
    pub to_store: Box<dyn FnMut(&ToStore) -> Fate>,
    pub to_client: Box<dyn FnMut(&ToClient) -> Fate>,
    pub to_server: UnderWay,
    pub from_server: UnderWay,
    pub heard: Frames,
}

impl Default for Network {
    fn default() -> Self {
        Network {
            refuses: false,
            hides_ends: false,
            to_store: Box::new(|_| Fate::Arrives),
            to_client: Box::new(|_| Fate::Arrives),
            to_server: UnderWay::new(),
            from_server: UnderWay::new(),
            heard: Frames::default(),
        }
    }
}

impl Network {
    /// Everything gets lost from now on, and no connection can be made.
    pub fn black_hole(&mut self) {
        self.refuses = true;
        self.hides_ends = true;
        self.to_store = Box::new(|_| Fate::Lost);
        self.to_client = Box::new(|_| Fate::Lost);
    }

    /// All is well again.
    pub fn heal(&mut self) {
        self.refuses = false;
        self.hides_ends = false;
        self.to_store = Box::new(|_| Fate::Arrives);
        self.to_client = Box::new(|_| Fate::Arrives);
    }

    pub fn next_moment(&self) -> Option<u64> {
        let both = [&self.to_server, &self.from_server];
        let first = both.map(|it| it.first_key_value().map(|((at, _), _)| *at));
        first.into_iter().flatten().min()
    }

    pub fn late_at_server(&mut self, now: u64) -> Option<(ConnectionId, Vec<u8>)> {
        take_due(&mut self.to_server, now)
    }

    pub fn late_at_client(&mut self, now: u64) -> Option<(ConnectionId, Vec<u8>)> {
        take_due(&mut self.from_server, now)
    }
}

pub fn put_late(under_way: &mut UnderWay, at: u64, id: ConnectionId, bytes: Vec<u8>) {
    let number = under_way
        .last_key_value()
        .map_or(0, |((_, last), _)| last + 1);
    let number = number.max(under_way.len());
    under_way.insert((at, number), (id, bytes));
}

fn take_due(under_way: &mut UnderWay, now: u64) -> Option<(ConnectionId, Vec<u8>)> {
    let first = under_way.first_entry()?;
    (first.key().0 <= now).then(|| first.remove())
}
