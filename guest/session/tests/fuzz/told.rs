//! What the server tells of what the engine did: each thing once, to whom it
//! concerns.

use witlock_engine::{Command, Event as Did};
use witlock_session::server::{ConnectionId, Event, Told};
use witlock_session::wire::to_client::Body;
use witlock_session::wire::{Lease, ToClient, ended::How};

use crate::engine::News;
use crate::ledger::{Noted, Tag};
use crate::store::Store;

/// What is to be told.
#[derive(Debug)]
enum Due {
    Granted(u64, Lease),
    Refused(u64),
    Ended(u64, How),
    /// It was named, and is not held so.
    Lost(u64),
    Renewed(u64),
    Operator(u64),
}

/// By whom it is told, and of which of its sessions.
type To = (ConnectionId, u64);

impl Store {
    /// Tells the server what it was not told; false if there is nothing.
    pub fn tell(&mut self) -> bool {
        match self.driven.news.pop_front() {
            None => return false,
            Some(News::BeganAnew) => self.begin_anew(),
            Some(News::Did(dated, noted)) => self.tell_of(dated, noted),
        }
        true
    }

    fn tell_of(&mut self, dated: u64, did: Noted) {
        let due = self.due(&did);
        let Some(event) = Event::of(did.event.clone()) else {
            return;
        };
        let is_kept = self.keep(Told { dated, event });
        let due = match due {
            Some((to, Due::Granted(ask, _))) if !is_kept => Some((to, Due::Refused(ask))),
            // It is asked for again.
            Some((_, Due::Renewed(_))) if !is_kept => None,
            due => due,
        };
        self.let_go(&did, is_kept);
        self.note_known(&did, is_kept);
        let mut heard = self.collect();
        let Some((to, due)) = due.filter(|((id, _), _)| !self.ears[id].is_deaf) else {
            return assert!(heard.is_empty(), "nobody did what is told: {heard:?}");
        };
        assert_eq!(heard.len(), 1, "{due:?} is told by {heard:?}");
        let (id, message) = heard.remove(0);
        assert_eq!((id, message.session), to);
        self.assert_told(dated, to, &due, &message);
        self.note_due(to, &due);
    }

    /// Tells the server; whether the records of it were kept.
    fn keep(&mut self, told: Told) -> bool {
        let (journal, is_writable) = (&mut self.journal, self.is_writable);
        let mut is_kept = true;
        self.server.told_all(vec![told], |records| {
            is_kept = is_writable;
            if !is_kept {
                return Err("the disk is full".into());
            }
            records.into_iter().for_each(|record| journal.apply(record));
            Ok(())
        });
        is_kept
    }

    /// A lease that could not be kept is let go, and nothing else is done.
    fn let_go(&mut self, did: &Noted, is_kept: bool) {
        let commands = self.server.commands();
        match did.event {
            Did::Granted(grant) if !is_kept => {
                let lease = grant.lease;
                let is_it = |it: &Command| matches!(it, Command::Release { lease: let_go, .. } if *let_go == lease);
                assert!(commands.len() == 1 && is_it(&commands[0]), "{commands:?}");
                // One that was asked for again ends as any does.
                if !self.known.contains(&lease.fence) {
                    self.unkept.insert(grant.ticket);
                }
                self.tally.count("unkept");
            }
            _ => assert!(commands.is_empty(), "nobody asked for {commands:?}"),
        }
        self.driven.submitted.extend(commands);
    }

    /// Which leases the server knows, as told to a holder or restored.
    fn note_known(&mut self, did: &Noted, is_kept: bool) {
        match (&did.event, did.ask) {
            (Did::Granted(grant), _) if is_kept => drop(self.known.insert(grant.lease.fence)),
            (Did::Ended { .. }, Some(ask)) => {
                let fence = ask.fence.expect("a lease");
                self.known.remove(&fence);
            }
            _ => {}
        }
    }

