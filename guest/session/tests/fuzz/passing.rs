//! Time goes on for a store, and what is due happens.

use fastrand::Rng;
use witlock_engine::Command;
use witlock_session::server::HELLO_WAIT;
use witlock_session::wire::goodbye::Reason;
use witlock_session::wire::to_store::Body as Said;
use witlock_session::wire::{Ping, ToStore};

use crate::checks::patience;
use crate::said::frame;
use crate::store::Store;

/// Milliseconds in nanoseconds.
pub const MS: u64 = 1_000_000;

/// Seconds in nanoseconds.
pub const S: u64 = 1_000 * MS;

impl Store {
    /// Time goes on, with its ticks, and most who are there say that they are.
    pub fn pass(&mut self, rng: &mut Rng) {
        match rng.u8(..10) {
            0..5 => self.pass_by(rng.u64(..1_000 * MS)),
            few => {
                let seconds = if few == 9 { 20 } else { 2 };
                let is_silent = rng.u8(..4) == 0;
                for _ in 0..rng.u8(..seconds) {
                    self.pass_by(S);
                    self.tick();
                    if !is_silent {
                        self.ping();
                    }
                }
            }
        }
    }

    /// The engine is not a second late: the server counts on that.
    pub fn pass_by(&mut self, span: u64) {
        if self.now + span >= self.settled_at + S {
            self.settle();
        }
        self.now += span;
    }

    /// The machine sleeps.
    pub fn sleep(&mut self, rng: &mut Rng) {
        self.pass_by(rng.u64(6..60) * S);
        self.tick();
        self.ping();
    }

    /// A second has passed, or more.
    pub fn tick(&mut self) {
        self.settle();
        let stood_still = self.now - self.ticked >= HELLO_WAIT;
        self.ticked = self.now;
        self.server.tick(self.now);
        for command in self.server.commands() {
            let Command::EndSession(number) = command else {
                panic!("nobody asked for {command:?}");
            };
            let session = self.sessions.remove(&number).expect("a session");
            assert_eq!(session.at, None, "it is connected");
            let left = self.driven.ledger.of(number).count();
            assert_eq!(left, 0, "something is left of it");
            self.driven.submitted.push(command);
            self.tally.count("given up");
        }
        let told = self.collect();
        Self::assert_goodbyes(&told, Reason::Silent);
        for (id, _) in told {
            let ear = &self.ears[&id];
            assert!(self.now >= ear.heard_at + patience(ear));
        }
        if !stood_still {
            self.check_silence();
        }
        self.settle();
    }

    fn ping(&mut self) {
        let ping = ToStore {
            sent: self.now,
            session: 0,
            body: Some(Said::Ping(Ping {})),
        };
        let all: Vec<_> = self.ears.keys().copied().collect();
        for id in all {
            let is_heard = self.ears[&id].is_let_in && !self.server.is_over(id);
            if is_heard {
                self.hear(id, &frame(&ping));
            }
        }
    }
}
