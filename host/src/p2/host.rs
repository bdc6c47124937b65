//! The interface's functions, each a few lines over the native API.

use wasmtime::Result;
use wasmtime::component::Resource;

use super::bindings::{GuestLease, GuestLock, GuestSemaphore, wit};
use crate::ctx::LocksCtxView;
use crate::driver;
use crate::lease::{Lease, Ticket};
use crate::lock::{Manner, Terms, none_in_use};
use crate::{Ending, LockError};

/// What a guest gets of an ask: a trap only if its table is full.
type Answer<T> = Result<std::result::Result<T, wit::LockError>>;

impl wit::Host for LocksCtxView<'_> {}

impl wit::HostLock for LocksCtxView<'_> {
    fn open(&mut self, name: String, options: wit::Options) -> Answer<Resource<GuestLock>> {
        match self.terms(name, None, options) {
            Ok(terms) => Ok(Ok(self.table.push(GuestLock(terms))?)),
            Err(error) => Ok(Err(error.into())),
        }
    }

    async fn hold(
        &mut self,
        lock: Resource<GuestLock>,
        key: String,
        wait: Option<u32>,
    ) -> Answer<Resource<GuestLease>> {
        let terms = self.table.get(&lock)?.0.clone();
        self.hold_key(&terms, &key, wait).await
    }

    async fn try_hold(
        &mut self,
        lock: Resource<GuestLock>,
        key: String,
    ) -> Answer<Option<Resource<GuestLease>>> {
        let terms = self.table.get(&lock)?.0.clone();
        self.try_key(&terms, &key).await
    }

    fn drop(&mut self, lock: Resource<GuestLock>) -> Result<()> {
        self.table.delete(lock)?;
        Ok(())
    }
}

impl wit::HostSemaphore for LocksCtxView<'_> {
    fn open(
        &mut self,
        name: String,
        limit: u32,
        options: wit::Options,
    ) -> Answer<Resource<GuestSemaphore>> {
        match self.terms(name, Some(limit), options) {
            Ok(terms) => Ok(Ok(self.table.push(GuestSemaphore(terms))?)),
            Err(error) => Ok(Err(error.into())),
        }
    }

    async fn hold(
        &mut self,
        semaphore: Resource<GuestSemaphore>,
        key: String,
        wait: Option<u32>,
    ) -> Answer<Resource<GuestLease>> {
        let terms = self.table.get(&semaphore)?.0.clone();
        self.hold_key(&terms, &key, wait).await
    }

    async fn try_hold(
        &mut self,
        semaphore: Resource<GuestSemaphore>,
        key: String,
    ) -> Answer<Option<Resource<GuestLease>>> {
        let terms = self.table.get(&semaphore)?.0.clone();
        self.try_key(&terms, &key).await
    }

    fn drop(&mut self, semaphore: Resource<GuestSemaphore>) -> Result<()> {
        self.table.delete(semaphore)?;
        Ok(())
    }
}

impl wit::HostLease for LocksCtxView<'_> {
    fn fence(&mut self, lease: Resource<GuestLease>) -> Result<u64> {
        Ok(self.table.get(&lease)?.0.fence())
    }

    fn ended(&mut self, lease: Resource<GuestLease>) -> Result<Option<wit::Ending>> {
        Ok(self.table.get(&lease)?.0.ended().map(Into::into))
    }

    async fn release(
        &mut self,
        lease: Resource<GuestLease>,
    ) -> Result<std::result::Result<(), wit::Ending>> {
        let lease = &self.table.get(&lease)?.0;
        Ok(lease.release().await.map_err(Into::into))
    }

    fn drop(&mut self, lease: Resource<GuestLease>) -> Result<()> {
        self.table.delete(lease)?;
        Ok(())
    }
}

impl LocksCtxView<'_> {
    fn terms(
        &self,
        name: String,
        limit: Option<u32>,
        options: wit::Options,
    ) -> std::result::Result<Terms, LockError> {
        let wait = options.wait;
        let options = driver::wit::Options {
            ttl: options.ttl,
            max_hold: options.max_hold,
            label: options.label,
        };
        self.ctx.open(name, limit, wait, options)
    }

    async fn hold_key(
        &mut self,
        terms: &Terms,
        key: &str,
        wait: Option<u32>,
    ) -> Answer<Resource<GuestLease>> {
        // All of the guest stands still until this is answered.
        let manner = Manner { wait, alone: true };
        match self.ask(terms, key, manner).await {
            Ok(lease) => Ok(Ok(self.table.push(GuestLease(lease))?)),
            Err(error) => Ok(Err(error.into())),
        }
    }

    async fn try_key(&mut self, terms: &Terms, key: &str) -> Answer<Option<Resource<GuestLease>>> {
        match none_in_use(self.ask(terms, key, Manner::TRY).await) {
            Ok(Some(lease)) => Ok(Ok(Some(self.table.push(GuestLease(lease))?))),
            Ok(None) => Ok(Ok(None)),
            Err(error) => Ok(Err(error.into())),
        }
    }

    async fn ask(
        &mut self,
        terms: &Terms,
        key: &str,
        manner: Manner,
    ) -> std::result::Result<Lease, LockError> {
        Ticket::ask(self.ctx.session(), terms, key, manner)?.await
    }
}

impl From<LockError> for wit::LockError {
    fn from(error: LockError) -> Self {
        match error {
            LockError::InUse => wit::LockError::InUse,
            LockError::HeldByCaller => wit::LockError::HeldByCaller,
            LockError::Invalid(why) => wit::LockError::Invalid(why),
            LockError::TooMany(why) => wit::LockError::TooMany(why),
            LockError::Closed => wit::LockError::Closed,
            LockError::Unavailable(why) => wit::LockError::Unavailable(why),
        }
    }
}

impl From<Ending> for wit::Ending {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Released => wit::Ending::Released,
            Ending::Expired => wit::Ending::Expired,
            Ending::Revoked => wit::Ending::Revoked,
            Ending::Broken => wit::Ending::Broken,
            Ending::Closed => wit::Ending::Closed,
            Ending::Unreachable => wit::Ending::Unreachable,
        }
    }
}
