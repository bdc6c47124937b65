//! The locks as plainly as they can be told: lists, looked through whole.

use std::collections::VecDeque;
use std::ops::Range;

use witlock_engine::bounds::{FENCE_WAIT, RECONNECT};
use witlock_engine::{Counts, Ending, Ticket};

use super::history::{Ask, REMOTE};
use crate::Why;

const NEVER: u64 = u64::MAX;

/// What happened, without what only the engine knows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // documented in the engine
pub enum Happened {
    Granted {
        ticket: Ticket,
        fence: u64,
        expires: u64,
        revoked: u64,
    },
    Refused(Ticket, Why),
    Ended(Ticket, Ending),
    Superseded(Ticket),
    Renewed(u64),
    NotHeld,
    Fine,
    Counted(Counts),
    FencesLow(u64),
}

/// A lock's or a semaphore's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Whether it is a semaphore's.
    pub semaphore: bool,
    /// Which.
    pub key: u8,
}

/// An ask in line, or the lease that came of it.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The number it goes by now.
    pub ticket: Ticket,
    /// What was asked.
    pub ask: Ask,
    /// When it came in line, or was granted.
    pub since: u64,
    /// Counts arrivals while it waits; the fence once it is held.
    pub serial: u64,
    /// Its place among those of its session.
    order: u64,
    /// When its wait or its ttl runs out.
    pub expires: u64,
    /// When its max-hold is over.
    pub revoked: u64,
    /// When it ends unless its session comes back.
    unseen: u64,
    /// Its session gave it up.
    pub gone: bool,
}

impl Entry {
    /// What it is for.
    pub fn key(&self) -> Key {
        key_of(&self.ask)
    }

    /// When it ends by itself.
    pub fn until(&self) -> u64 {
        self.expires.min(self.revoked).min(self.unseen)
    }
}

#[derive(Debug, Clone)]
struct Holder {
    session: u64,
    reconnect: Option<u64>,
    ended: bool,
    /// What it gave up is not ended yet.
    sweeping: bool,
    swept: Ending,
}

/// What comes due next: when, and of those of one moment the grace, leases, waits
/// and sessions, each in their order.
type Due = (u64, u8, u64);

/// The locks, and what happened to them.
#[derive(Debug, Default)]
pub struct Model {
    pub(super) now: u64,
    pub(super) held: Vec<Entry>,
    pub(super) line: Vec<Entry>,
    pub(super) happened: Vec<Happened>,
    /// By place, each in the first that was free.
    holders: Vec<Option<Holder>>,
    sweeping: VecDeque<u64>,
    bound: u32,
    arrivals: u64,
    orders: u64,
    fences: VecDeque<Range<u64>>,
    fences_end: u64,
    low: u64,
    asked_for_fences: bool,
    fence_wanted: bool,
    no_fences: Option<String>,
    /// Keys that are free and have a line, but no fence.
    unsettled: VecDeque<Key>,
    closing: bool,
    /// No key is given until then.
    grace: Option<u64>,
}

impl Model {
    /// Locks whose sessions may hold, and wait for, so many keys.
    pub fn new(bound: u32) -> Self {
        Model {
            bound,
            ..Model::default()
        }
    }

    /// Time goes on, and what is due ends.
    pub fn move_to(&mut self, now: u64) {
        self.now = self.now.max(now);
        while let Some(due) = self.next_due().filter(|due| due.0 <= self.now) {
            self.end_due(due);
        }
        self.work_off();
    }

    fn end_due(&mut self, (moment, kind, serial): Due) {
        match kind {
            0 => self.end_grace(moment),
            1 => {
                let at = position(&self.held, |it| it.serial == serial);
                let revoked = self.held[at].revoked == moment;
                let how = match revoked {
                    true => Ending::Revoked,
                    false => Ending::Expired,
                };
                self.end(at, how, moment);
            }
            2 => {
                let at = position(&self.line, |it| it.serial == serial);
                let why = self.refusal_for_wait(at);
                self.refuse(at, why, moment);
            }
            _ => {
                self.holder_mut(serial).reconnect = Some(NEVER);
                self.give_up_line(serial);
            }
        }
    }

