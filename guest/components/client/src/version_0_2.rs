//! `witlock:locks/locks@0.2.0`.

use crate::bindings::{Component, wit};
use crate::leases::Lease;
use crate::opened::Opened;

/// A lock of this version.
pub(crate) struct Lock(Opened);

/// A semaphore of this version.
pub(crate) struct Semaphore(Opened);

impl wit::Guest for Component {
    type Lock = Lock;
    type Semaphore = Semaphore;
    type Lease = Lease;
}

impl wit::GuestLock for Lock {
    fn open(name: String, options: wit::Options) -> Result<wit::Lock, wit::LockError> {
        let opened = Opened::open(name, None, options)?;
        Ok(wit::Lock::new(Lock(opened)))
    }

    fn hold(&self, key: String, wait: Option<u32>) -> Result<wit::Lease, wit::LockError> {
        Ok(wit::Lease::new(self.0.hold(&key, wait)?))
    }

    fn try_hold(&self, key: String) -> Result<Option<wit::Lease>, wit::LockError> {
        Ok(self.0.try_hold(&key)?.map(wit::Lease::new))
    }
}

impl wit::GuestSemaphore for Semaphore {
    fn open(
        name: String,
        limit: u32,
        options: wit::Options,
    ) -> Result<wit::Semaphore, wit::LockError> {
        let opened = Opened::open(name, Some(limit), options)?;
        Ok(wit::Semaphore::new(Semaphore(opened)))
    }

    fn hold(&self, key: String, wait: Option<u32>) -> Result<wit::Lease, wit::LockError> {
        Ok(wit::Lease::new(self.0.hold(&key, wait)?))
    }

    fn try_hold(&self, key: String) -> Result<Option<wit::Lease>, wit::LockError> {
        Ok(self.0.try_hold(&key)?.map(wit::Lease::new))
    }
}

impl wit::GuestLease for Lease {
    fn fence(&self) -> u64 {
        self.fence()
    }

    fn ended(&self) -> Option<wit::Ending> {
        self.ended().map(Into::into)
    }

    fn release(&self) -> Result<(), wit::Ending> {
        self.release().map_err(Into::into)
    }
}
