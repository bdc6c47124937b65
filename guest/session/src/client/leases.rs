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
    /// Until when its holder waits to be told of it; none once it was.
    untold: Option<Nanoseconds>,
    /// What the latest answer echoes: the store dated the lease after that.
    pub dated: Nanoseconds,
    /// When its ttl is over.
    expires: Nanoseconds,
    /// When its max-hold is over.
    revoked: Nanoseconds,
    /// When to renew it next.
    renews: Nanoseconds,
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
    /// A lease given, by an answer that echoes this, to one that waits until then.
    pub fn new(lease: LeaseId, echo: Nanoseconds, gives_up: Nanoseconds) -> Self {
        Held {
            lease,
            untold: Some(gives_up),
            dated: echo,
            expires: 0,
            revoked: 0,
            renews: 0,
            unanswered: None,
            retrying: false,
        }
    }

    pub fn deadline(&self) -> Nanoseconds {
        self.expires.min(self.revoked)
    }

    pub fn next_moment(&self) -> Nanoseconds {
        let over = self.untold.unwrap_or(self.deadline());
        over.min(self.renews)
    }

    /// It was given, or renewed, by an answer that echoes this.
    fn date(&mut self, echo: Nanoseconds, ttl: Nanoseconds, max_hold: Option<Nanoseconds>) {
        self.dated = echo;
        self.expires = self.expires.max(ends(echo, ttl));
        // The later it is known to last, the better it is known when it began.
        let revoked = max_hold.map_or(Nanoseconds::MAX, |left| ends(echo, left));
        self.revoked = self.revoked.max(revoked);
        self.unanswered = None;
        self.retrying = false;
        self.renews = echo.saturating_add(ttl / 6 * RENEWALS.start());
    }

    /// Sets when to try again, after a try at this time.
    fn try_next(&mut self, now: Nanoseconds, ttl: Nanoseconds) {
        let mut tries = RENEWALS.map(|sixth| self.dated.saturating_add(ttl / 6 * sixth));
        self.renews = tries.find(|at| *at > now).unwrap_or(Nanoseconds::MAX);
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
            _ => None,
        }
    }

    pub(super) fn held(&mut self, number: u64) -> Option<(u64, Nanoseconds, &mut Held)> {
        let ask = self.asks.get_mut(&number)?;
        match &mut ask.phase {
            Phase::Held(held) => Some((ask.session, ask.ttl, held)),
            _ => None,
        }
    }

    /// A grant or a renewal: the lease lasts from the sending time that it echoes.
    pub(super) fn dated(
        &mut self,
        now: Nanoseconds,
        number: u64,
        echo: Nanoseconds,
        max_hold: Option<Nanoseconds>,
    ) {
        let Some((_, ttl, held)) = self.held(number) else {
            return;
        };
        let is_first = held.expires == 0;
        held.date(echo.min(now), ttl, max_hold);
        // A holder is to have time for its work, and two more tries to renew; but the
        // answer to a renewal may be as long on its way.
        let is_long = held.renews > now || !is_first;
        if held.untold.is_none() {
            self.events.push(Event::Renewed { ask: number });
        } else if is_long && held.deadline() > now {
            held.untold = None;
            let (ask, lease) = (number, held.lease);
            self.events.push(Event::Granted { ask, lease });
        } else {
            // It was long on its way: it is renewed before anyone is told of it.
            held.renews = now;
        }
        self.set_timer(number);
        self.ring(now);
        self.send_renewals(now);
    }

    pub(super) fn look_at_held(&mut self, now: Nanoseconds, number: u64) {
        let Some((_, _, held)) = self.held(number) else {
            return;
        };
        match held.untold {
            None if held.deadline() <= now => self.lose(number),
            Some(gives_up) if gives_up <= now => self.give_back(now, number),
            _ => self.try_renewal(now, number),
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

    /// Nobody was told of a lease that could not be renewed in time: it is let go.
    fn give_back(&mut self, now: Nanoseconds, number: u64) {
        if let Some((session, _, held)) = self.held(number) {
            let lease = held.lease;
            self.end(number, Ending::Unreachable);
            self.say_released(now, session, lease);
        }
    }

    /// Tells that a lease is over; or, if nobody was told that it began, that the
    /// ask came to nothing. That the store's closing ended it was told then.
    pub(super) fn end(&mut self, number: u64, how: Ending) {
        let ask = number;
        let event = match self.asks.get(&number).map(|ask| &ask.phase) {
            Some(Phase::Closed(_)) => None,
            Some(Phase::Held(held)) if held.untold.is_some() => Some(Event::Refused {
                ask,
                why: Why::Unavailable,
                text: "the lease was over before it was known of".into(),
            }),
            _ => Some(Event::Ended { ask, how }),
        };
        self.forget(number);
        self.events.extend(event);
    }

    /// Sends the renewals that are due, each session's together.
    pub(super) fn send_renewals(&mut self, now: Nanoseconds) {
        for (session, leases) in core::mem::take(&mut self.renewals) {
            for leases in leases.chunks(RENEWED_AT_ONCE) {
                let leases = leases.to_vec();
                self.say_for(now, session, Body::Renew(wire::Renew { leases }));
            }
        }
    }

    /// The holder lets the lease go. Its end is told when the store answers, or,
    /// since it was known to last until now, after 5 s without an answer. One that
    /// ended by the store's closing only confirms that.
    pub fn release(&mut self, now: Nanoseconds, number: u64) {
        if let Some((session, lease)) = self.closed(number) {
            self.forget(number);
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
        self.say_for(now, session, Body::Release(wire::Release { lease }));
    }

    pub(super) fn look_at_releasing(&mut self, number: u64) {
        self.end(number, Ending::Released);
    }

    /// The store closed: the lease is lost. Its key is let go as its holder
    /// releases it, or at its ttl.
    pub(super) fn close_lease(&mut self, now: Nanoseconds, number: u64) {
        let Some((_, _, held)) = self.held(number) else {
            return;
        };
        if held.untold.is_some() {
            return self.give_back(now, number);
        }
        let lease = held.lease;
        if let Some(ask) = self.asks.get_mut(&number) {
            ask.phase = Phase::Closed(lease);
        }
        self.set_timer(number);
        let (ask, how) = (number, Ending::Closed);
        self.events.push(Event::Ended { ask, how });
    }

    /// Whose session's a lease was that the store's closing ended, and what names it.
    fn closed(&self, number: u64) -> Option<(u64, LeaseId)> {
        let ask = self.asks.get(&number)?;
        match ask.phase {
            Phase::Closed(lease) => Some((ask.session, lease)),
            _ => None,
        }
    }
}