    fn next_due(&self) -> Option<Due> {
        let grace = self.grace.iter().map(|until| (*until, 0, 0));
        let leases = self.held.iter().map(|it| (it.until(), 1, it.serial));
        let waits = self.line.iter().map(|it| (it.until(), 2, it.serial));
        let holders = self.holders.iter().flatten();
        let away = holders.map(|it| (it.reconnect.unwrap_or(NEVER), 3, it.session));
        let all = grace.chain(leases).chain(waits).chain(away);
        all.filter(|due| due.0 < NEVER).min()
    }

    /// When something is due next.
    pub fn next(&self) -> Option<u64> {
        self.next_due().map(|due| due.0)
    }

    /// A command is over: what it left to be done is done.
    fn work_off(&mut self) {
        while let Some(session) = self.sweeping.front().copied() {
            self.sweep(session);
            self.sweeping.pop_front();
            self.holder_mut(session).sweeping = false;
            self.forget_done(session);
        }
        self.settle_unsettled(self.now + 1);
        if self.unsettled.is_empty() || self.grace.is_some() {
            self.no_fences = None;
        }
    }

    fn settle_unsettled(&mut self, moment: u64) {
        while self.can_settle()
            && let Some(key) = self.unsettled.pop_front()
        {
            self.settle(key, moment);
        }
    }

    fn sweep(&mut self, session: u64) {
        let is_its = |it: &Entry| it.ask.session == session && it.gone;
        while let Some(at) = first_of(&self.line, is_its) {
            self.refuse(at, Why::Closed, self.now + 1);
        }
        while let Some(at) = first_of(&self.held, is_its) {
            let how = self.holder_mut(session).swept;
            self.end(at, how, self.now + 1);
        }
    }

    fn can_settle(&self) -> bool {
        let served = self.left() > 0 || self.no_fences.is_some();
        served && self.grace.is_none() || self.closing
    }

    /// The step is over: whether more fences are asked for.
    pub fn end_step(&mut self) {
        let wanted = std::mem::take(&mut self.fence_wanted);
        if !self.asked_for_fences && (wanted || self.left() < self.low) {
            self.asked_for_fences = true;
            self.happened.push(Happened::FencesLow(self.left()));
        }
    }

    // Commands.

    /// Opens a session.
    pub fn open(&mut self, session: u64) {
        if self.holder(session).is_none() {
            let holder = Some(Holder {
                session,
                reconnect: None,
                ended: false,
                sweeping: false,
                swept: Ending::Released,
            });
            match self.holders.iter_mut().find(|place| place.is_none()) {
                Some(place) => *place = holder,
                None => self.holders.push(holder),
            }
        }
        self.work_off();
    }

    /// Asks for a key.
    pub fn hold(&mut self, ticket: Ticket, ask: Ask) {
        if let Err(why) = self.ask(ticket, ask) {
            self.happened.push(Happened::Refused(ticket, why));
        }
        self.work_off();
    }

    fn ask(&mut self, ticket: Ticket, ask: Ask) -> Result<(), Why> {
        let is_open = |it: &Holder| !it.ended && !self.closing;
        if !self.holder(ask.session).is_some_and(is_open) {
            return Err(Why::Closed);
        }
        if self.ask_again(ticket, &ask)? {
            return Ok(());
        }
        let key = key_of(&ask);
        let limit = self.check_limit(&ask)?;
        let is_its = |it: &&Entry| it.ask.session == ask.session && it.key() == key;
        let own = self.held.iter().chain(&self.line).filter(is_its).count();
        if ask.alone && own as u32 >= limit {
            return Err(Why::HeldByCaller);
        }
        let unheld = self.is_free(key, limit) && !self.line.iter().any(|it| it.key() == key);
        let free = unheld && self.grace.is_none();
        if !free && ask.wait == 0 {
            return Err(Why::InUse);
        }
        if free && !self.may_hold(ask.session) {
            return Err(self.too_many("holds"));
        }
        let waits = !free || self.left() == 0;
        if waits && self.count(&self.line, ask.session) >= self.bound {
            return Err(self.too_many("waits for"));
        }
        let wait = match free {
            true => ask.wait.max(FENCE_WAIT),
            false => ask.wait,
        };
        let entry = self.entry(ticket, ask, wait);
        if !waits {
            self.grant(entry);
        } else {
            self.line.push(entry);
            self.fence_wanted |= free;
            if unheld {
                self.unsettled.push_back(key);
            }
        }
        Ok(())
    }

