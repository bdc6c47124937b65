//! Events as they come out.

use witlock_engine::{Counts, Ending, Grant, Holding, LeaseId, Page, Waiting};

use super::wit;
use crate::machine::{Event, Why};

pub(super) fn from_wit(event: wit::Event) -> Event {
    match event {
        wit::Event::Granted(given) => Event::Granted(grant(given)),
        wit::Event::Refused(refused) => Event::Refused {
            ticket: refused.ticket,
            why: why_of(refused.why),
        },
        wit::Event::Ended(ended) => Event::Ended {
            ticket: ended.ticket,
            how: ending(ended.how),
        },
        wit::Event::Superseded(ticket) => Event::Superseded(ticket),
        wit::Event::Renewed(renewed) => Event::Renewed {
            tag: renewed.tag,
            deadline: renewed.deadline,
        },
        wit::Event::NotHeld(tag) => Event::NotHeld { tag },
        wit::Event::Fine(tag) => Event::Fine { tag },
        wit::Event::Invalid(invalid) => Event::Invalid {
            tag: invalid.tag,
            why: invalid.why,
        },
        wit::Event::Holdings(listed) => Event::Holdings {
            tag: listed.tag,
            page: Page {
                items: listed.items.into_iter().map(holding).collect(),
                next: listed.next,
            },
        },
        wit::Event::Waiters(listed) => Event::Waiters {
            tag: listed.tag,
            page: Page {
                items: listed.items.into_iter().map(waiting).collect(),
                next: listed.next.map(|next| (next.key, next.arrival)),
            },
        },
        wit::Event::Counted(counted) => Event::Counted {
            tag: counted.tag,
            counts: counts(&counted),
        },
        wit::Event::FencesLow(left) => Event::FencesLow { left },
    }
}

fn grant(grant: wit::Grant) -> Grant {
    Grant {
        ticket: grant.ticket,
        lease: LeaseId {
            fence: grant.lease.fence,
            secret: grant.lease.secret,
        },
        expires: grant.expires,
        revoked: grant.revoked,
    }
}

fn why_of(why: wit::Refusal) -> Why {
    match why {
        wit::Refusal::InUse => Why::InUse,
        wit::Refusal::HeldByCaller => Why::HeldByCaller,
        wit::Refusal::Invalid(why) => Why::Invalid(why),
        wit::Refusal::TooMany(why) => Why::TooMany(why),
        wit::Refusal::Closed => Why::Closed,
        wit::Refusal::Unavailable(why) => Why::Unavailable(why),
        wit::Refusal::Cancelled => Why::Cancelled,
    }
}

pub(super) fn ending(ending: wit::Ending) -> Ending {
    match ending {
        wit::Ending::Released => Ending::Released,
        wit::Ending::Expired => Ending::Expired,
        wit::Ending::Revoked => Ending::Revoked,
        wit::Ending::Broken => Ending::Broken,
        wit::Ending::Closed => Ending::Closed,
    }
}

fn holding(held: wit::Holding) -> Holding {
    Holding {
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

fn waiting(waiting: wit::Waiting) -> Waiting {
    Waiting {
        name: waiting.name,
        limit: waiting.limit,
        key: waiting.key,
        label: waiting.label,
        session: waiting.session,
        waited: waiting.waited,
        left: waiting.left,
    }
}

fn counts(counts: &wit::Counts) -> Counts {
    Counts {
        keys: counts.keys,
        leases: counts.leases,
        waiters: counts.waiters,
        sessions: counts.sessions,
        fences: counts.fences,
    }
}
