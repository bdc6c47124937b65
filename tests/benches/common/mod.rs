//! The engine, stepped as a driver does.
#![allow(dead_code)] // each bench uses a part

use witlock_engine::{LeaseId, OpenSession, Seed};
use witlock_tests::{Command, Event, Hold, Machine};

/// An engine with a session and fences, and its time.
pub struct Stepped<M> {
    pub engine: M,
    pub now: u64,
}

impl<M: Machine> Stepped<M> {
    pub fn start() -> Self {
        let mut engine = M::start(Seed { low: 1, high: 2 });
        let open = OpenSession {
            session: 1,
            max_held: Some(u32::MAX),
            ..OpenSession::default()
        };
        let start = vec![Command::AddFences(1..1 << 53), Command::OpenSession(open)];
        engine.step(0, start);
        Stepped { engine, now: 0 }
    }

    pub fn hold_and_release(&mut self, key: &str) {
        let lease = self.hold(hold(key));
        let release = vec![Command::Release { tag: 0, lease }];
        self.engine.step(self.now, release);
    }

    pub fn hold(&mut self, hold: Hold) -> LeaseId {
        match self.engine.step(self.now, vec![Command::Hold(hold)]).events[..] {
            [Event::Granted(grant)] => grant.lease,
            ref other => unreachable!("a free key is given: {other:?}"),
        }
    }
}

pub fn hold(key: &str) -> Hold {
    Hold {
        ticket: 1,
        session: 1,
        name: "summaries".into(),
        key: key.to_owned().into(),
        ..Hold::default()
    }
}
