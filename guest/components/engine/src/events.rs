//! Events as they go out.

use witlock_engine::{Ending, Event, Grant, Holding, Refusal, Waiting};

use crate::wit;

pub(crate) fn to_wit(event: Event) -> wit::Event {
    match event {
        Event::Granted(given) => wit::Event::Granted(grant(given)),
        Event::Refused { ticket, why } => wit::Event::Refused(wit::Refused {
            ticket,
            why: refusal(why),
        }),
        Event::Ended { ticket, how } => wit::Event::Ended(wit::Ended {
            ticket,
            how: ending(how),
        }),
        Event::Superseded(ticket) => wit::Event::Superseded(ticket),
        Event::Renewed { tag, deadline } => wit::Event::Renewed(wit::Renewed { tag, deadline }),
        Event::NotHeld { tag } => wit::Event::NotHeld(tag),
        Event::Fine { tag } => wit::Event::Fine(tag),
        Event::Invalid { tag, why } => wit::Event::Invalid(wit::Invalid {
            tag,
            why: why.to_string(),
        }),
        Event::Holdings { tag, page } => wit::Event::Holdings(wit::Holdings {
            tag,
            items: page.items.into_iter().map(holding).collect(),
            next: page.next,
        }),
        Event::Waiters { tag, page } => wit::Event::Waiters(wit::Waiters {
            tag,
            items: page.items.into_iter().map(waiting).collect(),
            next: page
                .next
                .map(|(key, arrival)| wit::WaitersCursor { key, arrival }),
        }),
        Event::Counted { tag, counts } => wit::Event::Counted(wit::Counts {
            tag,
            keys: counts.keys,
            leases: counts.leases,
            waiters: counts.waiters,
            sessions: counts.sessions,
            fences: counts.fences,
        }),
        Event::FencesLow { left } => wit::Event::FencesLow(left),
    }
}

fn grant(grant: Grant) -> wit::Grant {
    wit::Grant {
        ticket: grant.ticket,
        lease: wit::LeaseId {
            fence: grant.lease.fence,
            secret: grant.lease.secret,
        },
        expires: grant.expires,
        revoked: grant.revoked,
    }
}

fn refusal(refusal: Refusal) -> wit::Refusal {
    match refusal {
        Refusal::InUse => wit::Refusal::InUse,
        Refusal::HeldByCaller => wit::Refusal::HeldByCaller,
        Refusal::Invalid(why) => wit::Refusal::Invalid(why.to_string()),
        Refusal::TooMany(why) => wit::Refusal::TooMany(why.to_string()),
        Refusal::Closed => wit::Refusal::Closed,
        Refusal::Unavailable(why) => wit::Refusal::Unavailable(why),
        Refusal::Cancelled => wit::Refusal::Cancelled,
    }
}

pub(crate) fn ending(ending: Ending) -> wit::Ending {
    match ending {
        Ending::Released => wit::Ending::Released,
        Ending::Expired => wit::Ending::Expired,
        Ending::Revoked => wit::Ending::Revoked,
        Ending::Broken => wit::Ending::Broken,
        Ending::Closed => wit::Ending::Closed,
    }
}

fn holding(held: Holding) -> wit::Holding {
    wit::Holding {
        name: held.name,
        limit: held.limit,
        key: held.key,
        label: held.label,
        session: held.session,
        fence: held.fence,
        place: held.place,
        held: held.held,
        left: held.left,
    }
}

fn waiting(waiting: Waiting) -> wit::Waiting {
    wit::Waiting {
        name: waiting.name,
        limit: waiting.limit,
        key: waiting.key,
        label: waiting.label,
        session: waiting.session,
        waited: waiting.waited,
        left: waiting.left,
    }
}