    fn ask_again(&mut self, ticket: Ticket, ask: &Ask) -> Result<bool, Why> {
        let is_it = |it: &Entry| {
            ask.request.is_some() && it.ask.request == ask.request && it.ask.session == ask.session
        };
        let all = self.line.iter().chain(&self.held);
        let Some(key) = all.clone().find(|it| is_it(it)).map(Entry::key) else {
            return Ok(false);
        };
        if key != key_of(ask) {
            return Err(Why::Invalid("the request named another key before".into()));
        }
        self.check_limit(ask)?;
        if let Some(at) = self.line.iter().position(is_it) {
            let before = std::mem::replace(&mut self.line[at].ticket, ticket);
            self.happened.push(Happened::Superseded(before));
        }
        if let Some(at) = self.held.iter().position(is_it) {
            self.keep(at);
            let before = std::mem::replace(&mut self.held[at].ticket, ticket);
            self.happened.push(Happened::Superseded(before));
            self.happened.push(granted(&self.held[at]));
        }
        Ok(true)
    }

    /// The limit under which a key is in use, or would be.
    fn check_limit(&self, ask: &Ask) -> Result<u32, Why> {
        let asked = ask.limit.unwrap_or(1);
        let mut all = self.held.iter().chain(&self.line);
        let used = all.find(|it| it.key() == key_of(ask));
        let used = used.map_or(asked, |it| it.ask.limit.unwrap_or(1));
        match used == asked {
            true => Ok(used),
            false => Err(Why::Invalid(format!(
                "the key is in use under the limit {used}, not {asked}"
            ))),
        }
    }

    fn entry(&mut self, ticket: Ticket, ask: Ask, wait: u32) -> Entry {
        self.arrivals += 1;
        self.orders += 1;
        Entry {
            ticket,
            ask,
            since: self.now,
            serial: self.arrivals,
            order: self.orders,
            expires: after(self.now, wait),
            revoked: NEVER,
            unseen: NEVER,
            gone: false,
        }
    }

    /// Somebody leaves a line.
    pub fn cancel(&mut self, ticket: Ticket) {
        if let Some(at) = self.line.iter().position(|it| it.ticket == ticket) {
            self.refuse(at, Why::Cancelled, self.now + 1);
        }
        self.work_off();
    }

    /// A lease is released, by its fence.
    pub fn release(&mut self, fence: u64) {
        match self.held.iter().position(|it| it.serial == fence) {
            Some(at) => self.end(at, Ending::Released, self.now + 1),
            None => self.happened.push(Happened::NotHeld),
        }
        self.work_off();
    }

    /// A lease is broken, by its fence.
    pub fn break_lease(&mut self, fence: u64) {
        match self.held.iter().position(|it| it.serial == fence) {
            Some(at) => {
                self.end(at, Ending::Broken, self.now + 1);
                self.happened.push(Happened::Fine);
            }
            None => self.happened.push(Happened::NotHeld),
        }
        self.work_off();
    }

    /// A lease is renewed, by its fence.
    pub fn renew(&mut self, fence: u64) {
        match self.held.iter().position(|it| it.serial == fence) {
            Some(at) => {
                self.keep(at);
                let until = self.held[at].until();
                self.happened.push(Happened::Renewed(until));
            }
            None => self.happened.push(Happened::NotHeld),
        }
        self.work_off();
    }

    /// Its holder counts on a lease.
    fn keep(&mut self, at: usize) {
        let lease = &mut self.held[at];
        lease.unseen = NEVER;
        lease.expires = expiry(&lease.ask, self.now);
    }

