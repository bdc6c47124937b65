//! What wasmtime generates from `wit/locks-0.2`.

use crate::lease::Lease;
use crate::lock::Terms;

/// A guest's lock.
pub struct GuestLock(pub(crate) Terms);

/// A guest's semaphore.
pub struct GuestSemaphore(pub(crate) Terms);

/// A guest's lease.
pub struct GuestLease(pub(crate) Lease);

#[allow(missing_docs)] // documented in wit/locks-0.2
mod generated {
    wasmtime::component::bindgen!({
        path: "wit/locks-0.2",
        world: "imports",
        imports: {
            // What may have to wait: for the key, for a fence, for the store's answer.
            "witlock:locks/locks.[method]lock.hold": async | trappable,
            "witlock:locks/locks.[method]lock.try-hold": async | trappable,
            "witlock:locks/locks.[method]semaphore.hold": async | trappable,
            "witlock:locks/locks.[method]semaphore.try-hold": async | trappable,
            "witlock:locks/locks.[method]lease.release": async | trappable,
            default: trappable,
        },
        with: {
            "witlock:locks/locks.lock": super::GuestLock,
            "witlock:locks/locks.semaphore": super::GuestSemaphore,
            "witlock:locks/locks.lease": super::GuestLease,
        },
    });
}

pub(crate) use generated::witlock::locks::locks as wit;
