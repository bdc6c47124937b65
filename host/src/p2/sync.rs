//! The same functions for guests that are called with `call`: what may have to
//! wait blocks its thread.

use wasmtime::Result;
use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, LinkerInstance, Resource, ResourceType};

use super::bindings::wit::{self, HostLease, HostLock, HostSemaphore};
use crate::ctx::{LocksCtxView, LocksView};
use crate::driver::block_on;
use crate::guests::{GuestLease, GuestLock, GuestSemaphore};

/// The interface, as `wit/locks-0.2` names it.
const INTERFACE: &str = "witlock:locks/locks@0.2.0";

/// Offers `witlock:locks/locks@0.2.0` to guests that are called with `call`. A
/// hold that waits blocks the thread of its call.
///
/// # Errors
///
/// If the linker has the interface already.
pub fn add_to_linker_sync<T: LocksView + 'static>(linker: &mut Linker<T>) -> Result<()> {
    let mut interface = linker.instance(INTERFACE)?;
    add_lock(&mut interface)?;
    add_semaphore(&mut interface)?;
    add_lease(&mut interface)
}

type Interface<'a, T> = LinkerInstance<'a, T>;

fn view<'a, T: LocksView>(store: &'a mut StoreContextMut<'_, T>) -> LocksCtxView<'a> {
    store.data_mut().locks()
}

/// Adds a resource whose handles are dropped as `drop` says.
fn add_resource<T: LocksView + 'static, R: 'static>(
    interface: &mut Interface<'_, T>,
    name: &str,
    drop: impl Fn(&mut LocksCtxView<'_>, Resource<R>) -> Result<()> + Send + Sync + 'static,
) -> Result<()> {
    let resource = ResourceType::host::<R>();
    interface.resource(name, resource, move |mut store, handle| {
        drop(&mut view(&mut store), Resource::new_own(handle))
    })
}

fn add_lock<T: LocksView + 'static>(interface: &mut Interface<'_, T>) -> Result<()> {
    add_resource(interface, "lock", |view, lock| HostLock::drop(view, lock))?;
    interface.func_wrap(
        "[static]lock.open",
        |mut store, (name, options): (String, wit::Options)| {
            Ok((HostLock::open(&mut view(&mut store), name, options)?,))
        },
    )?;
    interface.func_wrap(
        "[method]lock.hold",
        |mut store, (lock, key, wait): (Resource<GuestLock>, String, Option<u32>)| {
            let mut view = view(&mut store);
            Ok((block_on(HostLock::hold(&mut view, lock, key, wait))?,))
        },
    )?;
    interface.func_wrap(
        "[method]lock.try-hold",
        |mut store, (lock, key): (Resource<GuestLock>, String)| {
            let mut view = view(&mut store);
            Ok((block_on(HostLock::try_hold(&mut view, lock, key))?,))
        },
    )
}

fn add_semaphore<T: LocksView + 'static>(interface: &mut Interface<'_, T>) -> Result<()> {
    add_resource(interface, "semaphore", |view, one| {
        HostSemaphore::drop(view, one)
    })?;
    interface.func_wrap(
        "[static]semaphore.open",
        |mut store, (name, limit, options): (String, u32, wit::Options)| {
            let mut view = view(&mut store);
            Ok((HostSemaphore::open(&mut view, name, limit, options)?,))
        },
    )?;
    interface.func_wrap(
        "[method]semaphore.hold",
        |mut store, (semaphore, key, wait): (Resource<GuestSemaphore>, String, Option<u32>)| {
            let mut view = view(&mut store);
            Ok((block_on(HostSemaphore::hold(
                &mut view, semaphore, key, wait,
            ))?,))
        },
    )?;
    interface.func_wrap(
        "[method]semaphore.try-hold",
        |mut store, (semaphore, key): (Resource<GuestSemaphore>, String)| {
            let mut view = view(&mut store);
            Ok((block_on(HostSemaphore::try_hold(
                &mut view, semaphore, key,
            ))?,))
        },
    )
}

fn add_lease<T: LocksView + 'static>(interface: &mut Interface<'_, T>) -> Result<()> {
    add_resource(interface, "lease", |view, lease| {
        HostLease::drop(view, lease)
    })?;
    interface.func_wrap(
        "[method]lease.fence",
        |mut store, (lease,): (Resource<GuestLease>,)| Ok((view(&mut store).fence(lease)?,)),
    )?;
    interface.func_wrap(
        "[method]lease.ended",
        |mut store, (lease,): (Resource<GuestLease>,)| Ok((view(&mut store).ended(lease)?,)),
    )?;
    interface.func_wrap(
        "[method]lease.release",
        |mut store, (lease,): (Resource<GuestLease>,)| {
            let mut view = view(&mut store);
            Ok((block_on(view.release(lease))?,))
        },
    )
}
