//! The server's side: what clients say becomes commands of the lock engine, and
//! its events become answers.
//!
//! Who drives it hands in what arrives ([`Server::received`]) and what the engine
//! did ([`Server::told_all`]), takes out the commands ([`Server::commands`]) and what
//! is to be sent ([`Server::outgoing`]).

mod admission;
mod answers;
mod connections;
mod due;
mod echo;
mod event;
mod keeping;
mod left;
mod restoring;
mod says;
mod sessions;
mod tickets;
mod unknown;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use slab::Slab;
use witlock_engine::Command;

pub use admission::{Admission, Trust};
pub use connections::ConnectionId;
pub use event::{Event, Listed};
pub use keeping::Told;

use crate::wire::goodbye::Reason;
use crate::{Nanoseconds, millis};
use connections::Connection;
use due::{Deadlines, Due};
use left::Left;
use sessions::Session;
use tickets::{Tag, Ticket};

/// How long a connection may be silent: clients say something every 5 s.
pub const SILENCE: Nanoseconds = millis(15_000);

/// How long a connection has for its hello.
pub const HELLO_WAIT: Nanoseconds = millis(5_000);

/// Bytes that may wait for a reader: some pages of a listing. Past it the reader
/// is cut off, rather than others slowed down.
pub const OUT_BYTES: usize = 4 << 20;

/// Sessions of one connection: as many as `witlock run` has instances.
pub const SESSIONS_PER_CONNECTION: usize = 10_000;

/// Asks of one connection that are not answered: as many as ten holders may wait
/// for.
pub const WAITING_PER_CONNECTION: usize = 100_000;

/// How much a server keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kept {
    /// Connections.
    pub connections: usize,
    /// Sessions, connected or not.
    pub sessions: usize,
    /// Asks that wait, and leases.
    pub asks: usize,
    /// Commands that the engine has not answered.
    pub under_way: usize,
}

/// All connections of a store, and their sessions.
#[derive(Debug)]
pub struct Server {
    /// In front of every number that goes to the engine.
    base: u64,
    admission: Admission,
    /// By their numbers.
    connections: BTreeMap<u64, Connection>,
    last_connection: u64,
    sessions: BTreeMap<u64, Session>,
    by_id: BTreeMap<u128, u64>,
    /// Sessions that left, as long as it matters.
    left: BTreeMap<u128, Left>,
    last_session: u64,
    tickets: Slab<Ticket>,
    /// How many engines trapped: what one was asked is not taken for what the next is.
    generation: u64,
    /// By their numbers, which are never used again: a release that is answered by
    /// its lease's end may be answered once more.
    tags: BTreeMap<u64, Tag>,
    last_tag: u64,
    commands: Vec<Command<'static>>,
    due: Deadlines,
    /// When it was looked at last.
    ticked: Nanoseconds,
    /// Until when leases may be live that the engine does not know.
    unknown_until: Nanoseconds,
    /// Connections that have something to send, or are to be closed.
    touched: Vec<ConnectionId>,
    closing: bool,
}

impl Server {
    /// A server without connections. Its sessions, tickets and tags have numbers
    /// from `base` on, up to 2^48 of each.
    pub fn new(base: u64, admission: Admission) -> Self {
        Server {
            base,
            admission,
            connections: BTreeMap::new(),
            last_connection: 0,
            sessions: BTreeMap::new(),
            by_id: BTreeMap::new(),
            left: BTreeMap::new(),
            last_session: 0,
            tickets: Slab::new(),
            generation: 0,
            tags: BTreeMap::new(),
            last_tag: 0,
            commands: Vec::new(),
            due: Deadlines::default(),
            ticked: 0,
            unknown_until: 0,
            touched: Vec::new(),
            closing: false,
        }
    }

    /// Who is let in from now on.
    pub fn set_admission(&mut self, admission: Admission) {
        self.admission = admission;
    }

    /// Whether nothing is held or waited for by any session.
    pub fn is_idle(&self) -> bool {
        self.tickets.is_empty()
    }

    /// Takes out what the engine is to do, in its order.
    pub fn commands(&mut self) -> Vec<Command<'static>> {
        core::mem::take(&mut self.commands)
    }

    /// Takes out the connections that have something to send, or are to be
    /// closed.
    pub fn touched(&mut self) -> Vec<ConnectionId> {
        core::mem::take(&mut self.touched)
    }

    /// The store closed: clients are told, and may let go what they held.
    pub fn close(&mut self) {
        self.closing = true;
        for id in self.connection_ids() {
            self.tell_closing(id);
        }
    }

    /// Tells everyone to come back. No lease ends.
    pub fn stop(&mut self) {
        for id in self.connection_ids() {
            self.dismiss(id, Reason::Stopping, "the server stops");
        }
    }

    /// The engine began anew: nothing is left of any session, but what was asked of it
    /// before this was known, and is let go.
    pub fn forget_all(&mut self) {
        self.stop();
        self.by_id.clear();
        self.tickets.clear();
        self.generation += 1;
        self.tags.clear();
        self.commands.clear();
        for (number, session) in core::mem::take(&mut self.sessions) {
            self.due.remove(session.gone_at, Due::Session(number));
            self.commands.push(Command::EndSession(number));
        }
    }

    /// How much is kept.
    pub fn kept(&self) -> Kept {
        Kept {
            connections: self.connections.len(),
            sessions: self.sessions.len(),
            asks: self.tickets.len(),
            under_way: self.tags.len(),
        }
    }

    fn connection_ids(&self) -> Vec<ConnectionId> {
        self.connections.keys().copied().map(ConnectionId).collect()
    }
}
