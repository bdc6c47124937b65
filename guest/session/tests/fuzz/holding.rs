//! What a holder, its server and time do to a client, at random.

use fastrand::Rng;
use witlock_engine::Options;
use witlock_session::client::{ANSWER_WAIT, Terms, Wants};
use witlock_session::wire::to_store::Body as Said;
use witlock_session::wire::{Count, Frames};

use crate::holder::{Ask, Holder, Phase};
use crate::hostile::{frame, welcome};
use crate::mutate::{mutate, pieces, random};
use crate::passing::{MS, S};

/// Sessions at a time.
const SESSIONS: usize = 4;

/// Ticks at one moment, past which the client asks for them for ever.
const TICKS: usize = 100;

/// The longest wait, and ttl.
pub const LONGEST: u32 = 20_000;

impl Holder {
    pub fn act(&mut self, rng: &mut Rng) {
        match rng.u8(..100) {
            0..20 => self.ask(rng),
            20..26 => {
                let some = self.some(rng);
                self.release(some);
            }
            26..29 => {
                let some = self.some(rng);
                self.cancel(some);
            }
            29..31 => {
                let some = self.some(rng);
                self.client.renew(self.now, some);
            }
            31..34 => self.question(),
            34 => self.end_session(rng),
            35..75 => {
                let heard = self.heard();
                let messages = (0..rng.usize(1..4)).map(|_| frame(&heard.tell(rng)));
                let bytes = messages.collect::<Vec<_>>().concat();
                self.hear(&bytes);
            }
            75..78 => self.hear_wrong(rng),
            78..80 => self.cut(),
            80..95 => self.pass(rng, 300 * MS),
            _ => self.pass(rng, 8 * S),
        }
        self.connect(rng);
        self.look();
    }

    fn some(&self, rng: &mut Rng) -> u64 {
        rng.choice(self.asks.keys().copied()).unwrap_or(0)
    }

    fn session(&mut self, rng: &mut Rng) -> u64 {
        if self.sessions.len() < SESSIONS {
            let session = self.client.open_session(rng.u128(..), None, None);
            self.sessions.insert(session);
        }
        rng.choice(self.sessions.iter().copied()).expect("some")
    }

    fn ask(&mut self, rng: &mut Rng) {
        let session = self.session(rng);
        self.last_ask += 1;
        let number = self.last_ask;
        let (wait, ttl) = (rng.u32(..LONGEST), rng.u32(1_000..LONGEST));
        let options = Options {
            ttl: Some(ttl),
            ..Options::default()
        };
        let terms = Terms {
            name: "jobs",
            key: "a",
            wait: Some(wait),
            options,
            ..Terms::default()
        };
        let until = self.now + u64::from(wait) * MS + ANSWER_WAIT;
        let ask = Ask {
            session,
            ttl: u64::from(ttl) * MS,
            phase: Phase::Waiting { until },
        };
        self.asks.insert(number, ask);
        let asked = self.client.ask(self.now, session, number, terms);
        asked.expect("within the bounds");
        self.tally.count("asks");
    }

    /// Nothing is told of it, or, if it has its lease already, that it ended.
    fn cancel(&mut self, number: u64) {
        let Some(ask) = self.asks.get(&number).copied() else {
            return self.client.cancel(self.now, number);
        };
        self.client.cancel(self.now, number);
        let is_held = self.client.deadline(number).is_some();
        if matches!(ask.phase, Phase::Waiting { .. }) && !is_held {
            self.asks.remove(&number);
            self.tally.count("cancelled");
        }
    }

    fn question(&mut self) {
        let tag = self.questions.last_key_value().map_or(0, |(tag, _)| *tag) + 1;
        self.questions.insert(tag, self.now + ANSWER_WAIT);
        let count = Said::Count(Count { tag });
        self.client.question(self.now, tag, count);
    }

    fn end_session(&mut self, rng: &mut Rng) {
        if let Some(session) = rng.choice(self.sessions.iter().copied()) {
            self.sessions.remove(&session);
            self.client.end_session(self.now, session);
            self.look();
            let mut asks = self.asks.values();
            assert!(asks.all(|ask| ask.session != session), "it goes on");
        }
    }

    fn hear(&mut self, bytes: &[u8]) {
        self.client.received(self.now, bytes);
        self.tally.count("pieces");
    }

    fn hear_wrong(&mut self, rng: &mut Rng) {
        let heard = self.heard();
        let mut bytes = match rng.u8(..4) {
            0 => random(rng, 200),
            _ => (0..4).flat_map(|_| frame(&heard.tell(rng))).collect(),
        };
        mutate(rng, &mut bytes);
        for piece in pieces(rng, &bytes) {
            self.hear(piece);
            self.look_for_cut();
        }
    }

    pub fn cut(&mut self) {
        if self.said.take().is_some() {
            self.client.cut(self.now, "cut");
        }
    }

    /// What the client gave up is closed.
    fn look_for_cut(&mut self) {
        if self.client.wants(self.now) != Wants::ThisConnection {
            self.said = None;
        }
        self.look();
    }

    /// Makes the connection that it wants, if it can be had.
    fn connect(&mut self, rng: &mut Rng) {
        self.look_for_cut();
        if self.client.wants(self.now) != Wants::Connection {
            return;
        }
        self.client.connecting(self.now);
        match rng.u8(..8) {
            0 => {}
            1 => self.client.cut(self.now, "refused"),
            _ => {
                self.said = Some(Frames::default());
                self.has_greeted = false;
                self.connected_at = self.now;
                self.client.connected(self.now);
                self.look();
                if rng.u8(..8) > 0 {
                    self.hear(&frame(&welcome()));
                }
            }
        }
        self.look();
    }

    /// Time goes on, with a tick whenever the client wants one.
    pub fn pass(&mut self, rng: &mut Rng, most: u64) {
        let until = self.now + rng.u64(..most);
        let mut ticks = 0;
        while let Some(next) = self.client.next_deadline().filter(|at| *at <= until) {
            ticks = if next > self.now { 0 } else { ticks + 1 };
            assert!(ticks < TICKS, "it wants a tick again and again");
            self.now = self.now.max(next);
            self.client.tick(self.now);
            self.connect(rng);
        }
        self.now = until;
        self.client.tick(self.now);
        self.connect(rng);
    }
}
