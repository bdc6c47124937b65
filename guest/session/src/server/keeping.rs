//! Leases are kept as they are given, renewed for the first time since a start, and
//! ended: before anybody is told.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use witlock_engine::bounds::TTL_DEFAULT;
use witlock_engine::{Command, LeaseId};

use super::tickets::{Tag, Ticket};
use super::{Event, Server};
use crate::Nanoseconds;
use crate::journal::{Body, Ended, Given, Record, Renewed};
use crate::wire::refused::Why;

/// What the engine did in a step of this moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The moment.
    pub dated: Nanoseconds,
    /// What it did.
    pub event: Event,
}

impl Server {
    /// The engine did all this. Those to whom it matters are told, after `keep` has
    /// kept the records of it. Where it can't, asks are refused `unavailable` instead
    /// of granted, their leases let go, and renewals not answered: what nobody was
    /// told need not be known to the next server.
    pub fn told_all(
        &mut self,
        told: Vec<Told>,
        keep: impl FnOnce(Vec<Record>) -> Result<(), String>,
    ) {
        let records = self.records(&told);
        let kept = match records.is_empty() {
            true => Ok(()),
            false => keep(records),
        };
        for Told { dated, event } in told {
            match &kept {
                Ok(()) => self.told(dated, event),
                Err(why) => self.told_unkept(dated, event, why),
            }
        }
    }

    fn records(&mut self, told: &[Told]) -> Vec<Record> {
        // Leases of this step of which no ticket knows yet.
        let mut given = BTreeMap::new();
        let record = |Told { dated, event }: &Told| match event {
            Event::Granted {
                ticket,
                lease,
                revoked,
            } => {
                given.insert(*ticket, lease.fence);
                self.record_of_grant(*dated, *ticket, *lease, *revoked)
            }
            Event::Renewed { tag } => self
                .first_renewal(*tag)
                .map(|fence| Body::Renewed(Renewed { fence }).into()),
            // What could not be restored is over.
            Event::Refused { ticket, .. } => {
                let fence = self.peek_ticket(*ticket)?.fence?;
                Some(Body::Ended(Ended { fence }).into())
            }
            Event::Ended { ticket, .. } => {
                let fence = self.peek_ticket(*ticket)?.fence;
                let fence = fence.or_else(|| given.get(ticket).copied())?;
                Some(Body::Ended(Ended { fence }).into())
            }
            _ => None,
        };
        told.iter().filter_map(record).collect()
    }

    fn record_of_grant(
        &mut self,
        dated: Nanoseconds,
        number: u64,
        lease: LeaseId,
        revoked: Option<Nanoseconds>,
    ) -> Option<Record> {
        let place = self.place(number)?;
        let ticket = self.tickets.get_mut(place)?;
        let fence = lease.fence;
        let session = self.sessions.get(&ticket.session)?;
        if let Some(held) = session.held.get(&fence) {
            // It was asked for again, which renews it.
            return (!held.renewed).then(|| Body::Renewed(Renewed { fence }).into());
        }
        // What was restored has its record.
        let hold = *ticket.hold.take()?;
        let given = Given {
            fence,
            secret: lease.secret,
            session: session.id.to_be_bytes().to_vec(),
            max_held: session.max_held,
            max_waiting: session.max_waiting,
            ask: hold.ask,
            name: hold.name,
            limit: hold.limit,
            key: hold.key,
            ttl: hold.ttl.unwrap_or(TTL_DEFAULT),
            max_hold: hold.max_hold,
            label: hold.label,
            since: dated,
            revoked,
            expires: None,
        };
        Some(Body::Given(given).into())
    }

    /// The fence of a lease that no renewal since the start was kept of.
    fn first_renewal(&self, tag: u64) -> Option<u64> {
        let Some(Tag::Renew { session, fence }) = self.peek_tag(tag) else {
            return None;
        };
        let held = self.sessions.get(&session)?.held.get(&fence)?;
        (!held.renewed).then_some(fence)
    }

    fn told_unkept(&mut self, dated: Nanoseconds, event: Event, why: &str) {
        match event {
            Event::Granted { ticket, lease, .. } if self.is_asked(ticket) => {
                self.refuse_granted(ticket, lease, why);
            }
            Event::Renewed { tag } if self.first_renewal(tag).is_some() => {
                // Asked again, it is told if it is kept then.
                self.take_tag(tag);
            }
            event => self.told(dated, event),
        }
    }

    /// Whether a ticket is one of an ask, not of a lease that was restored.
    fn is_asked(&self, number: u64) -> bool {
        let ticket = self.peek_ticket(number);
        ticket.is_some_and(|ticket| ticket.secret.is_none())
    }

    fn refuse_granted(&mut self, number: u64, lease: LeaseId, why: &str) {
        let Some(&Ticket { session, ask, .. }) = self.peek_ticket(number) else {
            return;
        };
        self.forget_ask(session, ask, number);
        self.refuse(session, ask, Why::Unavailable, why.to_string());
        self.note_if_had(number, session, lease.fence);
        let tag = self.base;
        self.commands.push(Command::Release { tag, lease });
    }

    /// The end of a lease that was refused concerns nobody, unless the session has it
    /// since before a start, and asked for it again.
    fn note_if_had(&mut self, number: u64, session: u64, fence: u64) {
        let has = self.held(session, fence).is_some();
        if let Some(ticket) = self.ticket(number).filter(|_| has) {
            ticket.fence = Some(fence);
        }
    }
}
