//! What clients and time do to a store, at random.

use fastrand::Rng;
use witlock_engine::Command;
use witlock_session::server::{ConnectionId, Trust};
use witlock_session::wire::goodbye::Reason;
use witlock_session::wire::to_store::Body as Said;
use witlock_session::wire::{ListHoldings, ToStore};

use crate::mutate::{mutate, pieces, random};
use crate::said::{OPERATOR_TOKEN, TOKEN, enter_at, frame, hello, hold_long};
use crate::store::Store;

/// Connections at a time.
const CONNECTIONS: usize = 6;

/// Listings in one piece, of at least one long key.
const FLOOD: usize = 300;

/// Pieces that fill a reader's room.
const FLOODS: usize = 16;

impl Store {
    pub fn act(&mut self, rng: &mut Rng) {
        let Some(id) = rng.choice(self.ears.keys().copied().collect::<Vec<_>>()) else {
            return self.come(rng);
        };
        match rng.u16(..1_000) {
            0..600 => self.say(rng, id, 1),
            600..700 => {
                let many = rng.usize(2..8);
                self.say(rng, id, many);
            }
            700..720 => self.say_wrong(rng, id),
            720..770 => self.come(rng),
            770..790 => self.go(id),
            790..985 => self.pass(rng),
            985..990 => self.sleep(rng),
            990 => {
                // With something under way.
                self.say(rng, id, 4);
                self.driven.trap();
            }
            991 => self.stop(),
            992 => self.turn_deaf(id),
            993 => self.turn_disk(),
            994 => self.restart(),
            _ => {}
        }
    }

    /// The disk of the journal is full, or has room again.
    fn turn_disk(&mut self) {
        self.is_writable = !self.is_writable;
        self.may_know_more = true;
    }

    /// What is under way goes on, not always to its end.
    pub fn go_on(&mut self, rng: &mut Rng) {
        if rng.u8(..10) < 7 {
            return self.settle();
        }
        if rng.bool() {
            self.driven.step(self.now);
        }
        for _ in 0..rng.usize(..4) {
            self.tell();
        }
    }

    fn come(&mut self, rng: &mut Rng) {
        if self.ears.len() >= CONNECTIONS {
            return;
        }
        let trust = match rng.u8(..4) {
            0 => Trust::SameUser,
            _ => Trust::Nobody,
        };
        let id = self.connect(trust);
        let token = match rng.u8(..40) {
            0 => "another token",
            1..20 => OPERATOR_TOKEN,
            _ => TOKEN,
        };
        if rng.u8(..20) > 0 {
            self.hear(id, &frame(&hello(token)));
        }
    }

    fn go(&mut self, id: ConnectionId) {
        // What it was told last may still be read.
        self.read(id);
        self.disconnect(id);
    }

    /// Some messages in one piece. Who was told goodbye is not heard.
    fn say(&mut self, rng: &mut Rng, id: ConnectionId, many: usize) {
        if self.server.is_over(id) {
            return self.go(id);
        }
        let known = self.known(id);
        let messages: Vec<_> = (0..many).map(|_| frame(&known.say(rng))).collect();
        self.hear(id, &messages.concat());
    }

    /// Messages that are none, in any pieces.
    fn say_wrong(&mut self, rng: &mut Rng, id: ConnectionId) {
        let known = self.known(id);
        let many = rng.usize(1..6);
        let mut bytes = match rng.u8(..6) {
            0 => random(rng, 200),
            _ => (0..many).flat_map(|_| frame(&known.say(rng))).collect(),
        };
        if rng.u8(..4) > 0 {
            mutate(rng, &mut bytes);
        }
        for piece in pieces(rng, &bytes) {
            if self.server.is_over(id) {
                break;
            }
            self.hear(id, piece);
        }
        self.tally.count("wrong");
        // What is left of a frame swallows what comes after it.
        if rng.u8(..4) > 0 {
            self.go(id);
        }
    }

    fn turn_deaf(&mut self, id: ConnectionId) {
        self.ears.entry(id).and_modify(|ear| ear.is_deaf = true);
    }

    /// An operator asks for more than it reads.
    pub fn flood(&mut self) {
        let id = self.connect(Trust::SameUser);
        let list = Said::ListHoldings(ListHoldings::default());
        let list = ToStore {
            body: Some(list),
            ..ToStore::default()
        };
        self.hear(id, &frame(&hello("")));
        self.hear(id, &frame(&enter_at(1)));
        self.hear(id, &frame(&hold_long(1)));
        self.settle();
        self.turn_deaf(id);
        for _ in 0..FLOODS {
            self.hear(id, &frame(&list).repeat(FLOOD));
            self.settle();
            if self.server.is_over(id) {
                self.tally.count("floods");
                break;
            }
        }
        self.go(id);
    }

    fn stop(&mut self) {
        self.server.stop();
        let told = self.collect();
        Self::assert_goodbyes(&told, Reason::Stopping);
        assert!(self.ears.keys().all(|id| self.server.is_over(*id)));
    }

    /// The store closes.
    pub fn close(&mut self) {
        self.is_closing = true;
        self.driven.submitted.push(Command::Close);
        self.server.close();
        self.collect();
        self.tally.count("closings");
    }

    pub fn go_all(&mut self) {
        while let Some(id) = self.ears.keys().next().copied() {
            self.go(id);
        }
    }
}
