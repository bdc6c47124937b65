//! What waits for the next step, and who waits for what came of one.

use std::collections::HashMap;

use super::asks::{Asks, Granted, LeaseId, Wakers};
use super::machine::wit;
use crate::{Ending, LockError};

/// By what a command goes that needs no answer of its own: the end of a lease
/// tells of its release.
const NO_TAG: u64 = 0;

/// A moment that never comes, in an answer of the engine.
pub(super) const NEVER: u64 = u64::MAX;

/// What waits for the next step.
#[derive(Default)]
pub(super) struct Queue {
    pub commands: Vec<wit::Command>,
    pub asks: Asks,
    /// The open sessions, for an engine that takes the place of one that
    /// trapped.
    pub sessions: HashMap<u64, wit::OpenSession>,
    pub last_session: u64,
    pub closed: bool,
}

impl Queue {
    /// Hands out one event of a step.
    pub fn dispatch(&mut self, event: wit::Event, wakers: &mut Wakers) {
        match event {
            wit::Event::Granted(grant) => {
                self.granted(grant.ticket, grant.lease, grant.revoked, wakers);
            }
            wit::Event::Refused(refused) => self.refused(refused.ticket, refused.why, wakers),
            wit::Event::Ended(ended) => self.ended(ended.ticket, ended.how, wakers),
            wit::Event::Superseded(ticket) => {
                // Nobody in this process asks again by a request.
                debug_assert!(false, "ticket {ticket} superseded");
            }
            wit::Event::Renewed(wit::Renewed { tag, .. })
            | wit::Event::NotHeld(tag)
            | wit::Event::Fine(tag)
            | wit::Event::Invalid(wit::Invalid { tag, .. })
            | wit::Event::Holdings(wit::Holdings { tag, .. })
            | wit::Event::Waiters(wit::Waiters { tag, .. })
            | wit::Event::Counted(wit::Counts { tag, .. }) => {
                if let Some(reply) = self.asks.take_reply(tag) {
                    reply.answer(Ok(event), wakers);
                }
            }
            wit::Event::FencesLow(_) => {}
        }
    }

    /// Hands out what a step with one command came to.
    pub fn hand_out(&mut self, answer: &wit::Answer, wakers: &mut Wakers) {
        use wit::Told::{Ended, EndedAndGranted, Granted, InUse, More, NotHeld, Nothing};
        let revoked = (answer.revoked != NEVER).then_some(answer.revoked);
        match answer.told {
            Granted => self.granted(answer.ticket, answer.lease, revoked, wakers),
            Ended => self.ended(answer.ended, answer.how, wakers),
            EndedAndGranted => {
                self.ended(answer.ended, answer.how, wakers);
                self.granted(answer.ticket, answer.lease, revoked, wakers);
            }
            InUse => self.refused(answer.ticket, wit::Refusal::InUse, wakers),
            Nothing | NotHeld | More => {}
        }
    }

    fn refused(&mut self, ticket: u64, why: wit::Refusal, wakers: &mut Wakers) {
        if let Some(ask) = self.asks.take_ask(ticket) {
            ask.refuse(lock_error(why), wakers);
        }
    }

    fn ended(&mut self, ticket: u64, how: wit::Ending, wakers: &mut Wakers) {
        if let Some(ask) = self.asks.take_ask(ticket) {
            ask.end(ending(how), wakers);
        }
    }

    fn granted(
        &mut self,
        ticket: u64,
        wit::LeaseId { fence, secret }: wit::LeaseId,
        revoked: Option<u64>,
        wakers: &mut Wakers,
    ) {
        let id = LeaseId { fence, secret };
        let granted = Granted { id, revoked };
        let wanted = self.asks.ask(ticket);
        if wanted.is_none_or(|ask| ask.grant(granted, wakers)) {
            self.commands.push(release_command(id));
        }
    }
}

pub(super) fn release_command(id: LeaseId) -> wit::Command {
    wit::Command::Release(wit::ByLease {
        tag: NO_TAG,
        lease: id.into(),
    })
}

impl From<LeaseId> for wit::LeaseId {
    fn from(LeaseId { fence, secret }: LeaseId) -> Self {
        wit::LeaseId { fence, secret }
    }
}

fn lock_error(refusal: wit::Refusal) -> LockError {
    match refusal {
        wit::Refusal::InUse => LockError::InUse,
        wit::Refusal::HeldByCaller => LockError::HeldByCaller,
        wit::Refusal::Invalid(why) => LockError::Invalid(why),
        wit::Refusal::TooMany(why) => LockError::TooMany(why),
        // Who cancelled doesn't ask why.
        wit::Refusal::Closed | wit::Refusal::Cancelled => LockError::Closed,
        wit::Refusal::Unavailable(why) => LockError::Unavailable(why),
    }
}

fn ending(ending: wit::Ending) -> Ending {
    match ending {
        wit::Ending::Released => Ending::Released,
        wit::Ending::Expired => Ending::Expired,
        wit::Ending::Revoked => Ending::Revoked,
        wit::Ending::Broken => Ending::Broken,
        wit::Ending::Closed => Ending::Closed,
    }
}
