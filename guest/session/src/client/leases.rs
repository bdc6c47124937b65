//! Leases: until when they last by the client's own clock, and their renewals.

use witlock_engine::LeaseId;

use super::asks::Phase;
use super::{ANSWER_WAIT, Client, Ending, Event};
use crate::Nanoseconds;
use crate::wire::refused::Why;
use crate::wire::to_store::Body;
use crate::wire::{self, RENEWED_AT_ONCE};

/// By what part of a span a holder's own deadline comes earlier than the store's:
/// its clock may be slower than the store's by as much.
const CLOCK_RATE: u64 = 100;

/// Renewals are tried at 2, 3 and 4 sixths of the ttl: two more fit after one that
/// failed, and two sixths are left for work to stop.
const RENEWALS: core::ops::RangeInclusive<u64> = 2..=4;

/// A key held.
pub(super) struct Held {
    pub lease: LeaseId,
    /// Whether its holder was told.
    told: bool,
    /// What the latest answer echoes: the store dated the lease after that.
    pub dated: Nanoseconds,
    /// When its ttl is over.
    expires: Nanoseconds,
    /// When its max-hold is over.
    revoked: Nanoseconds,
    /// When to renew it next.
    renews: Nanoseconds,
    /// Which sixth of the ttl that is.
    sixth: u64,
    /// Since when a renewal is not answered.
    pub unanswered: Option<Nanoseconds>,
    retrying: bool,
}

/// A lease that its holder let go before its deadline.
pub(super) struct Releasing {
    pub lease: LeaseId,
    /// When it counts as released without an answer.
    pub until: Nanoseconds,
}

impl Held {
    /// A lease given, by an answer that echoes this.
    pub fn new(lease: LeaseId, max_hold: Option<Nanoseconds>, echo: Nanoseconds) -> Self {
        Held {
            lease,
            told: false,
            dated: echo,
            expires: 0,
            revoked: max_hold.map_or(Nanoseconds::MAX, |most| ends(echo, most)),
            renews: 0,
            sixth: 0,
            unanswered: None,
            retrying: false,
        }
    }

    pub fn deadline(&self) -> Nanoseconds {
        self.expires.min(self.revoked)
    }

    pub fn next_moment(&self) -> Nanoseconds {
        match self.told {
            true => self.deadline().min(self.renews),
            false => self.renews,
        }
    }

    /// It was given, or renewed, by an answer that echoes this.
    fn date(&mut self, echo: Nanoseconds, ttl: Nanoseconds) {
        self.dated = echo;
        self.expires = self.expires.max(ends(echo, ttl));
        self.unanswered = None;
        self.retrying = false;
        self.sixth = *RENEWALS.start();
        self.renews = echo.saturating_add(ttl / 6 * self.sixth);
    }

    /// Sets when to try again, after a try at this time.
    fn try_next(&mut self, now: Nanoseconds, ttl: Nanoseconds) {
        while self.renews <= now {
            self.sixth += 1;
            self.renews = match RENEWALS.contains(&self.sixth) {
                true => self.dated.saturating_add(ttl / 6 * self.sixth),
                false => Nanoseconds::MAX,
            };
        }
    }
}

/// When a span ends that the store began at the earliest at `from`.
fn ends(from: Nanoseconds, span: Nanoseconds) -> Nanoseconds {
    from.saturating_add(span - span / CLOCK_RATE)
}

impl Client {
    /// Until when the lease that came of an ask lasts unless it is renewed.
    pub fn deadline(&self, number: u64) -> Option<Nanoseconds> {
        match &self.asks.get(&number)?.phase {
            Phase::Held(held) => Some(held.deadline()),
            Phase::Waiting(_) | Phase::Releasing(_) => None,
        }
    }

    pub(super) fn held(&mut self, number: u64) -> Option<(u64, Nanoseconds, &mut Held)> {
        let ask = self.asks.get_mut(&number)?;
        match &mut ask.phase {
            Phase::Held(held) => Some((ask.session, ask.ttl, held)),
            Phase::Waiting(_) | Phase::Releasing(_) => None,
        }
    }

