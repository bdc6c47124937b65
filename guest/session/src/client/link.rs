//! The connection: made, kept alive, given up, made again.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::asks::Phase;
use super::{ANSWER_WAIT, Client, PING};
use crate::wire::to_store::Body;
use crate::wire::{self, Frames, Hello, ToStore, VERSION};
use crate::{Nanoseconds, millis};

/// The pause before the first attempt to come back; each that fails doubles it.
const FIRST_PAUSE: Nanoseconds = millis(50);

/// The longest pause: how late a server that is back is noticed at most.
const LONGEST_PAUSE: Nanoseconds = millis(2_000);

/// Over how long clients spread that a server told to come back, so that the next
/// one does not meet all of them at once.
const SPREAD: Nanoseconds = millis(1_000);

/// What a client wants of who drives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// A connection, now.
    Connection,
    /// The connection it has, or the attempt under way.
    ThisConnection,
    /// No connection: one that there is, is to be closed.
    NoConnection,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// There is none; made again at this time.
    Down(Nanoseconds),
    /// It is being made, since this time.
    Connecting(Nanoseconds),
    /// The hello was sent.
    Greeting,
    Up,
}

/// The connection, as far as the client knows.
pub(super) struct Link {
    state: State,
    pub frames: Frames,
    attempts: u32,
    /// When something was said last.
    said: Nanoseconds,
    /// Since when something is not answered that is answered at once.
    unanswered: Option<Nanoseconds>,
    /// Why there is none, for people.
    why: String,
}

impl Default for Link {
    fn default() -> Self {
        Link {
            state: State::Down(0),
            frames: Frames::default(),
            attempts: 0,
            said: 0,
            unanswered: None,
            why: "no connection was made yet".into(),
        }
    }
}

impl Link {
    pub fn is_up(&self) -> bool {
        self.state == State::Up
    }

    /// Whether there is a connection.
    pub fn is_made(&self) -> bool {
        matches!(self.state, State::Greeting | State::Up)
    }

    pub fn next_deadline(&self) -> Option<Nanoseconds> {
        let answer = self
            .unanswered
            .map(|since| since.saturating_add(ANSWER_WAIT));
        match self.state {
            State::Down(until) => Some(until),
            State::Connecting(since) => Some(since.saturating_add(ANSWER_WAIT)),
            State::Greeting => answer,
            State::Up => answer.or(Some(self.said.saturating_add(PING))),
        }
    }

    /// Whether nothing was heard since something was said at this time.
    pub fn is_silent_since(&self, time: Nanoseconds) -> bool {
        self.unanswered.is_some_and(|since| since <= time)
    }

    /// Whether something was not answered for too long.
    fn is_silent(&self, now: Nanoseconds) -> bool {
        let since = self.unanswered;
        since.is_some_and(|since| since.saturating_add(ANSWER_WAIT) <= now)
    }

    /// Something was heard. Until the client is let in, only a welcome answers it.
    pub fn heard(&mut self) {
        if self.is_up() {
            self.unanswered = None;
        }
    }
}

impl Client {
    /// What the client wants now.
    pub fn wants(&self, now: Nanoseconds) -> Wants {
        match self.link.state {
            State::Down(until) if until <= now => Wants::Connection,
            State::Down(_) => Wants::NoConnection,
            State::Connecting(_) | State::Greeting | State::Up => Wants::ThisConnection,
        }
    }

    /// Whether the server has let the client in.
    pub fn is_up(&self) -> bool {
        self.link.is_up()
    }

    /// A connection is being made.
    pub fn connecting(&mut self, now: Nanoseconds) {
        self.link.state = State::Connecting(now);
    }

    /// A connection was made.
    pub fn connected(&mut self, now: Nanoseconds) {
        self.link.state = State::Greeting;
        let hello = Hello {
            version: VERSION,
            token: self.identity.token.clone(),
            client: self.identity.name.clone(),
        };
        self.put(now, 0, Body::Hello(hello));
    }

    /// The connection is gone, or none could be made: it is tried again after a
    /// pause.
    pub fn cut(&mut self, now: Nanoseconds, why: &str) {
        let longest = self.at_most(LONGEST_PAUSE);
        let pause = (FIRST_PAUSE << self.link.attempts.min(16)).min(longest);
        let pause = pause / 2 + self.random(pause);
        self.link.attempts += 1;
        self.drop_link(now.saturating_add(pause), why);
    }

    /// The server stops, and told to come back.
    pub(super) fn told_to_come_back(&mut self, now: Nanoseconds) {
        let spread = self.at_most(SPREAD);
        let pause = self.random(spread);
        self.drop_link(now.saturating_add(pause), "the server stopped");
    }

    /// This span, or less where a lease is held that would not outlast it: two sixths of
    /// its ttl are left after the last try to renew it.
    fn at_most(&self, span: Nanoseconds) -> Nanoseconds {
        let asks = self.asks.values();
        let held = asks.filter(|ask| matches!(ask.phase, Phase::Held(_)));
        held.map(|ask| ask.ttl / 6).fold(span, Nanoseconds::min)
    }

    fn drop_link(&mut self, until: Nanoseconds, why: &str) {
        self.link = Link {
            state: State::Down(until),
            attempts: self.link.attempts,
            why: why.to_string(),
            ..Link::default()
        };
        self.out = Vec::new();
        self.renewals.clear();
        self.leave_behind();
    }

    pub(super) fn welcomed(&mut self) {
        self.link.state = State::Up;
        self.link.heard();
        self.link.attempts = 0;
    }

    /// What keeps asks from being answered, for people.
    pub(super) fn trouble(&self) -> String {
        match self.link.state {
            State::Up => "the server does not answer".into(),
            _ => alloc::format!("the server cannot be reached: {}", self.link.why),
        }
    }

    /// Says something, if the server has let the client in. What is said now is
    /// what the next resume says otherwise.
    pub(super) fn say(&mut self, now: Nanoseconds, session: u64, body: Body) {
        if self.link.is_up() {
            self.put(now, session, body);
        }
    }

    fn put(&mut self, now: Nanoseconds, session: u64, body: Body) {
        let is_answered = !matches!(body, Body::Enter(_) | Body::Hold(_) | Body::Cancel(_));
        if is_answered {
            self.link.unanswered = self.link.unanswered.or(Some(now));
        }
        self.link.said = now;
        let message = ToStore {
            sent: now,
            session,
            body: Some(body),
        };
        wire::put(&message, &mut self.out);
    }

    pub(super) fn tick_link(&mut self, now: Nanoseconds) {
        match self.link.state {
            State::Down(_) => {}
            State::Connecting(since) if since.saturating_add(ANSWER_WAIT) <= now => {
                self.cut(now, "connecting took too long");
            }
            State::Connecting(_) => {}
            State::Greeting | State::Up => {
                if self.link.is_silent(now) {
                    self.cut(now, "it did not answer");
                } else if self.link.said.saturating_add(PING) <= now {
                    self.say(now, 0, Body::Ping(wire::Ping {}));
                }
            }
        }
    }

    /// A number below `most`, or 0.
    fn random(&mut self, most: Nanoseconds) -> Nanoseconds {
        // Marsaglia's xorshift: pauses need spreading, no more.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random.checked_rem(most).unwrap_or(0)
    }
}
