//! Commands as they go in.

use witlock_engine::{LeaseId, Options, Request};

use super::wit;
use crate::machine::{Command, Hold};

pub(super) fn to_wit(command: Command) -> wit::Command {
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
            leases: resume.leases.into_iter().map(lease_id).collect(),
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
    wit::ByLease {
        tag,
        lease: lease_id(lease),
    }
}

pub(super) fn lease_id(id: LeaseId) -> wit::LeaseId {
    wit::LeaseId {
        fence: id.fence,
        secret: id.secret,
    }
}

fn request(request: Request) -> wit::Request {
    wit::Request {
        low: request as u64,
        high: (request >> 64) as u64,
    }
}
