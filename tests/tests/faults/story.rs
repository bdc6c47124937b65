//! Histories written by hand, for tests of the checker.

use witlock_tests::record::{Answer, Claim, Moment, Part, Record};

use crate::breach::What;
use crate::checker::Checker;
use crate::faults::Faults;
use crate::guard::Guard;
use crate::history::History;

pub const SECOND: u64 = 1_000_000_000;

/// Of every lease, unless the test says otherwise.
pub const TTL: u64 = SECOND;

/// How much earlier a holder looks than the resource hears of it.
pub const TRANSIT: u64 = 1_000;

/// A story that grows record by record.
#[derive(Default)]
pub struct Story {
    pub history: History,
    guard: Guard,
    pub faults: Faults,
}

/// An ask of a process's: each makes one in these stories.
pub fn ask(process: u32) -> u64 {
    u64::from(process) << 32
}

/// What a process claims: a key of a lock, with itself as the fence.
pub fn claim(part: Part, process: u32, stamp: Moment) -> Claim {
    let checked = stamp - TRANSIT;
    Claim {
        part,
        ask: ask(process),
        key: "k".into(),
        limit: 1,
        ttl: TTL,
        fence: process.into(),
        checked,
        deadline: checked + TTL,
        gap: 0,
    }
}

impl Story {
    pub fn add(&mut self, stamp: Moment, record: Record) {
        let accepted = match &record {
            Record::Claim(claim) => Some(self.guard.accepts(claim)),
            _ => None,
        };
        self.history.add(stamp, record, accepted);
    }

    pub fn asks(&mut self, process: u32, at: Moment) {
        let (ask, wait) = (ask(process), SECOND);
        self.add(at, Record::Asked { ask, at, wait });
    }

    pub fn is_answered(&mut self, process: u32, at: Moment, answer: Answer) {
        let ask = ask(process);
        self.add(at, Record::Answered { ask, at, answer });
    }

    pub fn claims(&mut self, stamp: Moment, claim: Claim) {
        self.add(stamp, Record::Claim(claim));
    }

    /// A process asks, is answered and begins.
    pub fn begins_with(&mut self, stamp: Moment, begin: Claim) {
        let process = (begin.ask >> 32) as u32;
        self.asks(process, stamp - 3 * TRANSIT);
        self.is_answered(process, stamp - 2 * TRANSIT, Answer::Granted);
        self.claims(stamp, begin);
    }

    pub fn begins(&mut self, process: u32, stamp: Moment) {
        self.begins_with(stamp, claim(Part::Begin, process, stamp));
    }

    pub fn releases(&mut self, process: u32, stamp: Moment) {
        self.claims(stamp, claim(Part::End, process, stamp));
        let (ask, how) = (ask(process), "Released".into());
        self.add(stamp + 1, Record::Released { ask, how, gap: 0 });
    }

    pub fn loses(&mut self, process: u32, at: Moment, how: &str, gap: u64) {
        let (ask, how) = (ask(process), how.into());
        self.add(at + TRANSIT, Record::Lost { ask, at, how, gap });
    }

    pub fn holds(&mut self, process: u32, from: Moment, until: Moment) {
        self.begins(process, from);
        self.releases(process, until);
    }

    /// What the checker finds, each kind once.
    #[track_caller]
    pub fn breaks(&self, expected: &[What]) {
        let mut checker = Checker::new(&self.history, &self.faults);
        checker.check().check_end().check_restarts();
        let mut found: Vec<_> = checker.breaches().iter().map(|it| it.what).collect();
        found.dedup();
        assert_eq!(found, expected, "{:?}", checker.breaches());
    }
}
