//! What clients say.

use alloc::string::String;

use witlock_engine::bounds::{TTL_DEFAULT, TTL_MOST};
use witlock_engine::{Command, Hold, Options, Request};

use super::connections::{Client, ConnectionId};
use super::sessions::Held;
use super::tickets::Tag;
use super::{Server, WAITING_PER_CONNECTION, admission};
use crate::Nanoseconds;
use crate::wire::goodbye::Reason;
use crate::wire::refused::Why;
use crate::wire::to_client::Body;
use crate::wire::to_store::Body as Said;
use crate::wire::{self, RENEWED_AT_ONCE, ToStore, VERSION};

impl Server {
    /// Hears one message.
    pub(super) fn hear(&mut self, now: Nanoseconds, id: ConnectionId, message: ToStore) {
        let ToStore {
            sent,
            session: own,
            body,
        } = message;
        let is_known = self
            .connections
            .get(&id.0)
            .is_some_and(|c| c.client.is_some());
        match (body, is_known) {
            (Some(Said::Hello(hello)), false) => self.greet(now, id, &hello),
            (_, false) => self.dismiss(id, Reason::Malformed, "the first message is a hello"),
            (Some(Said::Hello(_)), true) => {
                self.dismiss(id, Reason::Malformed, "there is one hello");
            }
            (Some(Said::Enter(enter)), true) => {
                self.enter(now, id, own, enter);
                self.note(now, id, own, sent);
            }
            (Some(Said::Ping(_)), true) => {
                self.note(now, id, own, sent);
                self.say(id, own, 0, Body::Pong(wire::Pong {}));
            }
            (Some(Said::Leave(_)), true) => self.leave(now, id, own),
            (Some(body), true) => {
                self.note(now, id, own, sent);
                self.hear_of_session(now, id, own, body);
            }
            // A message that a later version of the protocol added.
            (None, true) => {}
        }
    }

    fn greet(&mut self, now: Nanoseconds, id: ConnectionId, hello: &wire::Hello) {
        let Some(connection) = self.connections.get_mut(&id.0) else {
            return;
        };
        match self.admission.admit(connection.trust, hello) {
            Ok(is_operator) => {
                connection.client = Some(Client {
                    name: hello.client.clone(),
                    is_operator,
                });
                connection.heard_at = now;
                let welcome = wire::Welcome {
                    version: VERSION,
                    operator: is_operator,
                };
                self.say(id, 0, 0, Body::Welcome(welcome));
                if self.closing {
                    self.tell_closing(id);
                }
            }
            Err(admission::Denied(reason, text)) => self.dismiss(id, reason, &text),
        }
    }

    fn note(&mut self, now: Nanoseconds, id: ConnectionId, own: u64, sent: Nanoseconds) {
        if let Some(number) = self.number(id, own)
            && let Some(session) = self.sessions.get_mut(&number)
        {
            session.heard.note(now, sent);
        }
    }

    /// The engine's number of a connection's session.
    fn number(&self, id: ConnectionId, own: u64) -> Option<u64> {
        self.connections.get(&id.0)?.sessions.get(&own).copied()
    }

    fn hear_of_session(&mut self, now: Nanoseconds, id: ConnectionId, own: u64, body: Said) {
        match body {
            Said::ListHoldings(list) => self.operate(id, list.tag, |tag| Command::ListHoldings {
                tag,
                cursor: list.cursor,
            }),
            Said::ListWaiters(list) => self.operate(id, list.tag, |tag| Command::ListWaiters {
                tag,
                cursor: (list.key, list.arrival),
            }),
            Said::Break(broken) => self.operate(id, broken.tag, |tag| Command::Break {
                tag,
                fence: broken.fence,
                place: broken.place,
            }),
            Said::Count(count) => self.operate(id, count.tag, |tag| Command::Count { tag }),
            body => match self.number(id, own) {
                Some(session) => self.hear_of_holder(now, id, session, body),
                None => self.dismiss(id, Reason::Malformed, "the session has not entered"),
            },
        }
    }

