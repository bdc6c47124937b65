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
use crate::engine::News;
use crate::ledger::Tag;
use crate::store::{Session, Store};

/// Commands of one piece of bytes, and who said it.
struct Hearing<'a> {
    store: &'a mut Store,
    id: ConnectionId,
    commands: Peekable<IntoIter<Command<'static>>>,
    /// All of it was heard.
    is_whole: bool,
    /// Nothing was under way as it came.
    is_alone: bool,
    /// Leases that were named wrongly.
    wrong: BTreeSet<u64>,
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
    fn take(&mut self, asked: impl Fn(&Command) -> bool) -> Option<Command<'static>> {
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

    /// LOCK-10: a lease is named to the engine only for the session whose it is.
    fn may_name(&self, number: u64, lease: LeaseId) -> bool {
        let given = &self.store.driven.ledger.given;
        given.get(&lease.fence) == Some(&(number, lease))
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
            assert_eq!(ledger.given[&lease.fence], (number, *lease), "another's");
            assert!(named.any(|it| it == *lease), "it was not named");
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

    fn hold(&mut self, number: u64, said: &wire::Hold) {
        let Some(command) = self.take(|it| matches!(it, Command::Hold(_))) else {
            return assert!(!self.is_whole, "an ask came to nothing");
        };
        let Command::Hold(hold) = &command else {
            return;
        };
        assert_eq!(hold.session, number);
        assert_eq!(hold.request, Some(Request::from(said.ask)));
        assert_eq!((&*hold.name, &*hold.key), (&*said.name, &*said.key));
        assert_eq!((hold.limit, hold.wait), (said.limit, said.wait));
        let options = &hold.options;
        assert_eq!((options.ttl, options.max_hold), (said.ttl, said.max_hold));
        let news = self.store.driven.news.iter();
        let is_stale = news.into_iter().any(|it| matches!(it, News::BeganAnew));
        self.store.driven.ledger.note_hold(&command, is_stale);
        self.store.tally.count("asks");
    }

    fn cancel(&mut self, number: u64, ask: u64) {
        let ledger = &self.store.driven.ledger;
        let is_it = |it: &crate::ledger::Ask| (it.session, it.ask) == (number, ask);
        let waits = ledger.of(number).any(|it| is_it(it) && it.fence.is_none());
        let known = ledger.asks.clone();
        let is_asked = |it: &Command| match it {
            Command::Cancel(ticket) => known.get(ticket).is_none_or(is_it),
            _ => false,
        };
        let cancelled = self.take(is_asked);
        // Asked again, it has two tickets until the engine has said more.
        while self.take(is_asked).is_some() {}
        let must = self.is_alone && self.is_whole && waits;
        assert!(!must || cancelled.is_some(), "it waits on");
        if must {
            self.store.tally.count("cancelled");
        }
    }

    fn renew(&mut self, number: u64, lease: wire::Lease) {
        let named = LeaseId::from(lease);
        let fence = named.fence;
        let may = self.may_name(number, named);
        let is_it = |it: &Command| matches!(it, Command::Renew { lease, .. } if *lease == named);
        let taken = self.take(|it| may && is_it(it));
        let Some(Command::Renew { tag, .. }) = taken else {
            return self.assert_not_had(number, named);
        };
        let session = number;
        let tags = &mut self.store.driven.ledger.tags;
        tags.insert(tag, Tag::Renew { session, fence });
    }

    fn release(&mut self, number: u64, lease: wire::Lease) {
        let named = LeaseId::from(lease);
        let fence = named.fence;
        let may = self.may_name(number, named);
        let is_it = |it: &Command| matches!(it, Command::Release { lease, .. } if *lease == named);
        let taken = self.take(|it| may && is_it(it));
        let Some(Command::Release { tag, .. }) = taken else {
            return self.assert_not_had(number, named);
        };
        let session = number;
        let tags = &mut self.store.driven.ledger.tags;
        tags.insert(tag, Tag::Release { session, fence });
    }

    /// The engine hears nothing of what a session has not, or does not know.
    fn assert_not_had(&mut self, number: u64, named: LeaseId) {
        let ledger = &self.store.driven.ledger;
        let given = ledger.given.get(&named.fence);
        if given.is_some_and(|(_, lease)| lease.secret != named.secret) {
            self.wrong.insert(named.fence);
            return;
        }
        let must = self.is_alone && self.is_whole && ledger.has(number, named.fence);
        assert!(!must, "the engine does not hear of a lease");
        if ledger.held.contains(&named.fence) {
            self.store.tally.count("another's");
        }
    }

    fn leave(&mut self, own: u64, number: u64) {
        let left = self.take(|it| *it == Command::EndSession(number));
        if left.is_none() {
            return assert!(!self.is_whole, "it is kept");
        }
        self.store.sessions.remove(&number);
        let ear = self.store.ears.get_mut(&self.id).expect("a connection");
        ear.sessions.remove(&own);
        self.store.tally.count("left");
    }

    /// Whether it is an operator's to say.
    fn operate(&mut self, said: &Said) -> bool {
        let own = match said {
            Said::ListHoldings(it) => it.tag,
            Said::ListWaiters(it) => it.tag,
            Said::Break(it) => it.tag,
            Said::Count(it) => it.tag,
            _ => return false,
        };
        let is_operator = self.store.ears[&self.id].is_operator;
        let tag = self.commands.peek().and_then(operators_tag);
        if let Some(tag) = tag {
            assert!(is_operator, "it is no operator");
            self.commands.next();
            let tags = &mut self.store.driven.ledger.tags;
            tags.insert(tag, Tag::Operator(self.id, own));
        }
        assert!(tag.is_some() || !is_operator || !self.is_whole);
        true
    }
}

fn operators_tag(command: &Command) -> Option<u64> {
    match command {
        Command::ListHoldings { tag, .. }
        | Command::ListWaiters { tag, .. }
        | Command::Break { tag, .. }
        | Command::Count { tag } => Some(*tag),
        _ => None,
    }
}

impl Store {
    fn note_entry(&mut self, number: u64, enter: &wire::Enter) {
        let who = enter.id.first().copied().unwrap_or_default();
        if let Some(entry) = self.entries.get_mut(usize::from(who)) {
            *entry = (*entry).max(enter.entry.min(1 << 60));
        }
        let is_stale = |it: &News| matches!(it, News::BeganAnew);
        if self.driven.news.iter().any(is_stale) {
            self.driven.ledger.stale_sessions.insert(number);
        }
    }
}
