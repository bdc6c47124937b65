//! Sessions: one for each holder, brought back after every cut.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::asks::Phase;
use super::{ANSWER_WAIT, Client, Ending};
use crate::Nanoseconds;
use crate::wire::refused::Why;
use crate::wire::to_store::Body;
use crate::wire::{Enter, Lease, Leave};

/// One holder.
pub(super) struct Session {
    id: u128,
    max_held: Option<u32>,
    max_waiting: Option<u32>,
    pub asks: BTreeSet<u64>,
    /// Whether it is at the connection that there is.
    entered: bool,
    /// At how many connections it entered; a server may know it if at any.
    entries: u64,
    /// Its holder is gone. The server may know that at the latest when the last
    /// lease would have ended by itself.
    leaving: Option<Nanoseconds>,
}

impl Session {
    /// Whether its holder still is there.
    pub fn is_open(&self) -> bool {
        self.leaving.is_none()
    }
}

impl Client {
    /// Opens a session. Its `id` is 128 random bits: who knows them is the holder.
    pub fn open_session(
        &mut self,
        id: u128,
        max_held: Option<u32>,
        max_waiting: Option<u32>,
    ) -> u64 {
        self.last_session += 1;
        let session = Session {
            id,
            max_held,
            max_waiting,
            asks: BTreeSet::new(),
            entered: false,
            entries: 0,
            leaving: None,
        };
        self.sessions.insert(self.last_session, session);
        self.last_session
    }

    /// Ends a session: what it holds is let go, what it waits for is refused.
    pub fn end_session(&mut self, now: Nanoseconds, number: u64) {
        let Some(session) = self.sessions.get_mut(&number) else {
            return;
        };
        let asks = core::mem::take(&mut session.asks);
        // What was said last of it may be read late.
        let mut lasts = now.saturating_add(ANSWER_WAIT);
        for ask in asks {
            lasts = lasts.max(self.give_up(ask));
        }
        let Some(session) = self.sessions.get_mut(&number) else {
            return;
        };
        session.leaving = Some(lasts);
        if session.entered {
            self.say(now, number, Body::Leave(Leave {}));
        }
        self.forget_left(now);
    }

    /// Ends every session.
    pub fn end_sessions(&mut self, now: Nanoseconds) {
        let all: Vec<u64> = self.sessions.keys().copied().collect();
        all.into_iter()
            .for_each(|number| self.end_session(now, number));
    }

    /// Tells that an ask is over with its session; until when its lease may last.
    fn give_up(&mut self, number: u64) -> Nanoseconds {
        let deadline = self.deadline(number).unwrap_or(0);
        match self.asks.get(&number).map(|ask| &ask.phase) {
            Some(Phase::Waiting(_)) => self.refuse(number, Why::Closed, String::new()),
            Some(_) => self.end(number, Ending::Released),
            None => {}
        }
        deadline
    }

    /// The server knows a session no more. Of one that goes on it has nothing to say.
    pub(super) fn left(&mut self, number: u64) {
        let is_leaving = |session: &Session| !session.is_open();
        if self.sessions.get(&number).is_some_and(is_leaving) {
            self.sessions.remove(&number);
        }
    }

    /// Forgets sessions of which a server need not be told any more.
    pub(super) fn forget_left(&mut self, now: Nanoseconds) {
        self.sessions.retain(|_, session| {
            let is_told = session.entered;
            let over = session.entries == 0 || (session.leaving <= Some(now) && !is_told);
            session.leaving.is_none() || !over
        });
    }

    /// Says something for a session's holder. Once it leaves there is nothing to say:
    /// all that it had is let go.
    pub(super) fn say_for(&mut self, now: Nanoseconds, number: u64, body: Body) {
        if self.sessions.get(&number).is_some_and(Session::is_open) {
            self.say(now, number, body);
        }
    }

    /// Sees to it that the session is at the connection; whether there is one.
    pub(super) fn enter(&mut self, now: Nanoseconds, number: u64) -> bool {
        if !self.link.is_up() {
            return false;
        }
        let Some(session) = self.sessions.get(&number) else {
            return false;
        };
        if session.entered {
            return true;
        }
        let enter = self.entering(session);
        if let Some(session) = self.sessions.get_mut(&number) {
            session.entered = true;
            session.entries = enter.entry;
        }
        self.say(now, number, Body::Enter(enter));
        true
    }

    /// What brings a session back: all that it still counts on and waits for.
    fn entering(&self, session: &Session) -> Enter {
        let mut enter = Enter {
            id: session.id.to_be_bytes().to_vec(),
            leases: Vec::new(),
            asks: Vec::new(),
            max_held: session.max_held,
            max_waiting: session.max_waiting,
            entry: session.entries + 1,
        };
        for number in &session.asks {
            match self.asks.get(number).map(|ask| &ask.phase) {
                Some(Phase::Waiting(_)) => enter.asks.push(*number),
                Some(Phase::Held(held)) => enter.leases.push(Lease::from(held.lease)),
                Some(Phase::Closed(lease)) => enter.leases.push(Lease::from(*lease)),
                Some(Phase::Releasing(_)) | None => {}
            }
        }
        enter
    }

    /// Brings every session back that a server may know or that asks for something.
    pub(super) fn come_back(&mut self, now: Nanoseconds) {
        // In the order in which they were opened: lines form anew in this order.
        let back: Vec<u64> = self.sessions.keys().copied().collect();
        for number in back {
            let Some(session) = self.sessions.get(&number) else {
                continue;
            };
            if session.entries == 0 && session.asks.is_empty() {
                continue;
            }
            self.enter(now, number);
            self.go_on(now, number);
        }
        self.send_renewals(now);
    }

    fn go_on(&mut self, now: Nanoseconds, number: u64) {
        let Some(session) = self.sessions.get(&number) else {
            return;
        };
        if !session.is_open() {
            return self.say(now, number, Body::Leave(Leave {}));
        }
        let asks: Vec<u64> = session.asks.iter().copied().collect();
        for ask in asks {
            match self.asks.get(&ask).map(|ask| &ask.phase) {
                Some(Phase::Waiting(_)) => self.send_ask(now, ask),
                Some(Phase::Held(_)) => self.renew_now(now, ask),
                Some(Phase::Releasing(_) | Phase::Closed(_)) | None => {}
            }
        }
    }

    /// The connection is gone: no session is at it.
    pub(super) fn leave_behind(&mut self) {
        for session in self.sessions.values_mut() {
            session.entered = false;
        }
        for (tag, _) in core::mem::take(&mut self.questions) {
            self.unanswered(tag);
        }
    }
}