    fn hear_of_holder(&mut self, now: Nanoseconds, id: ConnectionId, session: u64, body: Said) {
        match body {
            Said::Hold(hold) => self.hold(id, session, hold),
            Said::Cancel(cancel) => self.cancel(session, cancel.ask),
            Said::Renew(renew) if renew.leases.len() > RENEWED_AT_ONCE => {
                let text = alloc::format!("at most {RENEWED_AT_ONCE} leases are renewed at once");
                self.dismiss(id, Reason::Malformed, &text);
            }
            Said::Renew(renew) => {
                for lease in renew.leases {
                    self.renew(now, session, lease);
                }
            }
            Said::Release(release) => self.release(now, session, release.lease.unwrap_or_default()),
            _ => {}
        }
    }

    fn hold(&mut self, id: ConnectionId, session: u64, hold: wire::Hold) {
        let ask = hold.ask;
        let waiting = self.connections.get(&id.0).map_or(0, |c| c.waiting);
        if waiting >= WAITING_PER_CONNECTION {
            let text = alloc::format!(
                "{WAITING_PER_CONNECTION} asks of this connection wait, as many as may"
            );
            return self.refuse(session, ask, Why::TooMany, text);
        }
        if let Some(holder) = self.sessions.get_mut(&session) {
            // A longer one is refused.
            let ttl = hold.ttl.filter(|ttl| *ttl <= TTL_MOST);
            holder.longest_ttl = holder.longest_ttl.max(ttl.unwrap_or(TTL_DEFAULT));
        }
        let asked = Hold {
            session,
            name: hold.name.clone().into(),
            limit: hold.limit,
            key: hold.key.clone().into(),
            wait: hold.wait,
            options: Options {
                ttl: hold.ttl,
                max_hold: hold.max_hold,
                label: hold.label.clone(),
            },
            request: Some(Request::from(ask)),
            alone: hold.alone,
            ticket: self.add_ask(session, hold),
        };
        self.commands.push(Command::Hold(asked));
    }

    pub(super) fn refuse(&mut self, session: u64, ask: u64, why: Why, text: String) {
        let why = why.into();
        self.tell(session, Body::Refused(wire::Refused { ask, why, text }));
    }

    fn cancel(&mut self, session: u64, ask: u64) {
        let Some(holder) = self.sessions.get(&session) else {
            return;
        };
        let asked = holder.asks.range((ask, 0)..=(ask, u64::MAX));
        let cancels = asked.map(|(_, ticket)| Command::Cancel(*ticket));
        self.commands.extend(cancels);
    }

    fn renew(&mut self, now: Nanoseconds, session: u64, named: wire::Lease) {
        let fence = named.fence;
        match self.held(session, fence) {
            Some(held) if held.secret == named.secret => {
                let lease = held.id;
                let tag = self.tag(Tag::Renew { session, fence });
                self.commands.push(Command::Renew { tag, lease });
            }
            Some(_) => self.tell_lost(session, fence),
            None => self.renew_unknown(now, session, fence),
        }
    }

    fn release(&mut self, now: Nanoseconds, session: u64, named: wire::Lease) {
        let fence = named.fence;
        match self.held(session, fence).copied() {
            Some(held) if held.secret != named.secret => self.tell_lost(session, fence),
            Some(Held {
                release: Some(_), ..
            }) => {} // It is being answered.
            Some(Held { id: lease, .. }) => {
                let tag = self.tag(Tag::Release { session, fence });
                if let Some(held) = self.held(session, fence) {
                    held.release = Some(tag);
                }
                self.commands.push(Command::Release { tag, lease });
            }
            None => self.release_unknown(now, session, fence),
        }
    }

    /// Does what is an operator's to do.
    fn operate(
        &mut self,
        id: ConnectionId,
        own: u64,
        command: impl FnOnce(u64) -> Command<'static>,
    ) {
        let client = self.connections.get(&id.0).and_then(|c| c.client.as_ref());
        if !client.is_some_and(|client| client.is_operator) {
            return self.say(id, 0, 0, Body::Denied(wire::Denied { tag: own }));
        }
        let connection = id;
        let tag = self.tag(Tag::Operator { connection, own });
        self.commands.push(command(tag));
    }
}