    /// What is to be told of an event, and to whom.
    fn due(&mut self, did: &Noted) -> Option<(To, Due)> {
        if let Some(ask) = did.ask {
            let due = match did.event {
                Did::Granted(grant) => {
                    let given = self.driven.ledger.given.get(&grant.lease.fence);
                    let told = given.expect("a lease").told;
                    Due::Granted(ask.ask, told.into())
                }
                Did::Refused { .. } => Due::Refused(ask.ask),
                Did::Ended { ticket, .. } if self.unkept.remove(&ticket) => return None,
                Did::Ended { how, .. } => {
                    let fence = ask.fence.expect("a lease");
                    // This answers the release too.
                    let session = ask.session;
                    let answered = Tag::Release { session, fence };
                    self.driven.ledger.tags.retain(|_, tag| *tag != answered);
                    Due::Ended(fence, how_of(how))
                }
                Did::Superseded(ticket) => {
                    self.unkept.remove(&ticket);
                    return None;
                }
                _ => return None,
            };
            return Some((self.reached(ask.session)?, due));
        }
        let (tag, is_held) = answered(&did.event)?;
        match self.driven.ledger.tags.remove(&tag)? {
            Tag::Resume => None,
            Tag::Renew { session, fence } if is_held => {
                Some((self.reached(session)?, Due::Renewed(fence)))
            }
            Tag::Renew { session, fence } | Tag::Release { session, fence } => {
                Some((self.reached(session)?, Due::Lost(fence)))
            }
            Tag::Operator(id, tag) => {
                let goes_on = self.ears.contains_key(&id) && !self.server.is_over(id);
                goes_on.then_some(((id, 0), Due::Operator(tag)))
            }
        }
    }

    fn assert_told(&mut self, dated: u64, to: To, due: &Due, message: &ToClient) {
        let body = message.body.as_ref().expect("a body");
        let is_it = match (due, body) {
            (Due::Granted(ask, lease), Body::Granted(told)) => {
                self.assert_echo(dated, to, message.echo);
                (told.ask, told.lease) == (*ask, Some(*lease))
            }
            (Due::Renewed(fence), Body::Renewed(told)) => {
                self.assert_echo(dated, to, message.echo);
                told.fence == *fence
            }
            (Due::Refused(ask), Body::Refused(told)) => told.ask == *ask,
            (Due::Ended(fence, how), Body::Ended(told)) => {
                (told.fence, told.how()) == (*fence, *how)
            }
            (Due::Lost(fence), Body::Ended(told)) => told.fence == *fence,
            (Due::Operator(tag), body) => operators_tag(body) == Some(*tag),
            _ => false,
        };
        assert!(is_it, "{due:?} is told by {body:?}");
    }

    /// LOCK-08: what is echoed was said by the session, before the lease was dated.
    fn assert_echo(&self, dated: u64, (id, own): To, echo: u64) {
        let number = self.ears[&id].sessions[&own].number;
        let came = self.sessions[&number].sent.get(&echo);
        let is_said = came.is_some_and(|came| *came <= dated);
        assert!(is_said || echo == 0, "it was said later, or never");
    }

    fn note_due(&mut self, (id, own): To, due: &Due) {
        self.tally.count(match due {
            Due::Granted(..) => "granted",
            Due::Ended(_, How::Released) => "released",
            Due::Ended(_, How::Broken) => "broken",
            Due::Ended(..) => "ended otherwise",
            Due::Refused(_) => "refused",
            Due::Renewed(_) => "renewed",
            Due::Lost(_) => "lost",
            Due::Operator(_) => "operated",
        });
        let ear = self.ears.get_mut(&id).expect("a connection");
        match (ear.sessions.get_mut(&own), due) {
            (Some(at), Due::Granted(_, lease)) => drop(at.told.insert(lease.fence)),
            (Some(at), Due::Ended(fence, _)) => at.forget(*fence),
            _ => {}
        }
    }
}

/// Which command an event answers, and whether by what it hoped for.
fn answered(event: &Did) -> Option<(u64, bool)> {
    match event {
        Did::NotHeld { tag } => Some((*tag, false)),
        Did::Renewed { tag, .. }
        | Did::Fine { tag }
        | Did::Holdings { tag, .. }
        | Did::Waiters { tag, .. }
        | Did::Counted { tag, .. } => Some((*tag, true)),
        _ => None,
    }
}

fn operators_tag(body: &Body) -> Option<u64> {
    match body {
        Body::Holdings(it) => Some(it.tag),
        Body::Waiters(it) => Some(it.tag),
        Body::Broke(it) => Some(it.tag),
        Body::Counted(it) => Some(it.tag),
        _ => None,
    }
}

fn how_of(how: witlock_engine::Ending) -> How {
    use witlock_engine::Ending;
    match how {
        Ending::Released => How::Released,
        Ending::Expired => How::Expired,
        Ending::Revoked => How::Revoked,
        Ending::Broken => How::Broken,
        Ending::Closed => How::Closed,
    }
}
