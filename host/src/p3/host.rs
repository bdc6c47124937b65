//! The interface's functions. A wait is a future of the host's, which knows its
//! ask by number: dropped, wherever it has got to, it lets go.

use std::result;

use wasmtime::Result;
use wasmtime::component::{Accessor, Resource};

use super::bindings::wit;
use crate::ctx::{Locks, LocksCtxView};
use crate::guests::{self, GuestLease, GuestLock, GuestSemaphore, Opened};
use crate::lease::Lease;
use crate::lock::Manner;

/// What a guest gets of an ask.
type Answer<T> = Result<result::Result<T, wit::LockError>>;

impl wit::Host for LocksCtxView<'_> {}

impl wit::HostLock for LocksCtxView<'_> {
    fn open(&mut self, name: String, options: wit::Options) -> Answer<Resource<GuestLock>> {
        let opened = self.open_lock(name, options.into())?;
        Ok(opened.map_err(Into::into))
    }

    fn drop(&mut self, lock: Resource<GuestLock>) -> Result<()> {
        self.close(lock)
    }
}

impl<T: Send> wit::HostLockWithStore<T> for Locks {
    async fn hold(
        accessor: &Accessor<T, Self>,
        lock: Resource<GuestLock>,
        key: String,
        wait: Option<u32>,
    ) -> Answer<Resource<GuestLease>> {
        hold_key(accessor, lock, key, wait).await
    }

    async fn try_hold(
        accessor: &Accessor<T, Self>,
        lock: Resource<GuestLock>,
        key: String,
    ) -> Answer<Option<Resource<GuestLease>>> {
        try_key(accessor, lock, key).await
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

    fn drop(&mut self, semaphore: Resource<GuestSemaphore>) -> Result<()> {
        self.close(semaphore)
    }
}

impl<T: Send> wit::HostSemaphoreWithStore<T> for Locks {
    async fn hold(
        accessor: &Accessor<T, Self>,
        semaphore: Resource<GuestSemaphore>,
        key: String,
        wait: Option<u32>,
    ) -> Answer<Resource<GuestLease>> {
        hold_key(accessor, semaphore, key, wait).await
    }

    async fn try_hold(
        accessor: &Accessor<T, Self>,
        semaphore: Resource<GuestSemaphore>,
        key: String,
    ) -> Answer<Option<Resource<GuestLease>>> {
        try_key(accessor, semaphore, key).await
    }
}

impl wit::HostLease for LocksCtxView<'_> {
    fn fence(&mut self, lease: Resource<GuestLease>) -> Result<u64> {
        Ok(self.lease(&lease)?.fence())
    }

    fn ended(&mut self, lease: Resource<GuestLease>) -> Result<Option<wit::Ending>> {
        Ok(self.lease(&lease)?.ended().map(Into::into))
    }

    fn drop(&mut self, lease: Resource<GuestLease>) -> Result<()> {
        self.close(lease)
    }
}

impl<T: Send> wit::HostLeaseWithStore<T> for Locks {
    async fn until_ended(
        accessor: &Accessor<T, Self>,
        lease: Resource<GuestLease>,
    ) -> Result<wit::Ending> {
        let end = accessor.with(|mut access| access.get().lease(&lease).map(Lease::end))?;
        Ok(end.await.into())
    }

    async fn release(
        accessor: &Accessor<T, Self>,
        lease: Resource<GuestLease>,
    ) -> Result<result::Result<(), wit::Ending>> {
        let releasing =
            accessor.with(|mut access| access.get().lease(&lease).map(Lease::releasing))?;
        Ok(releasing.await.map_err(Into::into))
    }
}

async fn hold_key<T, O: Opened>(
    accessor: &Accessor<T, Locks>,
    opened: Resource<O>,
    key: String,
    wait: Option<u32>,
) -> Answer<Resource<GuestLease>> {
    // The guest's other tasks go on, and may let the key go.
    let manner = Manner { wait, alone: false };
    let answer = ask(accessor, opened, key, manner).await?;
    let given = accessor.with(|mut access| access.get().give(answer))?;
    Ok(given.map_err(Into::into))
}

async fn try_key<T, O: Opened>(
    accessor: &Accessor<T, Locks>,
    opened: Resource<O>,
    key: String,
) -> Answer<Option<Resource<GuestLease>>> {
    let answer = ask(accessor, opened, key, Manner::TRY).await?;
    let given = accessor.with(|mut access| access.get().give_tried(answer))?;
    Ok(given.map_err(Into::into))
}

async fn ask<T, O: Opened>(
    accessor: &Accessor<T, Locks>,
    opened: Resource<O>,
    key: String,
    manner: Manner,
) -> guests::Answer<Lease> {
    let ticket = accessor.with(|mut access| access.get().ask(&opened, &key, manner))?;
    Ok(guests::answer(ticket).await)
}
