//! `witlock:locks/locks@0.3.0`.

use crate::bindings::version_0_3::locks as wit;
use crate::bindings::{Component, conversions};
use crate::leases::Lease;
use crate::opened::{Manner, Opened, tried};
use crate::waiting;

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

    async fn hold(&self, key: String, wait: Option<u32>) -> Result<wit::Lease, wit::LockError> {
        hold(&self.0, &key, wait).await
    }

    async fn try_hold(&self, key: String) -> Result<Option<wit::Lease>, wit::LockError> {
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

    async fn hold(&self, key: String, wait: Option<u32>) -> Result<wit::Lease, wit::LockError> {
        hold(&self.0, &key, wait).await
    }

    async fn try_hold(&self, key: String) -> Result<Option<wit::Lease>, wit::LockError> {
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

    async fn until_ended(&self) -> wit::Ending {
        waiting::until_ended(self).await.into()
    }

    async fn release(&self) -> Result<(), wit::Ending> {
        self.release().map_err(Into::into)
    }
}

async fn hold(opened: &Opened, key: &str, wait: Option<u32>) -> Result<wit::Lease, wit::LockError> {
    let pending = opened.ask(key, Manner::Wait(wait));
    let lease = waiting::until_answered(pending).await?;
    Ok(wit::Lease::new(lease))
}

fn try_hold(opened: &Opened, key: &str) -> Result<Option<wit::Lease>, wit::LockError> {
    let lease = tried(opened.ask(key, Manner::Try).at_once())?;
    Ok(lease.map(wit::Lease::new))
}
