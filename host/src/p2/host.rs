//! The interface's functions. While one waits, all of its guest stands still.

use std::result;

use wasmtime::Result;
use wasmtime::component::Resource;

use super::bindings::wit;
use crate::ctx::LocksCtxView;
use crate::guests::{self, GuestLease, GuestLock, GuestSemaphore, Opened};
use crate::lock::Manner;

/// What a guest gets of an ask.
type Answer<T> = Result<result::Result<T, wit::LockError>>;

impl wit::Host for LocksCtxView<'_> {}

impl wit::HostLock for LocksCtxView<'_> {
    fn open(&mut self, name: String, options: wit::Options) -> Answer<Resource<GuestLock>> {
        let opened = self.open_lock(name, options.into())?;
        Ok(opened.map_err(Into::into))
    }

    async fn hold(
        &mut self,
        lock: Resource<GuestLock>,
        key: String,
        wait: Option<u32>,
    ) -> Answer<Resource<GuestLease>> {
        self.hold_key(lock, &key, wait).await
    }

    async fn try_hold(
        &mut self,
        lock: Resource<GuestLock>,
        key: String,
    ) -> Answer<Option<Resource<GuestLease>>> {
        self.try_key(lock, &key).await
    }

    fn drop(&mut self, lock: Resource<GuestLock>) -> Result<()> {
        self.close(lock)
    }
}

impl wit::HostSemaphore for LocksCtxView<'_> {
    fn open(
        &mut self,
        name: String,
        limit: u32,
        options: wit::Options,
    ) -> Answer<Resource<GuestSemaphore>> {
        let opened = self.open_semaphore(name, limit, options.into())?;
        Ok(opened.map_err(Into::into))
    }

    async fn hold(
        &mut self,
        semaphore: Resource<GuestSemaphore>,
        key: String,
        wait: Option<u32>,
    ) -> Answer<Resource<GuestLease>> {
        self.hold_key(semaphore, &key, wait).await
    }

    async fn try_hold(
        &mut self,
        semaphore: Resource<GuestSemaphore>,
        key: String,
    ) -> Answer<Option<Resource<GuestLease>>> {
        self.try_key(semaphore, &key).await
    }

    fn drop(&mut self, semaphore: Resource<GuestSemaphore>) -> Result<()> {
        self.close(semaphore)
    }
}

impl wit::HostLease for LocksCtxView<'_> {
    fn fence(&mut self, lease: Resource<GuestLease>) -> Result<u64> {
        Ok(self.lease(&lease)?.fence())
    }

    fn ended(&mut self, lease: Resource<GuestLease>) -> Result<Option<wit::Ending>> {
        Ok(self.lease(&lease)?.ended().map(Into::into))
    }

    async fn release(
        &mut self,
        lease: Resource<GuestLease>,
    ) -> Result<result::Result<(), wit::Ending>> {
        let released = self.lease(&lease)?.release().await;
        Ok(released.map_err(Into::into))
    }

    fn drop(&mut self, lease: Resource<GuestLease>) -> Result<()> {
        self.close(lease)
    }
}

impl LocksCtxView<'_> {
    async fn hold_key<O: Opened>(
        &mut self,
        opened: Resource<O>,
        key: &str,
        wait: Option<u32>,
    ) -> Answer<Resource<GuestLease>> {
        // All of the guest stands still until this is answered.
        let manner = Manner { wait, alone: true };
        let ticket = self.ask(&opened, key, manner)?;
        let answer = guests::answer(ticket).await;
        Ok(self.give(answer)?.map_err(Into::into))
    }

    async fn try_key<O: Opened>(
        &mut self,
        opened: Resource<O>,
        key: &str,
    ) -> Answer<Option<Resource<GuestLease>>> {
        let ticket = self.ask(&opened, key, Manner::TRY)?;
        let answer = guests::answer(ticket).await;
        Ok(self.give_tried(answer)?.map_err(Into::into))
    }
}
