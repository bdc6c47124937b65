//! Asks, and the leases that come of them.

use std::cell::RefCell;
use std::rc::Rc;

use futures_util::future::AbortHandle;

use crate::bindings::witlock::locks0_3_0::locks::{Ending, Lease};

/// An ask.
pub struct Ask {
    state: RefCell<State>,
    /// Drops the call that waits.
    abort: AbortHandle,
    watched: RefCell<Option<Ending>>,
}

/// How far an ask has got.
enum State {
    Waiting,
    Held(Rc<Lease>),
    Refused(String),
    Dropped,
}

impl Ask {
    pub fn new(abort: AbortHandle) -> Rc<Self> {
        Rc::new(Ask {
            state: RefCell::new(State::Waiting),
            abort,
            watched: RefCell::default(),
        })
    }

    pub fn answered(&self, answer: Result<Lease, String>) {
        self.state.replace(match answer {
            Ok(lease) => State::Held(Rc::new(lease)),
            Err(why) => State::Refused(why),
        });
    }

    pub fn answer(&self) -> String {
        match &*self.state.borrow() {
            State::Waiting => "waiting".into(),
            State::Held(lease) => format!("held {}", lease.fence()),
            State::Refused(why) => why.clone(),
            State::Dropped => "dropped".into(),
        }
    }

    /// Drops the call that waits, or the lease.
    pub fn cancel(&self) {
        self.abort.abort();
        self.state.replace(State::Dropped);
    }

    pub fn lease(&self) -> Option<Rc<Lease>> {
        match &*self.state.borrow() {
            State::Held(lease) => Some(lease.clone()),
            _ => None,
        }
    }

    pub fn ended(&self) -> String {
        match &*self.state.borrow() {
            State::Held(lease) => lease.ended().map_or("lasts", ending).into(),
            State::Dropped => "released".into(),
            State::Waiting | State::Refused(_) => "lasts".into(),
        }
    }

    /// Gives nobody a turn until the lease has ended.
    pub fn spin_until_ended(&self) -> String {
        loop {
            let ended = self.ended();
            if ended != "lasts" {
                return ended;
            }
        }
    }

    pub fn saw_end(&self, how: Ending) {
        self.watched.replace(Some(how));
    }

    pub fn watched(&self) -> String {
        self.watched.borrow().map_or("lasts", ending).into()
    }
}

/// How a lease ended, as a line says it.
pub fn ending(ending: Ending) -> &'static str {
    match ending {
        Ending::Released => "released",
        Ending::Expired => "expired",
        Ending::Revoked => "revoked",
        Ending::Broken => "broken",
        Ending::Closed => "closed",
        Ending::Unreachable => "unreachable",
    }
}