    /// A session ends.
    pub fn end_session(&mut self, session: u64) {
        if self.holder(session).is_some_and(|it| !it.ended) {
            let lost = self.closing && session >= REMOTE;
            self.holder_mut(session).ended = true;
            self.give_up_line(session);
            self.give_up_leases(
                session,
                if lost {
                    Ending::Closed
                } else {
                    Ending::Released
                },
            );
        }
        self.work_off();
    }

    /// A session's connection is gone.
    pub fn suspend(&mut self, session: u64) {
        let until = after(self.now, RECONNECT);
        if self.holder(session).is_some() {
            self.holder_mut(session).reconnect = Some(until);
            self.forget_done(session);
        }
        self.work_off();
    }

    /// A session is back, with these leases, by their fences, and these requests.
    pub fn resume(&mut self, session: u64, fences: &[u64], requests: &[u8]) {
        if self.holder(session).is_none_or(|it| it.ended) {
            self.happened.push(Happened::NotHeld);
            return self.work_off();
        }
        self.holder_mut(session).reconnect = None;
        self.give_up_leases(session, Ending::Released);
        self.give_up_line(session);
        let is_its = |it: &Entry| it.ask.session == session;
        for fence in fences {
            let named = |it: &Entry| is_its(it) && it.serial == *fence;
            self.keep_named(named, |_| false);
        }
        for request in requests {
            let named = |it: &Entry| is_its(it) && it.ask.request == Some(*request);
            self.keep_named(named, named);
        }
        self.happened.push(Happened::Fine);
        self.work_off();
    }

    fn keep_named(&mut self, lease: impl Fn(&Entry) -> bool, ask: impl Fn(&Entry) -> bool) {
        if let Some(at) = self.held.iter().position(|it| lease(it) && it.gone) {
            self.orders += 1;
            self.held[at].gone = false;
            self.held[at].order = self.orders;
            self.keep(at);
        }
        if let Some(at) = self.line.iter().position(|it| ask(it) && it.gone) {
            self.orders += 1;
            self.line[at].gone = false;
            self.line[at].order = self.orders;
        }
    }

    /// The store closes.
    pub fn close(&mut self) {
        self.closing = true;
        let sessions: Vec<_> = self.holders.iter().flatten().map(|it| it.session).collect();
        for session in sessions {
            self.give_up_line(session);
            if session >= REMOTE && !self.holder_mut(session).ended {
                self.give_up_leases(session, Ending::Closed);
            }
        }
        self.work_off();
    }

    /// Fences that were reserved.
    pub fn add_fences(&mut self, range: Range<u64>) {
        let range = range.start.max(self.fences_end)..range.end;
        if !range.is_empty() {
            self.fences_end = range.end;
            self.low = (range.end - range.start) / 2;
            self.asked_for_fences = false;
            self.fences.push_back(range);
            self.no_fences = None;
        }
        self.work_off();
    }

    /// No key is given before a moment.
    pub fn begin_grace(&mut self, until: u64) {
        match until > self.now {
            true => self.grace = Some(until),
            false => self.end_grace(self.now + 1),
        }
        self.work_off();
    }

    fn end_grace(&mut self, moment: u64) {
        if self.grace.take().is_none() {
            return;
        }
        self.fence_wanted |= !self.unsettled.is_empty() && self.left() == 0;
        self.settle_unsettled(moment);
    }

    /// No fences can be had.
    pub fn fences_failed(&mut self, why: &str) {
        self.asked_for_fences = false;
        self.no_fences = Some(why.into());
        self.work_off();
    }

    /// How many of these a session has, without what it gave up.
    fn count(&self, entries: &[Entry], session: u64) -> u32 {
        let is_its = |it: &&Entry| it.ask.session == session && !it.gone;
        entries.iter().filter(is_its).count() as u32
    }

    /// Says what is kept.
    pub fn counts(&mut self) {
        let mut keys: Vec<_> = self.held.iter().chain(&self.line).map(Entry::key).collect();
        keys.sort_unstable();
        keys.dedup();
        let counts = Counts {
            keys: keys.len() as u64,
            leases: self.held.len() as u64,
            waiters: self.line.len() as u64,
            sessions: self.holders.iter().flatten().count() as u64,
            fences: self.left(),
        };
        self.happened.push(Happened::Counted(counts));
        self.work_off();
    }

