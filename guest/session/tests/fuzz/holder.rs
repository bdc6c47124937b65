//! A client, and what who drives it may count on.

use std::collections::{BTreeMap, BTreeSet};

use witlock_session::client::{ANSWER_WAIT, Client, Event, Identity};
use witlock_session::wire::to_store::Body as Said;
use witlock_session::wire::{Frames, Lease, MESSAGE_BYTES, ToStore};

use crate::hostile::Heard;
use crate::runs::Tally;

/// What became of an ask.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Phase {
    /// It is answered until then.
    Waiting { until: u64 },
    /// Its leases last so long.
    Held,
    /// Its end is told until then.
    Releasing { until: u64 },
}

#[derive(Debug, Clone, Copy)]
pub struct Ask {
    pub session: u64,
    /// In nanoseconds.
    pub ttl: u64,
    pub phase: Phase,
}

pub struct Holder {
    pub now: u64,
    pub client: Client,
    /// Asks that are not over.
    pub asks: BTreeMap<u64, Ask>,
    pub sessions: BTreeSet<u64>,
    pub last_ask: u64,
    /// Questions that are not answered, and until when they are.
    pub questions: BTreeMap<u64, u64>,
    /// Decodes what is said at the connection that there is.
    pub said: Option<Frames>,
    pub has_greeted: bool,
    /// When that was made.
    pub connected_at: u64,
    pub leases: Vec<Lease>,
    pub tally: Tally,
}

impl Holder {
    pub fn new(now: u64, random: u64) -> Self {
        Holder {
            now,
            client: Client::new(Identity::default(), random),
            asks: BTreeMap::new(),
            sessions: BTreeSet::new(),
            last_ask: 0,
            questions: BTreeMap::new(),
            said: None,
            has_greeted: false,
            connected_at: 0,
            leases: Vec::new(),
            tally: Tally::default(),
        }
    }

    pub fn heard(&self) -> Heard {
        Heard {
            now: self.now,
            asks: self.asks.keys().copied().collect(),
            leases: self.leases.clone(),
            tags: self.questions.keys().copied().collect(),
        }
    }

    /// Looks at what the client did.
    pub fn look(&mut self) {
        self.look_at_said();
        for event in self.client.events() {
            self.note(event);
        }
        for (number, ask) in &self.asks {
            self.check(*number, ask);
        }
        let is_late = self.now >= self.connected_at + ANSWER_WAIT;
        let is_stuck = self.said.is_some() && !self.client.is_up() && is_late;
        assert!(!is_stuck, "it waits for its welcome for ever");
        let mut questions = self.questions.values();
        assert!(
            questions.all(|until| self.now < *until),
            "it is not answered"
        );
    }

    fn look_at_said(&mut self) {
        let mut bytes = Vec::new();
        self.client.outgoing(&mut bytes);
        let Some(said) = &mut self.said else {
            return assert!(bytes.is_empty(), "said to nobody");
        };
        said.push(&bytes);
        while let Some(message) = said.next::<ToStore>(MESSAGE_BYTES).expect("frames") {
            let is_hello = matches!(message.body, Some(Said::Hello(_)));
            assert_ne!(is_hello, self.has_greeted, "a hello comes first, and once");
            assert!(message.body.is_some());
            assert_eq!(message.sent, self.now);
            self.has_greeted = true;
            self.tally.count("said");
        }
    }

    /// Each ask is answered once, and each lease ends once.
    fn note(&mut self, event: Event) {
        match event {
            Event::Granted { ask, lease } => {
                let asked = self.asks.get_mut(&ask).expect("an ask");
                assert!(matches!(asked.phase, Phase::Waiting { .. }), "{asked:?}");
                asked.phase = Phase::Held;
                self.leases.push(lease.into());
                self.tally.count("granted");
            }
            Event::Refused { ask, .. } => {
                let asked = self.asks.remove(&ask).expect("an ask");
                assert!(matches!(asked.phase, Phase::Waiting { .. }), "{asked:?}");
                self.tally.count("refused");
            }
            Event::Ended { ask, how } => {
                let asked = self.asks.remove(&ask).expect("an ask");
                assert!(!matches!(asked.phase, Phase::Waiting { .. }), "{asked:?}");
                self.tally.count(format!("{how:?}"));
            }
            Event::Renewed { ask } => {
                assert_eq!(self.asks[&ask].phase, Phase::Held);
                self.tally.count("renewed");
            }
            Event::Retrying { ask } => {
                assert!(self.asks.contains_key(&ask));
                self.tally.count("retried");
            }
            Event::Answered { tag, .. } => {
                self.questions.remove(&tag).expect("a question");
                self.tally.count("answered");
            }
            Event::Welcome { .. } => self.tally.count("welcomes"),
            Event::Denied(_) => self.tally.count("denied"),
        }
    }

    /// LOCK-08: a holder never counts on a lease for longer than its ttl, whatever it
    /// is told; and no ask, lease or release is without an end.
    fn check(&self, number: u64, ask: &Ask) {
        let deadline = self.client.deadline(number);
        match ask.phase {
            Phase::Waiting { until } => assert!(self.now < until, "{ask:?} is not answered"),
            Phase::Held => {
                let deadline = deadline.expect("a lease");
                assert!(self.now < deadline, "{ask:?} is past its deadline");
                assert!(deadline <= self.now + ask.ttl, "{ask:?} lasts too long");
            }
            Phase::Releasing { until } => assert!(self.now < until, "{ask:?} is not released"),
        }
    }

    /// What nobody was told of is not released.
    pub fn release(&mut self, number: u64) {
        let ask = self.asks.get_mut(&number);
        if let Some(ask) = ask.filter(|ask| ask.phase == Phase::Held) {
            let until = self.now + ANSWER_WAIT;
            ask.phase = Phase::Releasing { until };
            self.client.release(self.now, number);
        }
    }
}
