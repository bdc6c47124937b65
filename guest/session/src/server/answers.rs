//! What the engine did, told to whom it concerns.

use alloc::string::ToString;
use alloc::vec::Vec;

use witlock_engine::{Counts, Ending, LeaseId};

use super::sessions::Held;
use super::tickets::{Tag, Ticket};
use super::{Event, Listed, Server};
use crate::Nanoseconds;
use crate::wire::ended::How;
use crate::wire::to_client::Body;
use crate::wire::{self, Renewed};

impl Server {
    /// The engine did something, in a step of this moment.
    pub fn told(&mut self, dated: Nanoseconds, event: Event) {
        match event {
            Event::Granted {
                ticket,
                lease,
                revoked,
            } => {
                self.granted(dated, ticket, lease, revoked);
            }
            Event::Refused { ticket, why, text } => {
                if let Some(ticket) = self.take_ticket(ticket) {
                    self.refuse(ticket.session, ticket.ask, why, text);
                }
            }
            Event::Ended { ticket, how } => self.ended(ticket, how),
            Event::Superseded(ticket) => {
                self.take_ticket(ticket);
            }
            Event::Renewed { tag } => self.renewed(dated, tag),
            Event::NotHeld { tag } => self.not_held(tag),
            Event::Fine { tag } => {
                self.answer_operator(tag, |tag| Body::Broke(wire::Broke { tag, held: true }))
            }
            Event::Holdings { tag, items, next } => self.holdings(tag, items, next),
            Event::Waiters { tag, items, next } => self.waiters(tag, items, next),
            Event::Counted { tag, counts } => {
                self.answer_operator(tag, |tag| Body::Counted(counted(tag, counts)));
            }
        }
    }

    fn granted(
        &mut self,
        dated: Nanoseconds,
        number: u64,
        lease: LeaseId,
        revoked: Option<Nanoseconds>,
    ) {
        let Some(ticket) = self.ticket(number) else {
            return;
        };
        ticket.fence = Some(lease.fence);
        ticket.hold = None;
        let &mut Ticket {
            session,
            ask,
            secret,
            ..
        } = ticket;
        self.forget_ask(session, ask, number);
        let new = Held {
            id: lease,
            secret: secret.unwrap_or(lease.secret),
            renewed: false,
            release: None,
            revoked,
        };
        let Some(holder) = self.sessions.get_mut(&session) else {
            return;
        };
        // Asked for again, it has it already.
        let held = holder.held.entry(lease.fence).or_insert(new);
        held.renewed |= secret.is_none();
        held.revoked = revoked;
        let secret = held.secret;
        let granted = wire::Granted {
            ask,
            lease: Some(wire::Lease {
                fence: lease.fence,
                secret,
            }),
            max_hold: left(revoked, dated),
        };
        self.tell_dated(session, Some(dated), Body::Granted(granted));
    }

    fn ended(&mut self, number: u64, how: Ending) {
        let Some(ticket) = self.take_ticket(number) else {
            return;
        };
        let Some(fence) = ticket.fence else { return };
        let release = self
            .held(ticket.session, fence)
            .and_then(|held| held.release);
        release.and_then(|tag| self.take_tag(tag));
        if let Some(holder) = self.sessions.get_mut(&ticket.session) {
            holder.held.remove(&fence);
        }
        self.tell_ended(ticket.session, fence, how_of(how));
    }

    fn renewed(&mut self, dated: Nanoseconds, tag: u64) {
        if let Some(Tag::Renew { session, fence }) = self.take_tag(tag) {
            let held = self.held(session, fence);
            let revoked = held.and_then(|held| {
                held.renewed = true;
                held.revoked
            });
            let max_hold = left(revoked, dated);
            let renewed = Renewed { fence, max_hold };
            self.tell_dated(session, Some(dated), Body::Renewed(renewed));
        }
    }

    fn not_held(&mut self, tag: u64) {
        match self.take_tag(tag) {
            Some(Tag::Renew { session, fence } | Tag::Release { session, fence }) => {
                self.tell_lost(session, fence);
            }
            Some(Tag::Operator { connection, own }) => {
                let broke = wire::Broke {
                    tag: own,
                    held: false,
                };
                self.say(connection, 0, 0, Body::Broke(broke));
            }
            Some(Tag::Resume) | None => {}
        }
    }

    /// A lease was named that is not held, or not by this id.
    pub(super) fn tell_lost(&mut self, session: u64, fence: u64) {
        let Some(holder) = self.sessions.get(&session) else {
            return;
        };
        let how = holder.endings.get(&fence).copied();
        let how = how.unwrap_or(How::Unknown);
        self.say_ended(session, fence, how);
    }

    fn holdings(&mut self, tag: u64, items: Vec<Listed<wire::Holding>>, next: Option<u64>) {
        let items = items.into_iter().map(|listed| wire::Holding {
            client: self.client_of(listed.session).map(ToString::to_string),
            ..listed.item
        });
        let items = items.collect();
        self.answer_operator(tag, |tag| {
            Body::Holdings(wire::Holdings { tag, items, next })
        });
    }

    fn waiters(&mut self, tag: u64, items: Vec<Listed<wire::Waiting>>, next: Option<(u64, u64)>) {
        let items = items.into_iter().map(|listed| wire::Waiting {
            client: self.client_of(listed.session).map(ToString::to_string),
            ..listed.item
        });
        let items = items.collect();
        let next = next.map(|(key, arrival)| wire::waiters::Cursor { key, arrival });
        self.answer_operator(tag, |tag| Body::Waiters(wire::Waiters { tag, items, next }));
    }

    fn answer_operator(&mut self, tag: u64, body: impl FnOnce(u64) -> Body) {
        if let Some(Tag::Operator { connection, own }) = self.take_tag(tag) {
            self.say(connection, 0, 0, body(own));
        }
    }
}

/// How long a max-hold still is.
fn left(revoked: Option<Nanoseconds>, dated: Nanoseconds) -> Option<Nanoseconds> {
    revoked.map(|at| at.saturating_sub(dated))
}

fn how_of(how: Ending) -> How {
    match how {
        Ending::Released => How::Released,
        Ending::Expired => How::Expired,
        Ending::Revoked => How::Revoked,
        Ending::Broken => How::Broken,
        Ending::Closed => How::Closed,
    }
}

fn counted(tag: u64, counts: Counts) -> wire::Counted {
    wire::Counted {
        tag,
        keys: counts.keys,
        leases: counts.leases,
        waiters: counts.waiters,
        sessions: counts.sessions,
    }
}