    // Lines.

    /// Takes an ask out of its line, and looks at the line.
    fn refuse(&mut self, at: usize, why: Why, moment: u64) {
        let key = self.line[at].key();
        self.take_from_line(at, why);
        self.settle(key, moment);
    }

    fn take_from_line(&mut self, at: usize, why: Why) {
        let left = self.line.remove(at);
        self.happened.push(Happened::Refused(left.ticket, why));
        self.forget_done(left.ask.session);
    }

    /// Ends a lease, and its key goes on.
    fn end(&mut self, at: usize, how: Ending, moment: u64) {
        let ended = self.held.remove(at);
        self.happened.push(Happened::Ended(ended.ticket, how));
        self.settle(ended.key(), moment);
        self.forget_done(ended.ask.session);
    }

    /// Serves a key's line as far as the key is free.
    fn settle(&mut self, key: Key, moment: u64) {
        while let Some(at) = self.line.iter().position(|it| it.key() == key)
            && self.is_free(key, self.line[at].ask.limit.unwrap_or(1))
        {
            if let Some(why) = self.refusal_of_head(at, moment) {
                self.take_from_line(at, why);
            } else if self.left() > 0 && self.grace.is_none() {
                let head = self.line.remove(at);
                self.grant(head);
            } else {
                self.fence_wanted |= self.no_fences.is_none() && self.grace.is_none();
                if !self.unsettled.contains(&key) {
                    self.unsettled.push_back(key);
                }
                return;
            }
        }
        self.unsettled.retain(|it| *it != key);
    }

    fn refusal_of_head(&self, at: usize, moment: u64) -> Option<Why> {
        let head = &self.line[at];
        if self.closing {
            return Some(Why::Closed);
        }
        if head.gone || head.until() < moment {
            return Some(self.refusal_for_wait(at));
        }
        if self.grace.is_some() {
            return None;
        }
        if let Some(why) = self.no_fences.as_ref().filter(|_| self.left() == 0) {
            return Some(Why::Unavailable(why.clone()));
        }
        (!self.may_hold(head.ask.session)).then(|| self.too_many("holds"))
    }

    fn refusal_for_wait(&self, at: usize) -> Why {
        let it = &self.line[at];
        let is_head = self.line.iter().position(|other| other.key() == it.key()) == Some(at);
        let free = self.is_free(it.key(), it.ask.limit.unwrap_or(1));
        if it.gone {
            Why::Closed
        } else if is_head && free && self.left() == 0 && self.grace.is_none() {
            let why = format!("no durable fence could be had within {FENCE_WAIT} ms");
            Why::Unavailable(why)
        } else {
            Why::InUse
        }
    }

    fn grant(&mut self, asked: Entry) {
        let range = self.fences.front_mut().expect("a fence");
        let fence = range.next().expect("no range is empty");
        if range.is_empty() {
            self.fences.pop_front();
        }
        let reconnect = self.holder_mut(asked.ask.session).reconnect;
        let max_hold = asked.ask.max_hold;
        self.orders += 1;
        let lease = Entry {
            since: self.now,
            serial: fence,
            order: self.orders,
            expires: expiry(&asked.ask, self.now),
            revoked: max_hold.map_or(NEVER, |span| after(self.now, span)),
            unseen: reconnect.unwrap_or(NEVER),
            ..asked
        };
        self.happened.push(granted(&lease));
        self.held.push(lease);
    }

    /// A lease of before goes on, from now by its ttl.
    pub fn restore(&mut self, lease: Entry) {
        self.orders += 1;
        let lease = Entry {
            order: self.orders,
            expires: expiry(&lease.ask, self.now),
            unseen: NEVER,
            ..lease
        };
        self.happened.push(granted(&lease));
        self.held.push(lease);
        self.work_off();
    }

    fn is_free(&self, key: Key, limit: u32) -> bool {
        let held = self.held.iter().filter(|it| it.key() == key);
        (held.count() as u32) < limit
    }

    fn may_hold(&self, session: u64) -> bool {
        self.count(&self.held, session) < self.bound
    }

