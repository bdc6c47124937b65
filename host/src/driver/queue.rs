//! What waits for the next step, and who waits for what came of one.

use std::collections::HashMap;

use witlock_engine::LeaseId;

use super::asks::{Asks, Granted, Wakers};
use super::machine::wit;
use super::outlet::{Outlet, Told, is_remote};
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
    pub outlet: Outlet,
    /// The open sessions, for an engine that takes the place of one that
    /// trapped.
    pub sessions: HashMap<u64, wit::OpenSession>,
    pub last_session: u64,
    pub closed: bool,
}

impl Queue {
    /// Hands out one event of a step of this moment.
    pub fn dispatch(&mut self, dated: u64, event: wit::Event, wakers: &mut Wakers) {
        if number(&event).is_some_and(is_remote) {
            return self.outlet.tell(Told::Event { dated, event }, wakers);
        }
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
    pub fn hand_out(&mut self, dated: u64, answer: &wit::Answer, wakers: &mut Wakers) {
        use wit::Told::{Ended, EndedAndGranted, Granted, InUse, More, NotHeld, Nothing};
        match answer.told {
            Granted => self.dispatch(dated, granted(answer), wakers),
            Ended => self.dispatch(dated, ended(answer), wakers),
            EndedAndGranted => {
                self.dispatch(dated, ended(answer), wakers);
                self.dispatch(dated, granted(answer), wakers);
            }
            InUse => self.dispatch(dated, in_use(answer), wakers),
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
        lease: wit::LeaseId,
        revoked: Option<u64>,
        wakers: &mut Wakers,
    ) {
        let id = LeaseId::from(lease);
        let granted = Granted {
            id,
            deadline: revoked,
        };
        let wanted = self.asks.ask(ticket);
        if wanted.is_none_or(|ask| ask.grant(granted, wakers)) {
            self.commands.push(release_command(id));
        }
    }
}

/// Whom an event is for, by its ticket or tag.
fn number(event: &wit::Event) -> Option<u64> {
    match event {
        wit::Event::Granted(wit::Grant { ticket: number, .. })
        | wit::Event::Refused(wit::Refused { ticket: number, .. })
        | wit::Event::Ended(wit::Ended { ticket: number, .. })
        | wit::Event::Superseded(number)
        | wit::Event::Renewed(wit::Renewed { tag: number, .. })
        | wit::Event::NotHeld(number)
        | wit::Event::Fine(number)
        | wit::Event::Invalid(wit::Invalid { tag: number, .. })
        | wit::Event::Holdings(wit::Holdings { tag: number, .. })
        | wit::Event::Waiters(wit::Waiters { tag: number, .. })
        | wit::Event::Counted(wit::Counts { tag: number, .. }) => Some(*number),
        wit::Event::FencesLow(_) => None,
    }
}

fn granted(answer: &wit::Answer) -> wit::Event {
    let unless_never = |moment| (moment != NEVER).then_some(moment);
    wit::Event::Granted(wit::Grant {
        ticket: answer.ticket,
        lease: answer.lease,
        expires: unless_never(answer.expires),
        revoked: unless_never(answer.revoked),
    })
}

fn ended(answer: &wit::Answer) -> wit::Event {
    wit::Event::Ended(wit::Ended {
        ticket: answer.ended,
        how: answer.how,
    })
}

fn in_use(answer: &wit::Answer) -> wit::Event {
    wit::Event::Refused(wit::Refused {
        ticket: answer.ticket,
        why: wit::Refusal::InUse,
    })
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

impl From<wit::LeaseId> for LeaseId {
    fn from(wit::LeaseId { fence, secret }: wit::LeaseId) -> Self {
        LeaseId { fence, secret }
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
