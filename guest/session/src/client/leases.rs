//! Leases: until when they last by the client's own clock, and their renewals.

use witlock_engine::LeaseId;

use super::asks::Phase;
use super::{ANSWER_WAIT, Client, Ending, Event};
use crate::Nanoseconds;
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
    /// When the store dated it at the earliest; none until it is known.
    dated: Option<Nanoseconds>,
    /// When its ttl is over.
    expires: Nanoseconds,
    /// When its max-hold is over.
    revoked: Nanoseconds,
    /// When to renew it next.
    renews: Nanoseconds,
    /// Which sixth of the ttl that is.
    sixth: u64,
    /// Since when a renewal is not answered.
    unanswered: Option<Nanoseconds>,
    retrying: bool,
}

/// A lease that its holder let go before its deadline.
pub(super) struct Releasing {
    pub lease: LeaseId,
    /// When it counts as released without an answer.
    pub until: Nanoseconds,
}

impl Held {
    pub fn new(lease: LeaseId) -> Self {
        Held {
            lease,
            told: false,
            dated: None,
            expires: 0,
            revoked: Nanoseconds::MAX,
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

    /// The store dated the lease, at the earliest as it sent what is echoed.
    fn date(
        &mut self,
        now: Nanoseconds,
        echo: Nanoseconds,
        ttl: Nanoseconds,
        max_hold: Option<Nanoseconds>,
    ) {
        let echo = echo.min(now);
        if self.dated.is_none() {
            self.revoked = max_hold.map_or(Nanoseconds::MAX, |most| ends(echo, most));
        }
        self.dated = Some(echo);
        self.expires = self.expires.max(ends(echo, ttl));
        self.unanswered = None;
        self.retrying = false;
        self.sixth = *RENEWALS.start();
        self.renews = echo.saturating_add(ttl / 6 * self.sixth);
    }

    /// When to try the next renewal after one at this time.
    fn try_next(&mut self, now: Nanoseconds, ttl: Nanoseconds) {
        let dated = self.dated.unwrap_or(now);
        while self.sixth <= *RENEWALS.end() && self.renews <= now {
            self.sixth += 1;
            self.renews = dated.saturating_add(ttl / 6 * self.sixth);
        }
        if self.sixth > *RENEWALS.end() {
            self.renews = Nanoseconds::MAX;
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

    /// A grant or a renewal: the lease lasts from the sending time that it echoes.
    pub(super) fn dated(&mut self, now: Nanoseconds, number: u64, echo: Nanoseconds) {
        let Some(ask) = self.asks.get_mut(&number) else {
            return;
        };
        let Phase::Held(held) = &mut ask.phase else {
            return;
        };
        held.date(now, echo, ask.ttl, ask.max_hold);
        if held.told {
            self.events.push(Event::Renewed { ask: number });
        } else if held.deadline() > now {
            held.told = true;
            let (ask, lease) = (number, held.lease);
            self.events.push(Event::Granted { ask, lease });
        }
        // One that was long on its way is renewed before anyone is told of it.
        self.set_timer(number);
        self.ring(now);
        self.send_renewals(now);
    }

    pub(super) fn look_at_held(&mut self, now: Nanoseconds, number: u64) {
        let Some(ask) = self.asks.get_mut(&number) else {
            return;
        };
        let Phase::Held(held) = &mut ask.phase else {
            return;
        };
        if held.told && held.deadline() <= now {
            return self.lose(number);
        }
        let (session, lease) = (ask.session, held.lease);
        if held.unanswered.is_some() && !held.retrying {
            held.retrying = true;
            self.events.push(Event::Retrying { ask: number });
        }
        if held
            .unanswered
            .is_some_and(|since| self.link.is_silent_since(since))
        {
            // The next connection renews it at once.
            return self.cut(now, "renewals were not answered");
        }
        held.unanswered = held.unanswered.or(Some(now));
        held.try_next(now, ask.ttl);
        if self.link.is_up() {
            self.renewals.entry(session).or_default().push(lease.into());
        }
    }

    /// Renews a lease at once: the session came back.
    pub(super) fn renew_now(&mut self, now: Nanoseconds, number: u64) {
        if let Some(Phase::Held(held)) = self.asks.get_mut(&number).map(|ask| &mut ask.phase) {
            held.renews = now;
            self.set_timer(number);
            self.ring(now);
        }
    }

    /// The store closed: the lease is lost. Its key is let go as its holder
    /// releases it, or at its ttl.
    pub(super) fn close_lease(&mut self, number: u64) {
        self.end(number, Ending::Closed);
    }

    /// A lease's own deadline has come.
    fn lose(&mut self, number: u64) {
        let Some(Phase::Held(held)) = self.asks.get(&number).map(|ask| &ask.phase) else {
            return;
        };
        let how = if held.revoked <= held.expires {
            Ending::Revoked
        } else if held.unanswered.is_some() || !self.link.is_up() {
            Ending::Unreachable
        } else {
            // Nobody ran to renew it.
            Ending::Expired
        };
        self.end(number, how);
    }

    pub(super) fn end(&mut self, number: u64, how: Ending) {
        self.forget(number);
        self.events.push(Event::Ended { ask: number, how });
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

    /// The holder lets the lease go. Its end is told when the store answers, or
    /// when it was known to last until now and no answer comes.
    pub fn release(&mut self, now: Nanoseconds, number: u64) {
        // A lease whose deadline has come is lost.
        self.ring(now);
        let Some(ask) = self.asks.get_mut(&number) else {
            return;
        };
        let Phase::Held(held) = &ask.phase else {
            return;
        };
        let (session, lease) = (ask.session, held.lease);
        let until = now.saturating_add(ANSWER_WAIT);
        ask.phase = Phase::Releasing(Releasing { lease, until });
        self.set_timer(number);
        let lease = Some(lease.into());
        self.say(now, session, Body::Release(wire::Release { lease }));
    }

    pub(super) fn look_at_releasing(&mut self, now: Nanoseconds, number: u64) {
        let is_over = |phase: &Phase| matches!(phase, Phase::Releasing(r) if r.until <= now);
        if self
            .asks
            .get(&number)
            .is_some_and(|ask| is_over(&ask.phase))
        {
            self.end(number, Ending::Released);
        }
    }
}