    fn too_many(&self, what: &str) -> Why {
        let bound = self.bound;
        Why::TooMany(format!("the holder {what} {bound} keys, as many as it may"))
    }

    pub(super) fn left(&self) -> u64 {
        self.fences
            .iter()
            .map(|range| range.end - range.start)
            .sum()
    }

    // Sessions.

    fn holder(&self, session: u64) -> Option<&Holder> {
        let mut all = self.holders.iter().flatten();
        all.find(|it| it.session == session)
    }

    fn holder_mut(&mut self, session: u64) -> &mut Holder {
        let mut all = self.holders.iter_mut().flatten();
        let found = all.find(|it| it.session == session);
        found.expect("a session that is kept")
    }

    fn give_up_line(&mut self, session: u64) {
        let is_its = |it: &&mut Entry| it.ask.session == session;
        self.line
            .iter_mut()
            .filter(is_its)
            .for_each(|it| it.gone = true);
        self.sweep_later(session);
    }

    fn give_up_leases(&mut self, session: u64, how: Ending) {
        let is_its = |it: &&mut Entry| it.ask.session == session;
        self.held
            .iter_mut()
            .filter(is_its)
            .for_each(|it| it.gone = true);
        self.holder_mut(session).swept = how;
        self.sweep_later(session);
    }

    fn sweep_later(&mut self, session: u64) {
        if !std::mem::replace(&mut self.holder_mut(session).sweeping, true) {
            self.sweeping.push_back(session);
        }
    }

    /// A session that is gone, and has nothing, is not kept.
    fn forget_done(&mut self, session: u64) {
        let is_its = |it: &Entry| it.ask.session == session;
        if self.held.iter().chain(&self.line).any(is_its) {
            return;
        }
        for place in &mut self.holders {
            let is_done = |it: &Holder| {
                it.session == session && !it.sweeping && (it.ended || it.reconnect.is_some())
            };
            if place.as_ref().is_some_and(is_done) {
                *place = None;
            }
        }
    }

    /// What holds of the locks whatever happened.
    ///
    /// # Errors
    ///
    /// What does not.
    pub fn check(&self) -> Result<(), String> {
        for it in self.held.iter().chain(&self.line) {
            let limit = it.ask.limit.unwrap_or(1);
            let held = self.held.iter().filter(|other| other.key() == it.key());
            if held.count() as u32 > limit {
                return Err(format!("{:?} has more holders than {limit}", it.key()));
            }
            if it.until() <= self.now {
                return Err(format!("ticket {} is past its time", it.ticket));
            }
        }
        let idle = |it: &&Entry| {
            let fits = self.is_free(it.key(), it.ask.limit.unwrap_or(1));
            fits && self.left() > 0 && self.grace.is_none()
        };
        match self.line.iter().find(idle) {
            Some(it) => Err(format!(
                "{:?} is free, and ticket {} waits",
                it.key(),
                it.ticket
            )),
            None => Ok(()),
        }
    }
}

fn granted(lease: &Entry) -> Happened {
    Happened::Granted {
        ticket: lease.ticket,
        fence: lease.serial,
        expires: lease.expires,
        revoked: lease.revoked,
    }
}

fn key_of(ask: &Ask) -> Key {
    Key {
        semaphore: ask.limit.is_some(),
        key: ask.key,
    }
}

fn expiry(ask: &Ask, now: u64) -> u64 {
    match ask.session < REMOTE {
        true => after(now, ask.ttl),
        false => NEVER,
    }
}

fn after(now: u64, span: u32) -> u64 {
    now + u64::from(span) * 1_000_000
}

fn position(entries: &[Entry], is_it: impl Fn(&Entry) -> bool) -> usize {
    entries
        .iter()
        .position(is_it)
        .expect("what is due is there")
}

/// The first of a session's, in its session's order.
fn first_of(entries: &[Entry], is_its: impl Fn(&Entry) -> bool) -> Option<usize> {
    let its = entries.iter().enumerate().filter(|(_, it)| is_its(it));
    its.min_by_key(|(_, it)| it.order).map(|(at, _)| at)
}
