//! Asks that wait for their answer.

use alloc::boxed::Box;
use alloc::string::{String, ToString};

use witlock_engine::bounds::{TTL_DEFAULT, WAIT_DEFAULT};
use witlock_engine::{LeaseId, Options, bounds};

use super::leases::{Held, Releasing};
use super::{ANSWER_WAIT, Client, Event};
use crate::wire::refused::Why;
use crate::wire::to_store::Body;
use crate::wire::{self, Hold};
use crate::{MILLISECOND, Nanoseconds, millis};

/// What is asked for.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)] // as the fields of the engine's `Hold`
pub struct Terms<'a> {
    pub name: &'a str,
    pub limit: Option<u32>,
    pub key: &'a str,
    pub wait: Option<u32>,
    pub options: Options,
    pub alone: bool,
}

/// One ask, and the lease that may come of it.
pub(super) struct Ask {
    pub session: u64,
    /// What stands among the timers for it.
    pub timer: Nanoseconds,
    pub ttl: Nanoseconds,
    pub phase: Phase,
}

pub(super) enum Phase {
    Waiting(Box<Waiting>),
    Held(Held),
    Releasing(Releasing),
    /// The store closed: its holder was told, and has not let it go yet.
    Closed(LeaseId),
}

/// An ask that is not answered.
pub(super) struct Waiting {
    /// As it was asked; asked again, with what is left of its wait.
    hold: Hold,
    until: Nanoseconds,
    gives_up: Nanoseconds,
    /// When its session is to say that it waits.
    says_so: Nanoseconds,
}

impl Phase {
    pub fn fence(&self) -> Option<u64> {
        match self {
            Phase::Waiting(_) => None,
            Phase::Held(held) => Some(held.lease.fence),
            Phase::Releasing(releasing) => Some(releasing.lease.fence),
            Phase::Closed(lease) => Some(lease.fence),
        }
    }
}

impl Ask {
    pub fn next_moment(&self) -> Nanoseconds {
        match &self.phase {
            Phase::Waiting(waiting) => waiting.gives_up.min(waiting.says_so),
            Phase::Held(held) => held.next_moment(),
            Phase::Releasing(releasing) => releasing.until,
            Phase::Closed(_) => Nanoseconds::MAX,
        }
    }
}

impl Client {
    /// Asks for a key, under a number that no other ask of this client has had.
    ///
    /// # Errors
    ///
    /// What is out of its bounds.
    pub fn ask(
        &mut self,
        now: Nanoseconds,
        session: u64,
        number: u64,
        terms: Terms<'_>,
    ) -> Result<(), bounds::Invalid> {
        bounds::check(terms.name, terms.limit, &terms.options)?;
        bounds::key(terms.key)?;
        let ttl = millis(terms.options.ttl.unwrap_or(TTL_DEFAULT));
        let until = now.saturating_add(millis(terms.wait.unwrap_or(WAIT_DEFAULT)));
        let ask = Ask {
            session,
            timer: 0,
            ttl,
            phase: Phase::Waiting(Box::new(Waiting {
                hold: hold(number, terms),
                until,
                gives_up: until.saturating_add(ANSWER_WAIT),
                says_so: now.saturating_add(ttl / 3),
            })),
        };
        self.asks.insert(number, ask);
        match self.sessions.get_mut(&session) {
            Some(holder) if holder.is_open() => {
                holder.asks.insert(number);
            }
            _ => {
                self.refuse(number, Why::Closed, String::new());
                return Ok(());
            }
        }
        self.set_timer(number);
        if self.enter(now, session) {
            self.send_ask(now, number);
        }
        Ok(())
    }

    /// Sends an ask, or sends it again.
    pub(super) fn send_ask(&mut self, now: Nanoseconds, number: u64) {
        let Some(ask) = self.asks.get_mut(&number) else {
            return;
        };
        let Phase::Waiting(waiting) = &ask.phase else {
            return;
        };
        let left = waiting.until.saturating_sub(now).div_ceil(MILLISECOND);
        let hold = Hold {
            wait: Some(u32::try_from(left).unwrap_or(u32::MAX)),
            ..waiting.hold.clone()
        };
        let session = ask.session;
        self.say_for(now, session, Body::Hold(hold));
    }

    /// Nobody waits for the ask any more; nothing is told of it.
    pub fn cancel(&mut self, now: Nanoseconds, number: u64) {
        let Some(ask) = self.asks.get(&number) else {
            return;
        };
        let session = ask.session;
        if matches!(ask.phase, Phase::Waiting(_)) {
            self.forget(number);
            self.say_for(now, session, Body::Cancel(wire::Cancel { ask: number }));
        }
    }

    pub(super) fn look_at_waiting(&mut self, now: Nanoseconds, number: u64) {
        let Some(ask) = self.asks.get_mut(&number) else {
            return;
        };
        let Phase::Waiting(waiting) = &mut ask.phase else {
            return;
        };
        if waiting.gives_up <= now {
            self.cancel_unanswered(now, number);
            return;
        }
        waiting.says_so = now.saturating_add(ask.ttl / 3);
        let session = ask.session;
        self.say_for(now, session, Body::Ping(wire::Ping {}));
    }

    fn cancel_unanswered(&mut self, now: Nanoseconds, number: u64) {
        self.cancel(now, number);
        let text = self.trouble();
        self.events.push(Event::Refused {
            ask: number,
            why: Why::Unavailable,
            text,
        });
    }

    pub(super) fn refuse(&mut self, number: u64, why: Why, text: String) {
        let is_waiting = |ask: &Ask| matches!(ask.phase, Phase::Waiting(_));
        if self.asks.get(&number).is_some_and(is_waiting) {
            self.forget(number);
            let ask = number;
            self.events.push(Event::Refused { ask, why, text });
        }
    }

    /// The store gave a key, perhaps to an ask that nobody waits for any more.
    pub(super) fn granted(
        &mut self,
        now: Nanoseconds,
        session: u64,
        echo: u64,
        granted: wire::Granted,
    ) {
        let lease = LeaseId::from(granted.lease.unwrap_or_default());
        let number = granted.ask;
        let Some(ask) = self.asks.get_mut(&number) else {
            return self.say_released(now, session, lease);
        };
        match &ask.phase {
            Phase::Waiting(waiting) => {
                ask.phase = Phase::Held(Held::new(lease, echo.min(now), waiting.gives_up));
                self.by_fence.insert(lease.fence, number);
                self.dated(now, number, echo, granted.max_hold);
            }
            // Asked again, and answered twice.
            phase if phase.fence() == Some(lease.fence) => {}
            _ => self.say_released(now, session, lease),
        }
    }
}

fn hold(ask: u64, terms: Terms<'_>) -> Hold {
    Hold {
        ask,
        name: terms.name.to_string(),
        limit: terms.limit,
        key: terms.key.to_string(),
        wait: terms.wait,
        ttl: terms.options.ttl,
        max_hold: terms.options.max_hold,
        label: terms.options.label,
        alone: terms.alone,
    }
}
