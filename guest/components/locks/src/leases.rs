//! Keys held.

use std::rc::Rc;

use witlock_engine::{Command, Ending, LeaseId};

use crate::asks::Ask;
use crate::entry;

/// A key held. Dropped, it is released.
pub(crate) struct Lease {
    ask: Rc<Ask>,
    id: LeaseId,
}

impl Lease {
    pub fn new(ask: Rc<Ask>, id: LeaseId) -> Self {
        Lease { ask, id }
    }

    pub fn fence(&self) -> u64 {
        self.id.fence
    }

    /// How the lease ended by now, if it has.
    pub fn ended(&self) -> Option<Ending> {
        if self.ask.ended().is_none() {
            entry::step_with_time();
        }
        self.ask.ended()
    }

    #[cfg(feature = "async")]
    pub fn ask(&self) -> &Ask {
        &self.ask
    }

    /// Releases the key; or says how the lease had ended, if it had.
    pub fn release(&self) -> Result<(), Ending> {
        if let Some(how) = self.ask.ended() {
            return Err(how);
        }
        self.let_go();
        match self.ask.ended() {
            Some(Ending::Released) | None => Ok(()),
            Some(how) => Err(how),
        }
    }

    fn let_go(&self) {
        let lease = self.id;
        entry::step(Command::Release { tag: 0, lease });
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.ask.ended().is_none() {
            self.let_go();
        }
    }
}
