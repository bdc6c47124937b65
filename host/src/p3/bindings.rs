//! What wasmtime generates from `wit/locks-0.3`.

#[allow(missing_docs)] // documented in wit/locks-0.3
mod generated {
    wasmtime::component::bindgen!({
        path: "wit/locks-0.3",
        world: "imports",
        imports: { default: trappable },
        with: {
            "witlock:locks/locks.lock": crate::guests::GuestLock,
            "witlock:locks/locks.semaphore": crate::guests::GuestSemaphore,
            "witlock:locks/locks.lease": crate::guests::GuestLease,
        },
        require_store_data_send: true,
    });
}

pub(crate) use generated::witlock::locks::locks as wit;

crate::guests::conversions!(wit);
