//! What the server makes of what it hears: each command is one that a message
//! asked for, of the session whose it is to ask.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::vec::IntoIter;

use witlock_engine::{Command, LeaseId, Request};
use witlock_session::server::ConnectionId;
use witlock_session::wire::goodbye::Reason;
use witlock_session::wire::to_client::Body as Told;
use witlock_session::wire::to_store::Body as Said;
use witlock_session::wire::{self, ToClient, ToStore};

use crate::ear::At;
use crate::ledger::Tag;
use crate::store::{Session, Store};

/// Commands of one piece of bytes, and who said it.
pub struct Hearing<'a> {
    pub store: &'a mut Store,
    pub id: ConnectionId,
    pub commands: Peekable<IntoIter<Command<'static>>>,
    /// All of it was heard.
    pub is_whole: bool,
    /// Nothing was under way as it came.
    pub is_alone: bool,
    /// Leases that were named wrongly.
    pub wrong: BTreeSet<u64>,
}

impl Store {
    /// Bytes arrive.
    pub fn hear(&mut self, id: ConnectionId, bytes: &[u8]) {
        let ear = self.ears.get_mut(&id).expect("a connection");
        let messages = ear.says(bytes);
        if ear.is_let_in {
            ear.heard_at = self.now;
        }
        let was_settled = self.is_settled();
        self.server.received(self.now, id, bytes);
        let commands = self.server.commands();
        let told = self.collect();
        let is_whole = !self.server.is_over(id);
        let is_alone = was_settled && messages.len() == 1;
        let mut hearing = Hearing {
            id,
            commands: commands.clone().into_iter().peekable(),
            is_whole,
            is_alone,
            wrong: BTreeSet::new(),
            store: self,
        };
        for message in messages {
            hearing.message(message);
        }
        let odd = hearing.commands.next();
        assert!(odd.is_none(), "nobody asked for {odd:?}");
        let wrong = hearing.wrong;
        self.driven.submitted.extend(commands);
        for (to, told) in told {
            let is_wrong = |it: &wire::Ended| wrong.contains(&it.fence);
            if !matches!(&told.body, Some(Told::Ended(ended)) if is_wrong(ended)) {
                self.answered_at_once(id, is_alone, to, told);
            }
        }
    }

    /// What is answered without the engine, and to whom.
    fn answered_at_once(
        &mut self,
        id: ConnectionId,
        is_alone: bool,
        to: ConnectionId,
        told: ToClient,
    ) {
        if to != id {
            return Self::assert_goodbyes(&[(to, told)], Reason::Replaced);
        }
        match told.body {
            Some(Told::Welcome(_)) => {
                let now = self.now;
                self.ears.entry(id).and_modify(|ear| ear.heard_at = now);
                self.tally.count("welcomes");
            }
            Some(Told::Ended(ended)) => {
                let ear = self.ears.get_mut(&id).expect("a connection");
                let Some(at) = ear.sessions.get_mut(&told.session) else {
                    return;
                };
                assert!(!at.told.contains(&ended.fence), "it lost what it has");
                at.forget(ended.fence);
                let has = self.driven.ledger.has(at.number, ended.fence);
                assert!(!is_alone || !has, "it lost what it has");
                self.tally.count("lost at once");
            }
            Some(Told::Goodbye(_) | Told::Pong(_) | Told::Denied(_) | Told::Left(_)) => {}
            Some(Told::Closing(_)) if self.is_closing => {}
            other => panic!("nobody did what is told: {other:?}"),
        }
    }
}

