//! Sessions: one for each holder. They outlive their connections.

use alloc::collections::{BTreeMap, BTreeSet};

use witlock_engine::bounds::{KEYS_PER_HOLDER, RECONNECT};
use witlock_engine::{Command, LeaseId, OpenSession, Request, Resume};

use super::connections::ConnectionId;
use super::due::Due;
use super::echo::Heard;
use super::tickets::Tag;
use super::{SESSIONS_PER_CONNECTION, Server};
use crate::wire::ended::How;
use crate::wire::goodbye::Reason;
use crate::wire::to_client::Body;
use crate::wire::{self, Enter, Left};
use crate::{Nanoseconds, millis};

/// How much longer a session is kept than anything of it can last, so that the
/// engine has told of the last of it before.
const AFTERWARDS: Nanoseconds = millis(1_000);

/// One holder.
#[derive(Debug)]
pub(super) struct Session {
    pub id: u128,
    /// The latest of its entries.
    entry: u64,
    pub max_held: Option<u32>,
    pub max_waiting: Option<u32>,
    /// Where it is, and by what number it goes there.
    pub at: Option<(ConnectionId, u64)>,
    pub heard: Heard,
    /// Asks that wait, and their tickets: one asked again has two until the engine has
    /// said which of them it answers.
    pub asks: BTreeSet<(u64, u64)>,
    /// Its leases, by their fences.
    pub held: BTreeMap<u64, Held>,
    /// The longest ttl it asked for, in milliseconds.
    pub longest_ttl: u32,
    /// How leases ended of which it may not have been told, by their fences.
    pub endings: BTreeMap<u64, How>,
    /// When it is given up if it does not come back.
    pub gone_at: Nanoseconds,
}

/// A lease of a session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    /// What the engine knows it by.
    pub id: LeaseId,
    /// What its holder names beside the fence: of a lease that was restored, what an
    /// earlier engine knew it by.
    pub secret: u64,
    /// Whether it was given, or renewed, since the server started, and that was kept.
    pub renewed: bool,
    /// The tag of a release under way.
    pub release: Option<u64>,
    /// When its max-hold is over, by the store's clock, if it has one.
    pub revoked: Option<Nanoseconds>,
}

/// A session's bound, as its client asked for it.
fn bound(asked: Option<u32>) -> Option<u32> {
    Some(asked.unwrap_or(KEYS_PER_HOLDER).min(KEYS_PER_HOLDER))
}

impl Server {
    /// Opens a session, or brings it back.
    pub(super) fn enter(&mut self, now: Nanoseconds, id: ConnectionId, own: u64, enter: Enter) {
        let Ok(key) = <[u8; 16]>::try_from(enter.id.as_slice()) else {
            return self.dismiss(id, Reason::Malformed, "a session's id has 16 bytes");
        };
        let Some(connection) = self.connections.get(&id.0) else {
            return;
        };
        if own == 0 || connection.sessions.contains_key(&own) {
            let text = "a session enters under a number of its own, which is not 0";
            return self.dismiss(id, Reason::Malformed, text);
        }
        if connection.sessions.len() >= SESSIONS_PER_CONNECTION {
            let text =
                alloc::format!("a connection has at most {SESSIONS_PER_CONNECTION} sessions");
            return self.dismiss(id, Reason::Malformed, &text);
        }
        if enter.entry == 0 {
            return self.dismiss(id, Reason::Malformed, "a session's entries count from 1");
        }
        let key = u128::from_be_bytes(key);
        let known = self.by_id.get(&key).copied();
        let older = known.and_then(|number| self.sessions.get(&number)?.at);
        if older.is_some_and(|(older, _)| older == id) {
            self.dismiss(id, Reason::Malformed, "a session enters once");
            return self.detach(now, id);
        }
        if self.is_outdated(known, key, enter.entry) {
            self.dismiss(id, Reason::Replaced, "its session entered elsewhere since");
            return self.detach(now, id);
        }
        if let Some((older, _)) = older {
            self.replace(now, older);
        }
        let number = known.unwrap_or_else(|| self.add_session(key));
        self.attach(id, own, number, enter.entry);
        self.bring_back(number, known.is_some(), enter);
    }

    /// Whether an entry was read late: the client has given up its connection.
    fn is_outdated(&self, known: Option<u64>, id: u128, entry: u64) -> bool {
        match known.and_then(|number| self.sessions.get(&number)) {
            Some(session) => entry <= session.entry,
            None => self.has_left(id, entry),
        }
    }

    /// A session has one connection: an older one is closed, with all it had not
    /// read.
    fn replace(&mut self, now: Nanoseconds, older: ConnectionId) {
        let text = "its sessions are at another connection";
        self.dismiss(older, Reason::Replaced, text);
        self.detach(now, older);
    }

    pub(super) fn add_session(&mut self, id: u128) -> u64 {
        self.last_session += 1;
        let number = self.base | self.last_session;
        self.forget_left(id);
        let session = Session {
            id,
            entry: 0,
            max_held: None,
            max_waiting: None,
            at: None,
            heard: Heard::default(),
            asks: BTreeSet::new(),
            held: BTreeMap::new(),
            longest_ttl: 0,
            endings: BTreeMap::new(),
            gone_at: Nanoseconds::MAX,
        };
        self.sessions.insert(number, session);
        self.by_id.insert(id, number);
        number
    }

