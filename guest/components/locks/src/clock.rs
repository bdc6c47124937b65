//! The runtime's monotonic clock, in nanoseconds from wherever it starts. It may
//! stand still while the machine sleeps.

use witlock_engine::Nanoseconds;

#[cfg(feature = "async")]
pub(crate) fn now() -> Nanoseconds {
    crate::bindings::wasi::clocks::monotonic_clock::now()
}

/// WASI 0.2 has the same clock, which std reads.
#[cfg(not(feature = "async"))]
pub(crate) fn now() -> Nanoseconds {
    use std::cell::OnceCell;
    use std::time::Instant;

    std::thread_local! {
        static START: OnceCell<Instant> = const { OnceCell::new() };
    }
    // 584 years fit.
    START.with(|start| start.get_or_init(Instant::now).elapsed().as_nanos() as Nanoseconds)
}
