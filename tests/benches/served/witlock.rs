//! A served store, by the frames of its protocol.

use std::time::Instant;

use witlock_session::wire::ended::How;
use witlock_session::wire::{
    self, Enter, Frames, Hello, Hold, Lease, MESSAGE_BYTES, Release, ToClient, ToStore, VERSION,
    to_client, to_store,
};

use super::link::Arrived;
use super::raw::{Answer, Protocol};
use super::serving::TOKEN;

/// Each caller is a holder, with a session of its own.
pub struct Witlock {
    says: Says,
    frames: Frames,
    leases: Vec<Lease>,
}

impl Witlock {
    pub fn new(keys: Vec<String>) -> Self {
        Witlock {
            leases: vec![Lease::default(); keys.len()],
            says: Says::new(keys),
            frames: Frames::default(),
        }
    }
}

impl Protocol for Witlock {
    fn greet(&mut self, out: &mut Vec<u8>) {
        self.says.hello(out);
        self.says.enter(out);
    }

    fn hold(&mut self, caller: usize, out: &mut Vec<u8>) {
        self.says.hold(caller, out);
    }

    fn release(&mut self, caller: usize, out: &mut Vec<u8>) {
        self.says.release(caller, self.leases[caller], out);
    }

    fn hear(&mut self, arrived: &mut Arrived) -> Option<Answer> {
        feed(&mut self.frames, arrived);
        let message: ToClient = self.frames.next(MESSAGE_BYTES).expect("messages")?;
        let caller = Says::caller(message.session);
        Some(match message.body {
            Some(to_client::Body::Welcome(_)) => Answer::Welcome,
            Some(to_client::Body::Granted(granted)) => {
                self.leases[caller] = granted.lease.expect("a lease");
                Answer::Held(caller)
            }
            Some(to_client::Body::Ended(ended)) if ended.how() == How::Released => {
                Answer::Released(caller)
            }
            other => panic!("answered {other:?}"),
        })
    }
}

/// What clients say.
pub struct Says {
    keys: Vec<String>,
    asks: u64,
    start: Instant,
}

impl Says {
    pub fn new(keys: Vec<String>) -> Self {
        Says {
            keys,
            asks: 0,
            start: Instant::now(),
        }
    }

    pub fn hello(&self, out: &mut Vec<u8>) {
        let hello = Hello {
            version: VERSION,
            token: TOKEN.into(),
            client: "bench".into(),
        };
        self.say(0, to_store::Body::Hello(hello), out);
    }

    /// The sessions of all callers.
    pub fn enter(&self, out: &mut Vec<u8>) {
        for caller in 0..self.keys.len() {
            let enter = Enter {
                id: fastrand::u128(..).to_be_bytes().into(),
                entry: 1,
                ..Enter::default()
            };
            self.say(session(caller), to_store::Body::Enter(enter), out);
        }
    }

    pub fn hold(&mut self, caller: usize, out: &mut Vec<u8>) {
        self.asks += 1;
        let hold = Hold {
            ask: self.asks,
            name: "summaries".into(),
            key: self.keys[caller].clone(),
            ..Hold::default()
        };
        self.say(session(caller), to_store::Body::Hold(hold), out);
    }

    pub fn release(&self, caller: usize, lease: Lease, out: &mut Vec<u8>) {
        let lease = Some(lease);
        let release = to_store::Body::Release(Release { lease });
        self.say(session(caller), release, out);
    }

    /// Whose session it is; nobody's is the first caller's.
    pub fn caller(session: u64) -> usize {
        session.saturating_sub(1) as usize
    }

    fn say(&self, session: u64, body: to_store::Body, out: &mut Vec<u8>) {
        let message = ToStore {
            sent: self.start.elapsed().as_nanos() as u64,
            session,
            body: Some(body),
        };
        wire::put(&message, out);
    }
}

fn session(caller: usize) -> u64 {
    caller as u64 + 1
}

/// Puts what has arrived before the next messages.
pub fn feed(frames: &mut Frames, arrived: &mut Arrived) {
    let some = arrived.rest();
    if !some.is_empty() {
        frames.push(some);
        arrived.take(some.len());
    }
}
