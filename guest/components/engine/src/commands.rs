//! Commands as they come in.

use witlock_engine::{
    Check, Command, Hold, LeaseId, OpenSession, Options, Request, Restore, Resume,
};

use crate::wit;

pub(crate) fn from_wit(command: wit::Command) -> Command<'static> {
    match command {
        wit::Command::OpenSession(open) => Command::OpenSession(OpenSession {
            session: open.session,
            remote: open.remote,
            max_held: open.max_held,
            max_waiting: open.max_waiting,
        }),
        wit::Command::Check(check) => Command::Check(Check {
            tag: check.tag,
            name: check.name,
            limit: check.limit,
            options: options(check.options),
        }),
        wit::Command::Hold(ask) => Command::Hold(hold(ask)),
        wit::Command::Restore(restore) => Command::Restore(Restore {
            hold: hold(restore.hold),
            fence: restore.fence,
            since: restore.since,
            expires: restore.expires,
            revoked: restore.revoked,
        }),
        wit::Command::Cancel(ticket) => Command::Cancel(ticket),
        wit::Command::Renew(by) => Command::Renew {
            tag: by.tag,
            lease: lease(by.lease),
        },
        wit::Command::Release(by) => Command::Release {
            tag: by.tag,
            lease: lease(by.lease),
        },
        wit::Command::EndSession(session) => Command::EndSession(session),
        wit::Command::Suspend(session) => Command::Suspend(session),
        wit::Command::Resume(resume) => Command::Resume(Resume {
            tag: resume.tag,
            session: resume.session,
            leases: resume.leases.into_iter().map(lease).collect(),
            requests: resume.requests.into_iter().map(request).collect(),
        }),
        wit::Command::BreakLease(named) => Command::Break {
            tag: named.tag,
            fence: named.fence,
            place: named.place,
        },
        wit::Command::ListHoldings(list) => Command::ListHoldings {
            tag: list.tag,
            cursor: list.cursor,
        },
        wit::Command::ListWaiters(list) => {
            let cursor = (list.cursor.key, list.cursor.arrival);
            Command::ListWaiters {
                tag: list.tag,
                cursor,
            }
        }
        wit::Command::Count(tag) => Command::Count { tag },
        wit::Command::AddFences(fences) => Command::AddFences(fences.first..fences.end),
        wit::Command::FencesFailed(why) => Command::FencesFailed(why),
        wit::Command::Grace(until) => Command::Grace(until),
        wit::Command::Close => Command::Close,
    }
}

fn hold(hold: wit::Hold) -> Hold<'static> {
    Hold {
        ticket: hold.ticket,
        session: hold.session,
        name: hold.name.into(),
        limit: hold.limit,
        key: hold.key.into(),
        wait: hold.wait,
        options: options(hold.options),
        request: hold.request.map(request),
        alone: hold.alone,
    }
}

fn options(options: wit::Options) -> Options {
    Options {
        ttl: options.ttl,
        max_hold: options.max_hold,
        label: options.label,
    }
}

fn lease(id: wit::LeaseId) -> LeaseId {
    LeaseId {
        fence: id.fence,
        secret: id.secret,
    }
}

fn request(request: wit::Request) -> Request {
    Request::from(request.high) << 64 | Request::from(request.low)
}