impl Hearing<'_> {
    pub fn take(&mut self, asked: impl Fn(&Command) -> bool) -> Option<Command<'static>> {
        self.commands.next_if(|command| asked(command))
    }

    fn message(&mut self, message: ToStore) {
        self.store.tally.count("messages");
        let own = message.session;
        let Some(body) = message.body else { return };
        if let Said::Enter(enter) = body {
            self.enter(own, &enter);
            return self.note_sent(own, message.sent);
        }
        self.note_sent(own, message.sent);
        if self.operate(&body) {
            return;
        }
        let Some(number) = self.number(own) else {
            return;
        };
        match body {
            Said::Hold(hold) => self.hold(number, &hold),
            Said::Cancel(cancel) => self.cancel(number, cancel.ask),
            Said::Renew(renew) => renew
                .leases
                .into_iter()
                .for_each(|it| self.renew(number, it)),
            Said::Release(release) => self.release(number, release.lease.unwrap_or_default()),
            Said::Leave(_) => self.leave(own, number),
            _ => {}
        }
    }

    fn number(&mut self, own: u64) -> Option<u64> {
        Some(self.store.ears[&self.id].sessions.get(&own)?.number)
    }

    fn note_sent(&mut self, own: u64, sent: u64) {
        if let Some(number) = self.number(own) {
            let now = self.store.now;
            self.store.session(number).sent.entry(sent).or_insert(now);
        }
    }

    fn enter(&mut self, own: u64, enter: &wire::Enter) {
        while let Some(Command::Suspend(number)) = self.take(|it| matches!(it, Command::Suspend(_)))
        {
            self.suspend(number);
        }
        let opened = self.take(|it| matches!(it, Command::OpenSession(_)));
        let Some(Command::OpenSession(open)) = opened else {
            return assert!(!self.is_whole, "an entry came to nothing");
        };
        let number = open.session;
        assert!(open.remote);
        let is_known = self.store.sessions.contains_key(&number);
        self.store
            .sessions
            .entry(number)
            .or_insert_with(|| Session {
                id: enter.id.clone(),
                at: None,
                sent: BTreeMap::new(),
            });
        let session = self.store.session(number);
        assert_eq!(session.id, enter.id);
        assert_eq!(session.at, None, "it is at two connections");
        session.at = Some((self.id, own));
        let others = self.store.sessions.values().filter(|it| it.id == enter.id);
        assert_eq!(others.count(), 1, "two sessions have one id");
        self.store.note_entry(number, enter);
        let ear = self.store.ears.get_mut(&self.id).expect("a connection");
        let before = ear.sessions.insert(own, At::new(number, enter));
        assert!(before.is_none(), "two sessions have one number");
        if is_known {
            self.resume(number, enter);
        }
    }

    fn suspend(&mut self, number: u64) {
        let session = self.store.session(number);
        let (at, own) = session.at.take().expect("at a connection");
        assert!(self.store.server.is_over(at), "it was at one that goes on");
        let ear = self.store.ears.get_mut(&at).expect("a connection");
        ear.sessions.remove(&own).expect("it was there");
    }

    fn resume(&mut self, number: u64, enter: &wire::Enter) {
        let Some(Command::Resume(resume)) = self.commands.next() else {
            panic!("a session came back, and the engine does not know");
        };
        assert_eq!(resume.session, number);
        let ledger = &self.store.driven.ledger;
        let mut named = enter.leases.iter().map(|lease| LeaseId::from(*lease));
        for lease in &resume.leases {
            let given = ledger.given[&lease.fence];
            assert_eq!((given.session, given.id), (number, *lease), "another's");
            assert!(named.any(|it| it == given.told), "it was not named");
        }
        let asks = enter.asks.iter().map(|ask| Request::from(*ask));
        assert!(resume.requests.into_iter().eq(asks));
        self.store
            .driven
            .ledger
            .tags
            .insert(resume.tag, Tag::Resume);
        self.store.tally.count("resumed");
    }
}

impl Store {
    fn note_entry(&mut self, number: u64, enter: &wire::Enter) {
        let who = enter.id.first().copied().unwrap_or_default();
        if let Some(entry) = self.entries.get_mut(usize::from(who)) {
            *entry = (*entry).max(enter.entry.min(1 << 60));
        }
        if self.driven.has_untold_trap() {
            self.driven.ledger.stale_sessions.insert(number);
        }
    }
}
