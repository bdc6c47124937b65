//! The events of a step with one command, if numbers tell them all.

use witlock_engine::{Ending, Event, Grant, Nanoseconds, Refusal, Ticket};

use crate::{events, wit};

/// A moment that never comes.
const NEVER: Nanoseconds = Nanoseconds::MAX;

/// The answer that tells these events, or that there is more to tell.
pub(crate) fn to_wit(events: &[Event], next_deadline: Option<Nanoseconds>) -> wit::Answer {
    let mut answer = nothing(next_deadline);
    match *events {
        [] => {}
        [Event::Granted(ref grant)] => granted(&mut answer, grant),
        [Event::Ended { ticket, how }] => ended(&mut answer, ticket, how),
        [Event::Ended { ticket, how }, Event::Granted(ref grant)] => {
            granted(&mut answer, grant);
            ended(&mut answer, ticket, how);
            answer.told = wit::Told::EndedAndGranted;
        }
        [
            Event::Refused {
                ticket,
                why: Refusal::InUse,
            },
        ] => {
            answer.told = wit::Told::InUse;
            answer.ticket = ticket;
        }
        [Event::NotHeld { .. }] => answer.told = wit::Told::NotHeld,
        _ => answer.told = wit::Told::More,
    }
    answer
}

fn nothing(next_deadline: Option<Nanoseconds>) -> wit::Answer {
    wit::Answer {
        told: wit::Told::Nothing,
        ended: 0,
        how: wit::Ending::Released,
        ticket: 0,
        lease: wit::LeaseId {
            fence: 0,
            secret: 0,
        },
        expires: 0,
        revoked: 0,
        next_deadline: next_deadline.unwrap_or(NEVER),
    }
}

fn granted(answer: &mut wit::Answer, grant: &Grant) {
    answer.told = wit::Told::Granted;
    answer.ticket = grant.ticket;
    answer.lease.fence = grant.lease.fence;
    answer.lease.secret = grant.lease.secret;
    answer.expires = grant.expires.unwrap_or(NEVER);
    answer.revoked = grant.revoked.unwrap_or(NEVER);
}

fn ended(answer: &mut wit::Answer, ticket: Ticket, how: Ending) {
    answer.told = wit::Told::Ended;
    answer.ended = ticket;
    answer.how = events::ending(how);
}
