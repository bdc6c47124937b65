//! Between the types of `witlock_session` and those of the engine component.

use witlock_engine::{Command, Counts, Ending, Hold, LeaseId, Options, Request};
use witlock_session::server::{Event, Listed};
use witlock_session::wire::{self, refused::Why};

use crate::driver::wit;

/// A command as the engine takes it.
pub(super) fn command(command: Command<'static>) -> wit::Command {
    match command {
        Command::OpenSession(open) => wit::Command::OpenSession(wit::OpenSession {
            session: open.session,
            remote: open.remote,
            max_held: open.max_held,
            max_waiting: open.max_waiting,
        }),
        Command::Check(check) => wit::Command::Check(wit::Check {
            tag: check.tag,
            name: check.name,
            limit: check.limit,
            options: options(check.options),
        }),
        Command::Hold(ask) => wit::Command::Hold(hold(ask)),
        Command::Restore(restore) => wit::Command::Restore(wit::Restore {
            hold: hold(restore.hold),
            fence: restore.fence,
            since: restore.since,
            expires: restore.expires,
            revoked: restore.revoked,
        }),
        Command::Cancel(ticket) => wit::Command::Cancel(ticket),
        Command::Renew { tag, lease } => wit::Command::Renew(by_lease(tag, lease)),
        Command::Release { tag, lease } => wit::Command::Release(by_lease(tag, lease)),
        Command::EndSession(session) => wit::Command::EndSession(session),
        Command::Suspend(session) => wit::Command::Suspend(session),
        Command::Resume(resume) => wit::Command::Resume(wit::Resume {
            tag: resume.tag,
            session: resume.session,
            leases: resume.leases.into_iter().map(Into::into).collect(),
            requests: resume.requests.into_iter().map(request).collect(),
        }),
        Command::Break { tag, fence, place } => {
            wit::Command::BreakLease(wit::BreakLease { tag, fence, place })
        }
        Command::ListHoldings { tag, cursor } => {
            wit::Command::ListHoldings(wit::ListHoldings { tag, cursor })
        }
        Command::ListWaiters { tag, cursor } => {
            let (key, arrival) = cursor;
            let cursor = wit::WaitersCursor { key, arrival };
            wit::Command::ListWaiters(wit::ListWaiters { tag, cursor })
        }
        Command::Count { tag } => wit::Command::Count(tag),
        Command::AddFences(range) => wit::Command::AddFences(wit::Fences {
            first: range.start,
            end: range.end,
        }),
        Command::FencesFailed(why) => wit::Command::FencesFailed(why),
        Command::Grace(until) => wit::Command::Grace(until),
        Command::Close => wit::Command::Close,
    }
}

fn hold(hold: Hold) -> wit::Hold {
    wit::Hold {
        ticket: hold.ticket,
        session: hold.session,
        name: hold.name.into_owned(),
        limit: hold.limit,
        key: hold.key.into_owned(),
        wait: hold.wait,
        options: options(hold.options),
        request: hold.request.map(request),
        alone: hold.alone,
    }
}

fn options(options: Options) -> wit::Options {
    wit::Options {
        ttl: options.ttl,
        max_hold: options.max_hold,
        label: options.label,
    }
}

fn by_lease(tag: u64, lease: LeaseId) -> wit::ByLease {
    let lease = lease.into();
    wit::ByLease { tag, lease }
}

fn request(request: Request) -> wit::Request {
    wit::Request {
        low: request as u64,
        high: (request >> 64) as u64,
    }
}

/// An event of the engine's, if it is one of those that a server asks for.
pub(super) fn event(event: wit::Event) -> Option<Event> {
    Some(match event {
        wit::Event::Granted(grant) => Event::Granted {
            ticket: grant.ticket,
            lease: grant.lease.into(),
            revoked: grant.revoked,
        },
        wit::Event::Refused(refused) => {
            let (why, text) = why(refused.why);
            let ticket = refused.ticket;
            Event::Refused { ticket, why, text }
        }
        wit::Event::Ended(ended) => Event::Ended {
            ticket: ended.ticket,
            how: ending(ended.how),
        },
        wit::Event::Superseded(ticket) => Event::Superseded(ticket),
        wit::Event::Renewed(wit::Renewed { tag, .. }) => Event::Renewed { tag },
        wit::Event::NotHeld(tag) => Event::NotHeld { tag },
        wit::Event::Fine(tag) => Event::Fine { tag },
        wit::Event::Holdings(page) => Event::Holdings {
            tag: page.tag,
            items: page.items.into_iter().map(holding).collect(),
            next: page.next,
        },
        wit::Event::Waiters(page) => Event::Waiters {
            tag: page.tag,
            items: page.items.into_iter().map(waiting).collect(),
            next: page.next.map(|at| (at.key, at.arrival)),
        },
        wit::Event::Counted(counts) => Event::Counted {
            tag: counts.tag,
            counts: Counts {
                keys: counts.keys,
                leases: counts.leases,
                waiters: counts.waiters,
                sessions: counts.sessions,
                fences: counts.fences,
            },
        },
        wit::Event::Invalid(_) | wit::Event::FencesLow(_) => return None,
    })
}

fn why(refusal: wit::Refusal) -> (Why, String) {
    match refusal {
        wit::Refusal::InUse => (Why::InUse, String::new()),
        wit::Refusal::HeldByCaller => (Why::HeldByCaller, String::new()),
        wit::Refusal::Invalid(text) => (Why::Invalid, text),
        wit::Refusal::TooMany(text) => (Why::TooMany, text),
        wit::Refusal::Closed => (Why::Closed, String::new()),
        wit::Refusal::Cancelled => (Why::Cancelled, String::new()),
        wit::Refusal::Unavailable(text) => (Why::Unavailable, text),
    }
}

fn ending(how: wit::Ending) -> Ending {
    match how {
        wit::Ending::Released => Ending::Released,
        wit::Ending::Expired => Ending::Expired,
        wit::Ending::Revoked => Ending::Revoked,
        wit::Ending::Broken => Ending::Broken,
        wit::Ending::Closed => Ending::Closed,
    }
}

fn holding(held: wit::Holding) -> Listed<wire::Holding> {
    let item = wire::Holding {
        name: held.name,
        limit: held.limit,
        key: held.key,
        label: held.label,
        client: None,
        fence: held.fence,
        place: held.place,
        held: held.held,
        left: held.left,
    };
    let session = held.session;
    Listed { session, item }
}

fn waiting(waiting: wit::Waiting) -> Listed<wire::Waiting> {
    let item = wire::Waiting {
        name: waiting.name,
        limit: waiting.limit,
        key: waiting.key,
        label: waiting.label,
        client: None,
        waited: waiting.waited,
        left: waiting.left,
    };
    let session = waiting.session;
    Listed { session, item }
}
