//! What the server says.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Client, Ending, Event};
use crate::Nanoseconds;
use crate::wire::ended::How;
use crate::wire::goodbye::Reason;
use crate::wire::to_client::Body;
use crate::wire::{self, MESSAGE_BYTES, ToClient};

impl Client {
    /// Bytes arrived.
    pub fn received(&mut self, now: Nanoseconds, bytes: &[u8]) {
        if !self.link.is_made() {
            return; // Of a connection that was given up.
        }
        self.link.heard();
        // What is overdue was lost before these bytes were read.
        self.ring(now);
        self.link.frames.push(bytes);
        loop {
            match self.link.frames.next::<ToClient>(MESSAGE_BYTES) {
                Ok(Some(message)) => self.hear(now, message),
                Ok(None) => return,
                Err(malformed) => {
                    let why = alloc::format!("it sent what is no message: {malformed}");
                    return self.cut(now, &why);
                }
            }
        }
    }

    fn hear(&mut self, now: Nanoseconds, message: ToClient) {
        let ToClient {
            session,
            echo,
            body,
        } = message;
        // A message that a later version of the protocol added has no body here.
        let Some(body) = body else { return };
        match body {
            Body::Welcome(welcome) => {
                let operator = welcome.operator;
                self.events.push(Event::Welcome { operator });
                self.welcomed();
                self.come_back(now);
            }
            Body::Goodbye(goodbye) => self.dismissed(now, goodbye),
            Body::Left(_) => self.left(session),
            Body::Granted(granted) => self.granted(now, session, echo, granted),
            Body::Refused(refused) => {
                let why = refused.why();
                self.refuse(refused.ask, why, refused.text);
            }
            Body::Renewed(renewed) => {
                if let Some(number) = self.by_fence.get(&renewed.fence).copied() {
                    self.dated(now, number, echo, renewed.max_hold);
                }
            }
            Body::Ended(ended) => self.ended(&ended),
            Body::Pong(_) => {}
            Body::Closing(_) => self.store_closed(now),
            Body::Denied(denied) => self.answered(denied.tag, body),
            Body::Holdings(wire::Holdings { tag, .. })
            | Body::Waiters(wire::Waiters { tag, .. })
            | Body::Broke(wire::Broke { tag, .. })
            | Body::Counted(wire::Counted { tag, .. }) => self.answered(tag, body),
        }
    }

    fn answered(&mut self, tag: u64, body: Body) {
        if self.questions.remove(&tag).is_some() {
            let answer = Some(body);
            self.events.push(Event::Answered { tag, answer });
        }
    }

    fn dismissed(&mut self, now: Nanoseconds, goodbye: wire::Goodbye) {
        match goodbye.reason() {
            Reason::Stopping => self.told_to_come_back(now),
            Reason::Token | Reason::Version => {
                self.events.push(Event::Denied(goodbye.text.clone()));
                self.cut(now, &goodbye.text);
            }
            _ => self.cut(now, &goodbye.text),
        }
    }

    fn ended(&mut self, ended: &wire::Ended) {
        let Some(number) = self.by_fence.get(&ended.fence).copied() else {
            return;
        };
        let how = match ended.how() {
            How::Released => Ending::Released,
            How::Revoked => Ending::Revoked,
            How::Broken => Ending::Broken,
            How::Closed => Ending::Closed,
            // A server that knows nothing of a lease began anew after its ttl.
            How::Expired | How::Unknown => Ending::Expired,
        };
        self.end(number, how);
    }

    /// What is held is lost, though its keys go on only as they are let go.
    fn store_closed(&mut self, now: Nanoseconds) {
        let all: Vec<u64> = self.asks.keys().copied().collect();
        for number in all {
            // Each does what it says to asks of its own phase only.
            self.close_lease(now, number);
            self.refuse(number, wire::refused::Why::Closed, String::new());
        }
    }
}
