//! What guests of either WASI do with locks, written once under `p2` and `p3`:
//! each of their functions is a few lines over these.

use wasmtime::Result;
use wasmtime::component::Resource;

use crate::LockError;
use crate::ctx::LocksCtxView;
use crate::driver;
use crate::lease::{Lease, Ticket};
use crate::lock::{Manner, Terms, none_in_use};

/// A guest's lock.
pub struct GuestLock(Terms);

/// A guest's semaphore.
pub struct GuestSemaphore(Terms);

/// A guest's lease.
pub struct GuestLease(Lease);

/// A lock or a semaphore: the difference ends where it is opened.
pub(crate) trait Opened: 'static {
    fn terms(&self) -> &Terms;
}

impl Opened for GuestLock {
    fn terms(&self) -> &Terms {
        &self.0
    }
}

impl Opened for GuestSemaphore {
    fn terms(&self) -> &Terms {
        &self.0
    }
}

/// What a guest opens a lock with, besides its name and limit.
pub(crate) struct Opening {
    pub wait: Option<u32>,
    pub options: driver::wit::Options,
}

/// What came of an ask, or of opening; a trap only where a table is full or a
/// handle names nothing.
pub(crate) type Answer<T> = Result<std::result::Result<T, LockError>>;

impl LocksCtxView<'_> {
    pub(crate) fn open_lock(
        &mut self,
        name: String,
        opening: Opening,
    ) -> Answer<Resource<GuestLock>> {
        match self.terms(name, None, opening) {
            Ok(terms) => Ok(Ok(self.table.push(GuestLock(terms))?)),
            Err(error) => Ok(Err(error)),
        }
    }

    pub(crate) fn open_semaphore(
        &mut self,
        name: String,
        limit: u32,
        opening: Opening,
    ) -> Answer<Resource<GuestSemaphore>> {
        match self.terms(name, Some(limit), opening) {
            Ok(terms) => Ok(Ok(self.table.push(GuestSemaphore(terms))?)),
            Err(error) => Ok(Err(error)),
        }
    }

    fn terms(
        &self,
        name: String,
        limit: Option<u32>,
        opening: Opening,
    ) -> std::result::Result<Terms, LockError> {
        let Opening { wait, options } = opening;
        self.ctx.open(name, limit, wait, options)
    }

    /// Asks for a key of what was opened.
    pub(crate) fn ask<O: Opened>(
        &self,
        opened: &Resource<O>,
        key: &str,
        manner: Manner,
    ) -> Answer<Ticket> {
        let terms = self.table.get(opened)?.terms();
        Ok(Ticket::ask(self.ctx.session(), terms, key, manner))
    }

    /// What a guest gets of an ask that was answered.
    pub(crate) fn give(
        &mut self,
        answer: std::result::Result<Lease, LockError>,
    ) -> Answer<Resource<GuestLease>> {
        match answer {
            Ok(lease) => Ok(Ok(self.table.push(GuestLease(lease))?)),
            Err(error) => Ok(Err(error)),
        }
    }

    /// The same of an ask that only tried: a key in use is none.
    pub(crate) fn give_tried(
        &mut self,
        answer: std::result::Result<Lease, LockError>,
    ) -> Answer<Option<Resource<GuestLease>>> {
        match none_in_use(answer) {
            Ok(Some(lease)) => Ok(self.give(Ok(lease))?.map(Some)),
            Ok(None) => Ok(Ok(None)),
            Err(error) => Ok(Err(error)),
        }
    }

    pub(crate) fn lease(&self, lease: &Resource<GuestLease>) -> Result<&Lease> {
        Ok(&self.table.get(lease)?.0)
    }

    pub(crate) fn close<R: 'static>(&mut self, handle: Resource<R>) -> Result<()> {
        self.table.delete(handle)?;
        Ok(())
    }
}

/// The answer of an ask; it may be refused before it waits.
pub(crate) async fn answer(
    ticket: std::result::Result<Ticket, LockError>,
) -> std::result::Result<Lease, LockError> {
    ticket?.await
}

/// From our types to those that wasmtime generates for a version of the
/// interface.
macro_rules! conversions {
    ($wit:ident) => {
        impl From<$wit::Options> for crate::guests::Opening {
            fn from(options: $wit::Options) -> Self {
                crate::guests::Opening {
                    wait: options.wait,
                    options: crate::driver::wit::Options {
                        ttl: options.ttl,
                        max_hold: options.max_hold,
                        label: options.label,
                    },
                }
            }
        }

        impl From<crate::LockError> for $wit::LockError {
            fn from(error: crate::LockError) -> Self {
                use crate::LockError;
                match error {
                    LockError::InUse => Self::InUse,
                    LockError::HeldByCaller => Self::HeldByCaller,
                    LockError::Invalid(why) => Self::Invalid(why),
                    LockError::TooMany(why) => Self::TooMany(why),
                    LockError::Closed => Self::Closed,
                    LockError::Unavailable(why) => Self::Unavailable(why),
                }
            }
        }

        impl From<crate::Ending> for $wit::Ending {
            fn from(ending: crate::Ending) -> Self {
                use crate::Ending;
                match ending {
                    Ending::Released => Self::Released,
                    Ending::Expired => Self::Expired,
                    Ending::Revoked => Self::Revoked,
                    Ending::Broken => Self::Broken,
                    Ending::Closed => Self::Closed,
                    Ending::Unreachable => Self::Unreachable,
                }
            }
        }
    };
}

pub(crate) use conversions;
