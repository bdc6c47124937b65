//! The locks as plainly as they can be told: lists, looked through whole.

use witlock_engine::{Ending, Hold, Ticket};
use witlock_tests::Why;

const NS_PER_MS: u64 = 1_000_000;

/// What happened, without what only the engine knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened {
    Granted {
        ticket: Ticket,
        fence: u64,
        until: u64,
    },
    Refused(Ticket, Why),
    Ended(Ticket, Ending),
    Renewed(u64),
    NotHeld,
}

/// An ask that waits, or the lease that came of it.
#[derive(Debug, Clone)]
pub struct Entry {
    pub hold: Hold,
    /// Counts asks while it waits, and is the fence once it is held.
    serial: u64,
    expires: u64,
    revoked: u64,
    gone: bool,
}

impl Entry {
    fn until(&self) -> u64 {
        self.expires.min(self.revoked)
    }
}

/// Sessions below this have leases with a ttl.
pub const REMOTE: u64 = 4;

#[derive(Debug, Default)]
pub struct Model {
    pub now: u64,
    pub held: Vec<Entry>,
    pub line: Vec<Entry>,
    asks: u64,
    fence: u64,
    pub happened: Vec<Happened>,
}

impl Model {
    /// Time goes on, and what is due ends: the earliest first, leases before
    /// waits.
    pub fn move_to(&mut self, now: u64) {
        self.now = now;
        while let Some((moment, is_wait, serial)) = self.next().filter(|due| due.0 <= now) {
            if is_wait {
                self.refuse(moment, Why::InUse, |entry| entry.serial == serial);
            } else {
                let revoked = self
                    .held
                    .iter()
                    .any(|it| it.serial == serial && it.revoked == moment);
                let how = if revoked {
                    Ending::Revoked
                } else {
                    Ending::Expired
                };
                self.end(moment, how, |entry| entry.serial == serial);
            }
        }
    }

    pub fn next(&self) -> Option<(u64, bool, u64)> {
        let leases = self.held.iter().map(|it| (it.until(), false, it.serial));
        let waits = self.line.iter().map(|it| (it.until(), true, it.serial));
        leases.chain(waits).filter(|due| due.0 < u64::MAX).min()
    }

    pub fn hold(&mut self, hold: Hold) {
        let used = self.held.iter().find(|it| is_same_key(&it.hold, &hold));
        let limit = hold.limit.unwrap_or(1);
        if let Some(used) = used.and_then(|it| it.hold.limit).filter(|it| *it != limit) {
            let why = format!("the key is in use under the limit {used}, not {limit}");
            return self
                .happened
                .push(Happened::Refused(hold.ticket, Why::Invalid(why)));
        }
        let all = self.held.iter().chain(&self.line);
        let own = all.filter(|it| it.hold.session == hold.session && is_same_key(&it.hold, &hold));
        let why = match hold.alone && own.count() as u32 >= limit {
            true => Why::HeldByCaller,
            false => Why::InUse,
        };
        let wait = hold.wait.expect("a wait");
        let free = self.is_free(&hold);
        if why == Why::HeldByCaller || !free && wait == 0 {
            return self.happened.push(Happened::Refused(hold.ticket, why));
        }
        self.asks += 1;
        let entry = Entry {
            serial: self.asks,
            expires: self.now + u64::from(wait) * NS_PER_MS,
            revoked: u64::MAX,
            gone: false,
            hold,
        };
        match free {
            true => self.grant(entry),
            false => self.line.push(entry),
        }
    }

    pub fn cancel(&mut self, ticket: Ticket) {
        let is_it = |entry: &Entry| entry.hold.ticket == ticket;
        self.refuse(self.now + 1, Why::Cancelled, is_it);
    }

    pub fn release(&mut self, ticket: Ticket) {
        let is_it = |entry: &Entry| entry.hold.ticket == ticket;
        if !self.end(self.now + 1, Ending::Released, is_it) {
            self.happened.push(Happened::NotHeld);
        }
    }

    pub fn renew(&mut self, ticket: Ticket) {
        let Some(lease) = self.held.iter_mut().find(|it| it.hold.ticket == ticket) else {
            return self.happened.push(Happened::NotHeld);
        };
        lease.expires = expiry(&lease.hold, self.now);
        let until = lease.until();
        self.happened.push(Happened::Renewed(until));
    }

    /// All that the session waits for leaves, then all that it holds ends.
    pub fn end_session(&mut self, session: u64) {
        let is_its = |entry: &Entry| entry.hold.session == session;
        let entries = self.line.iter_mut().chain(&mut self.held);
        entries
            .filter(|it| is_its(it))
            .for_each(|it| it.gone = true);
        while self.refuse(self.now + 1, Why::Closed, is_its) {}
        while self.end(self.now + 1, Ending::Released, is_its) {}
    }

    /// The first such in line leaves, and its line is looked at.
    fn refuse(&mut self, moment: u64, why: Why, which: impl Fn(&Entry) -> bool) -> bool {
        let Some(at) = self.line.iter().position(which) else {
            return false;
        };
        let left = self.line.remove(at).hold;
        self.happened.push(Happened::Refused(left.ticket, why));
        self.serve(&left, moment);
        true
    }

    /// The first such lease ends, and its key goes on.
    fn end(&mut self, moment: u64, how: Ending, which: impl Fn(&Entry) -> bool) -> bool {
        let Some(at) = self.held.iter().position(which) else {
            return false;
        };
        let ended = self.held.remove(at).hold;
        self.happened.push(Happened::Ended(ended.ticket, how));
        self.serve(&ended, moment);
        true
    }

    /// Serves a key's line as far as the key is free.
    fn serve(&mut self, key: &Hold, moment: u64) {
        while self
            .held
            .iter()
            .filter(|it| is_same_key(&it.hold, key))
            .count()
            < key.limit.unwrap_or(1) as usize
        {
            let Some(at) = self.line.iter().position(|it| is_same_key(&it.hold, key)) else {
                return;
            };
            let head = self.line.remove(at);
            let why = if head.gone { Why::Closed } else { Why::InUse };
            match head.gone || head.until() < moment {
                true => self.happened.push(Happened::Refused(head.hold.ticket, why)),
                false => self.grant(head),
            }
        }
    }

    fn is_free(&self, hold: &Hold) -> bool {
        let held = self.held.iter().filter(|it| is_same_key(&it.hold, hold));
        let waits = self.line.iter().any(|it| is_same_key(&it.hold, hold));
        held.count() < hold.limit.unwrap_or(1) as usize && !waits
    }

    fn grant(&mut self, entry: Entry) {
        self.fence += 1;
        let max_hold = entry.hold.options.max_hold.map(u64::from);
        let lease = Entry {
            serial: self.fence,
            expires: expiry(&entry.hold, self.now),
            revoked: max_hold.map_or(u64::MAX, |span| self.now + span * NS_PER_MS),
            ..entry
        };
        self.happened.push(Happened::Granted {
            ticket: lease.hold.ticket,
            fence: self.fence,
            until: lease.until(),
        });
        self.held.push(lease);
    }
}

fn expiry(hold: &Hold, now: u64) -> u64 {
    let ttl = hold.options.ttl.filter(|_| hold.session < REMOTE);
    ttl.map_or(u64::MAX, |ttl| now + u64::from(ttl) * NS_PER_MS)
}

fn is_same_key(one: &Hold, other: &Hold) -> bool {
    one.key == other.key && one.limit.is_some() == other.limit.is_some()
}