    /// A grant or a renewal: the lease lasts from the sending time that it echoes.
    pub(super) fn dated(&mut self, now: Nanoseconds, number: u64, echo: Nanoseconds) {
        let Some((_, ttl, held)) = self.held(number) else {
            return;
        };
        let is_first = held.expires == 0;
        held.date(echo.min(now), ttl);
        // A holder is to have time for its work, and two more tries to renew.
        let is_long = held.renews > now || !is_first;
        if held.told {
            self.events.push(Event::Renewed { ask: number });
        } else if is_long && held.deadline() > now {
            held.told = true;
            let (ask, lease) = (number, held.lease);
            self.events.push(Event::Granted { ask, lease });
        }
        // One that was long on its way is renewed before anyone is told of it: once,
        // for its answer may be as long on its way.
        self.set_timer(number);
        self.ring(now);
        self.send_renewals(now);
    }

    pub(super) fn look_at_held(&mut self, now: Nanoseconds, number: u64) {
        match self.held(number) {
            Some((_, _, held)) if held.told && held.deadline() <= now => self.lose(number),
            Some(_) => self.try_renewal(now, number),
            None => {}
        }
    }

    fn try_renewal(&mut self, now: Nanoseconds, number: u64) {
        let Some((session, ttl, held)) = self.held(number) else {
            return;
        };
        held.try_next(now, ttl);
        let lease = held.lease;
        let before = held.unanswered.replace(now);
        if before.is_some() && !core::mem::replace(&mut held.retrying, true) {
            self.events.push(Event::Retrying { ask: number });
        }
        if before.is_some_and(|since| self.link.is_silent_since(since)) {
            // The next connection renews it at once.
            self.cut(now, "renewals were not answered");
        } else if self.link.is_up() {
            self.renewals.entry(session).or_default().push(lease.into());
        }
    }

    /// Renews a lease at once: the session came back.
    pub(super) fn renew_now(&mut self, now: Nanoseconds, number: u64) {
        if let Some((_, _, held)) = self.held(number) {
            held.renews = now;
            self.set_timer(number);
            self.ring(now);
        }
    }

    /// A lease's own deadline has come.
    fn lose(&mut self, number: u64) {
        let Some((_, _, held)) = self.held(number) else {
            return;
        };
        let how = if held.revoked <= held.expires {
            Ending::Revoked
        } else if held.unanswered.is_some() {
            // Also where it could not be sent for want of a connection.
            Ending::Unreachable
        } else {
            // Nobody ran to renew it.
            Ending::Expired
        };
        self.end(number, how);
    }

    /// Tells that a lease is over; or, if nobody was told that it began, that the
    /// ask came to nothing.
    pub(super) fn end(&mut self, number: u64, how: Ending) {
        let untold = self.held(number).is_some_and(|(_, _, held)| !held.told);
        self.forget(number);
        self.events.push(match untold {
            true => Event::Refused {
                ask: number,
                why: Why::Unavailable,
                text: "the lease was over before it was known of".into(),
            },
            false => Event::Ended { ask: number, how },
        });
    }

    /// Sends the renewals that are due, each session's together.
    pub(super) fn send_renewals(&mut self, now: Nanoseconds) {
        for (session, leases) in core::mem::take(&mut self.renewals) {
            for leases in leases.chunks(RENEWED_AT_ONCE) {
                let leases = leases.to_vec();
                self.say(now, session, Body::Renew(wire::Renew { leases }));
            }
        }
    }

    /// The holder lets the lease go. Its end is told when the store answers, or,
    /// since it was known to last until now, after 5 s without an answer. One that
    /// ended by the store's closing only confirms that.
    pub fn release(&mut self, now: Nanoseconds, number: u64) {
        if let Some((session, lease)) = self.closed.remove(&number) {
            return self.say_released(now, session, lease);
        }
        // A lease whose deadline has come is lost.
        self.ring(now);
        let Some((session, _, held)) = self.held(number) else {
            return;
        };
        let lease = held.lease;
        let until = now.saturating_add(ANSWER_WAIT);
        if let Some(ask) = self.asks.get_mut(&number) {
            ask.phase = Phase::Releasing(Releasing { lease, until });
        }
        self.set_timer(number);
        self.say_released(now, session, lease);
    }

    pub(super) fn say_released(&mut self, now: Nanoseconds, session: u64, lease: LeaseId) {
        let lease = Some(lease.into());
        self.say(now, session, Body::Release(wire::Release { lease }));
    }

    pub(super) fn look_at_releasing(&mut self, number: u64) {
        self.end(number, Ending::Released);
    }

    /// The store closed: the lease is lost. Its key is let go as its holder
    /// releases it, or at its ttl.
    pub(super) fn close_lease(&mut self, number: u64) {
        if let Some((session, _, held)) = self.held(number) {
            let lease = held.lease;
            self.closed.insert(number, (session, lease));
            self.end(number, Ending::Closed);
        }
    }
}
