//! What has to be so whenever nothing is under way.

use std::collections::{BTreeMap, BTreeSet};

use witlock_session::server::{HELLO_WAIT, SILENCE};

use crate::ear::{At, Ear};
use crate::store::Store;

impl Store {
    /// The server, the engine and who is connected agree.
    pub fn check(&self) {
        let (kept, counts) = (self.server.kept(), self.driven.counts());
        let asks = &self.driven.ledger.asks;
        let own = asks.values().filter(|ask| !ask.is_stale).count();
        assert_eq!(kept.asks, own, "{kept:?} {counts:?}");
        assert_eq!(counts.leases + counts.waiters, asks.len() as u64);
        assert_eq!(counts.leases, self.driven.ledger.held.len() as u64);
        assert_eq!(kept.under_way, 0, "{kept:?}");
        assert_eq!(kept.connections, self.ears.len());
        assert_eq!(kept.sessions, self.sessions.len());
        let stale = self.driven.ledger.stale_sessions.len();
        assert!(counts.sessions as usize <= kept.sessions + stale);
        for (id, ear) in &self.ears {
            if !self.server.is_over(*id) && !ear.is_deaf {
                ear.sessions.values().for_each(|at| self.check_at(at));
            }
        }
        self.check_lines();
        self.check_journal();
    }

    /// LOCK-07: a session that is connected knows what it has, and has what it knows.
    fn check_at(&self, at: &At) {
        let mut may_have = at.told.clone();
        may_have.extend(&at.named);
        for ask in self.driven.ledger.of(at.number) {
            let Some(fence) = ask.fence else { continue };
            let is_known = may_have.contains(&fence) || at.named_asks.contains(&ask.ask);
            assert!(is_known, "lease {fence} is kept of which nobody knows");
        }
        for fence in &at.told {
            let has = self.driven.ledger.has(at.number, *fence);
            assert!(has, "nobody said that lease {fence} ended");
        }
    }

    /// LOCK-09: an ask stands in one place.
    fn check_lines(&self) {
        let waiting = self.driven.ledger.asks.values();
        let waiting = waiting.filter(|ask| ask.fence.is_none());
        let mut places = BTreeSet::new();
        for ask in waiting {
            assert!(places.insert((ask.session, ask.ask)), "{ask:?} waits twice");
        }
    }

    /// LOCK-08: the next server will know every lease that lasts, as its holder does.
    fn check_journal(&self) {
        let kept: BTreeMap<_, _> = self.journal.leases().map(|it| (it.fence, it)).collect();
        let asks = self.driven.ledger.asks.values().filter(|ask| !ask.is_stale);
        for ask in asks {
            let Some(fence) = ask.fence else { continue };
            let kept = kept.get(&fence).expect("a record");
            let given = self.driven.ledger.given[&fence];
            assert_eq!(kept.session, self.sessions[&given.session].id);
            assert_eq!((kept.ask, kept.secret), (ask.ask, given.told.secret));
        }
        for fence in kept.keys() {
            // That it ended may not have been kept, or that it did not go on.
            let is_held = self.driven.ledger.held.contains(fence);
            assert!(is_held || self.may_know_more, "{fence} ended");
        }
    }

    /// After a tick: who is silent was cut off, and nobody else.
    pub fn check_silence(&self) {
        for (id, ear) in &self.ears {
            let is_silent = self.now >= ear.heard_at + patience(ear);
            assert!(!is_silent || self.server.is_over(*id), "{id:?} is silent");
        }
    }
}

/// How long a connection may be silent.
pub fn patience(ear: &Ear) -> u64 {
    match ear.is_let_in {
        true => SILENCE,
        false => HELLO_WAIT,
    }
}