    fn attach(&mut self, id: ConnectionId, own: u64, number: u64, entry: u64) {
        let Some(session) = self.sessions.get_mut(&number) else {
            return;
        };
        self.due.remove(session.gone_at, Due::Session(number));
        session.at = Some((id, own));
        session.entry = entry;
        session.gone_at = Nanoseconds::MAX;
        if let Some(connection) = self.connections.get_mut(&id.0) {
            connection.sessions.insert(own, number);
            connection.waiting += session.asks.len();
        }
    }

    fn bring_back(&mut self, number: u64, is_known: bool, enter: Enter) {
        if let Some(session) = self.sessions.get_mut(&number) {
            // Of the others, nobody will ask.
            let mut endings = core::mem::take(&mut session.endings);
            let asked = enter.leases.iter().map(|lease| lease.fence);
            session
                .endings
                .extend(asked.filter_map(|fence| endings.remove_entry(&fence)));
        }
        self.open_session(number, enter.max_held, enter.max_waiting);
        if is_known {
            let tag = self.tag(Tag::Resume);
            let leases = enter.leases.into_iter();
            self.commands.push(Command::Resume(Resume {
                tag,
                session: number,
                leases: leases
                    .filter_map(|lease| self.named(number, lease))
                    .collect(),
                requests: enter.asks.into_iter().map(Request::from).collect(),
            }));
        }
    }

    /// Has the engine open a session: it forgets one that is away and has nothing left.
    /// One that is open stays as it is.
    pub(super) fn open_session(
        &mut self,
        number: u64,
        max_held: Option<u32>,
        max_waiting: Option<u32>,
    ) {
        if let Some(session) = self.sessions.get_mut(&number) {
            (session.max_held, session.max_waiting) = (max_held, max_waiting);
        }
        self.commands.push(Command::OpenSession(OpenSession {
            session: number,
            remote: true,
            max_held: bound(max_held),
            max_waiting: bound(max_waiting),
        }));
    }

    /// Ends a session at its client's word.
    pub(super) fn leave(&mut self, now: Nanoseconds, id: ConnectionId, own: u64) {
        let Some(connection) = self.connections.get_mut(&id.0) else {
            return;
        };
        if let Some(number) = connection.sessions.remove(&own) {
            self.end_session(now, number);
        }
        self.say(id, own, 0, Body::Left(Left {}));
    }

    /// Ends a session, at its client's word or since nothing can be left of it.
    pub(super) fn end_session(&mut self, now: Nanoseconds, number: u64) {
        if let Some(session) = self.sessions.remove(&number) {
            if let Some(connection) = session
                .at
                .and_then(|(at, _)| self.connections.get_mut(&at.0))
            {
                connection.waiting -= session.asks.len();
            }
            // Its leases' ends answer them, and tell nobody.
            for tag in session.held.values().filter_map(|held| held.release) {
                self.take_tag(tag);
            }
            self.by_id.remove(&session.id);
            self.due.remove(session.gone_at, Due::Session(number));
            self.remember_left(now, session.id, session.entry);
            self.commands.push(Command::EndSession(number));
        }
    }

    /// The sessions of a connection are without one from now on.
    pub(super) fn detach(&mut self, now: Nanoseconds, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(&id.0) else {
            return;
        };
        for (_, number) in core::mem::take(&mut connection.sessions) {
            self.is_away(now, number);
        }
    }

    /// A session is without a connection from now on.
    pub(super) fn is_away(&mut self, now: Nanoseconds, number: u64) {
        let Some(session) = self.sessions.get_mut(&number) else {
            return;
        };
        session.at = None;
        let lasts = millis(session.longest_ttl.max(RECONNECT));
        session.gone_at = now.saturating_add(lasts).saturating_add(AFTERWARDS);
        self.due.add(session.gone_at, Due::Session(number));
        self.commands.push(Command::Suspend(number));
    }

    /// What the session's client calls itself, while it is connected.
    pub(super) fn client_of(&self, session: u64) -> Option<&str> {
        let (at, _) = self.sessions.get(&session)?.at?;
        let client = self.connections.get(&at.0)?.client.as_ref()?;
        Some(&client.name)
    }

    /// Says something to a session, if it is connected.
    pub(super) fn tell(&mut self, session: u64, body: Body) {
        self.tell_dated(session, None, body);
    }

    /// The same with the echo of a lease that was dated then.
    pub(super) fn tell_dated(&mut self, session: u64, dated: Option<Nanoseconds>, body: Body) {
        let Some(session) = self.sessions.get_mut(&session) else {
            return;
        };
        let Some((id, own)) = session.at else {
            return;
        };
        let echo = dated.map_or(0, |dated| session.heard.echo(dated));
        self.say(id, own, echo, body);
    }

    /// Says that a lease is over. How it ended, if its holder did not end it, is kept
    /// for when the session comes back: what was said may be lost with its connection.
    pub(super) fn tell_ended(&mut self, session: u64, fence: u64, how: How) {
        if let Some(holder) = self.sessions.get_mut(&session) {
            if how != How::Released || holder.at.is_none() {
                holder.endings.insert(fence, how);
            }
            // It counts on no more than it may hold.
            if holder.endings.len() > KEYS_PER_HOLDER as usize {
                holder.endings.pop_first();
            }
        }
        self.say_ended(session, fence, how);
    }

    pub(super) fn say_ended(&mut self, session: u64, fence: u64, how: How) {
        let how = how.into();
        self.tell(session, Body::Ended(wire::Ended { fence, how }));
    }
}
