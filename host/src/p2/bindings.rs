//! What wasmtime generates from `wit/locks-0.2`.

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
            "witlock:locks/locks.lock": crate::guests::GuestLock,
            "witlock:locks/locks.semaphore": crate::guests::GuestSemaphore,
            "witlock:locks/locks.lease": crate::guests::GuestLease,
        },
    });
}

pub(crate) use generated::witlock::locks::locks as wit;

crate::guests::conversions!(wit);
