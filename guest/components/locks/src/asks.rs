//! What is known of an ask, and of the lease that may come of it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use witlock_engine::{Ending, LeaseId, Refusal};

/// One ask. Whoever asked looks here; the store tells it what happened.
#[derive(Debug, Default)]
pub(crate) struct Ask {
    granted: Cell<Option<LeaseId>>,
    refused: RefCell<Option<Refusal>>,
    ended: Cell<Option<Ending>>,
    /// Calls that wait for the next news. Only their numbers: who ended meanwhile
    /// must not be woken.
    calls: RefCell<Vec<CallNumber>>,
}

/// The number of a call that waits.
pub(crate) type CallNumber = u64;

impl Ask {
    pub fn new() -> Rc<Self> {
        Rc::default()
    }

    /// The answer, once there is one.
    pub fn answer(&self) -> Option<Result<LeaseId, Refusal>> {
        let granted = self.granted.get().map(Ok);
        granted.or_else(|| self.refused.borrow().clone().map(Err))
    }

    /// How the lease ended, if it has.
    pub fn ended(&self) -> Option<Ending> {
        self.ended.get()
    }

    /// Has a call told of the next news.
    #[cfg(feature = "async")]
    pub fn tell(&self, call: CallNumber) {
        let mut calls = self.calls.borrow_mut();
        if !calls.contains(&call) {
            calls.push(call);
        }
    }

    /// Has a call told of nothing more.
    #[cfg(feature = "async")]
    pub fn tell_not(&self, call: CallNumber) {
        self.calls.borrow_mut().retain(|known| *known != call);
    }

    pub fn grant(&self, lease: LeaseId, told: &mut Vec<CallNumber>) {
        self.granted.set(Some(lease));
        self.news(told);
    }

    pub fn refuse(&self, why: Refusal, told: &mut Vec<CallNumber>) {
        self.refused.replace(Some(why));
        self.news(told);
    }

    pub fn end(&self, how: Ending, told: &mut Vec<CallNumber>) {
        self.ended.set(Some(how));
        self.news(told);
    }

    fn news(&self, told: &mut Vec<CallNumber>) {
        told.append(&mut self.calls.borrow_mut());
    }
}
