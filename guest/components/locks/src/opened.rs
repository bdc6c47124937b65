//! Locks and semaphores, opened.

use std::rc::Rc;

use witlock_engine::{Check, Command, Event, Hold, Options, Refusal, Ticket};

use crate::asks::Ask;
use crate::entry;
use crate::leases::Lease;
use crate::store::SESSION;

/// What a lock is opened with, besides its name and limit.
pub(crate) struct Opening {
    pub wait: Option<u32>,
    pub options: Options,
}

/// A lock or a semaphore.
pub(crate) struct Opened {
    name: String,
    limit: Option<u32>,
    wait: Option<u32>,
    options: Options,
}

/// How long an ask stands in line, and how.
#[derive(Clone, Copy)]
pub(crate) enum Manner {
    /// Like this, or as the lock was opened; other calls go on meanwhile.
    #[cfg(feature = "async")]
    Wait(Option<u32>),
    /// The same, but the caller stands still.
    StandStill(Option<u32>),
    /// Not at all.
    Try,
}

impl Opened {
    pub fn open(name: String, limit: Option<u32>, opening: Opening) -> Result<Self, Refusal> {
        let Opening { wait, options } = opening;
        let check = Command::Check(Check {
            tag: 0,
            name: name.clone(),
            limit,
            options: options.clone(),
        });
        match entry::ask_engine(check) {
            Some(Event::Invalid { why, .. }) => Err(Refusal::Invalid(why)),
            _ => Ok(Opened {
                name,
                limit,
                wait,
                options,
            }),
        }
    }

    /// Asks for a key.
    pub fn ask(&self, key: &str, manner: Manner) -> Pending {
        let (wait, alone) = match manner {
            #[cfg(feature = "async")]
            Manner::Wait(wait) => (wait.or(self.wait), false),
            Manner::StandStill(wait) => (wait.or(self.wait), true),
            Manner::Try => (Some(0), false),
        };
        let (ticket, ask) = entry::enter(|store, told| {
            let (ticket, ask) = store.add_ask();
            let hold = Command::Hold(Hold {
                ticket,
                session: SESSION,
                name: self.name.as_str().into(),
                limit: self.limit,
                key: key.into(),
                wait,
                options: self.options.clone(),
                request: None,
                alone,
            });
            store.step(&[hold], told);
            (ticket, ask)
        });
        Pending {
            ticket,
            ask: Some(ask),
        }
    }
}

/// An ask that its caller has not got the answer of. Dropped, it leaves the
/// line, or lets go what it was given meanwhile.
pub(crate) struct Pending {
    ticket: Ticket,
    /// None once the answer was taken.
    ask: Option<Rc<Ask>>,
}

impl Pending {
    /// The ask, while its answer was not taken.
    #[cfg(feature = "async")]
    pub fn ask(&self) -> Option<&Ask> {
        self.ask.as_deref()
    }

    /// Takes the answer, if there is one.
    pub fn take(&mut self) -> Option<Result<Lease, Refusal>> {
        let answer = self.ask.as_ref()?.answer()?;
        let ask = self.ask.take()?;
        Some(answer.map(|id| Lease::new(ask, id)))
    }

    /// The answer of an ask that never waits: one for which nobody else could
    /// let the key go, or that only tries. (Fences come or fail at once.)
    pub fn at_once(mut self) -> Result<Lease, Refusal> {
        self.take().unwrap_or(Err(Refusal::InUse))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // A lease that is taken here is dropped here, and so released.
        if self.take().is_none() && self.ask.is_some() {
            entry::step(Command::Cancel(self.ticket));
        }
    }
}

/// Of an answer to `try-hold`, whose key may be in use.
pub(crate) fn tried(answer: Result<Lease, Refusal>) -> Result<Option<Lease>, Refusal> {
    match answer {
        Ok(lease) => Ok(Some(lease)),
        Err(Refusal::InUse) => Ok(None),
        Err(why) => Err(why),
    }
}
