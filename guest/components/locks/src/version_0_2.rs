//! `witlock:locks/locks@0.2.0`. A hold here waits for nobody: its caller stands
//! still, and is the only holder there is.

use crate::bindings::version_0_2::locks as wit;
use crate::bindings::{Component, conversions};
use crate::leases::Lease;
use crate::opened::{Manner, Opened, tried};

conversions!(wit);

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
        let opened = Opened::open(name, None, options.into())?;
        Ok(wit::Lock::new(Lock(opened)))
    }

    fn hold(&self, key: String, wait: Option<u32>) -> Result<wit::Lease, wit::LockError> {
        hold(&self.0, &key, wait)
    }

    fn try_hold(&self, key: String) -> Result<Option<wit::Lease>, wit::LockError> {
        try_hold(&self.0, &key)
    }
}

impl wit::GuestSemaphore for Semaphore {
    fn open(
        name: String,
        limit: u32,
        options: wit::Options,
    ) -> Result<wit::Semaphore, wit::LockError> {
        let opened = Opened::open(name, Some(limit), options.into())?;
        Ok(wit::Semaphore::new(Semaphore(opened)))
    }

    fn hold(&self, key: String, wait: Option<u32>) -> Result<wit::Lease, wit::LockError> {
        hold(&self.0, &key, wait)
    }

    fn try_hold(&self, key: String) -> Result<Option<wit::Lease>, wit::LockError> {
        try_hold(&self.0, &key)
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

fn hold(opened: &Opened, key: &str, wait: Option<u32>) -> Result<wit::Lease, wit::LockError> {
    let lease = opened.ask(key, Manner::StandStill(wait)).at_once()?;
    Ok(wit::Lease::new(lease))
}

fn try_hold(opened: &Opened, key: &str) -> Result<Option<wit::Lease>, wit::LockError> {
    let lease = tried(opened.ask(key, Manner::Try).at_once())?;
    Ok(lease.map(wit::Lease::new))
}
