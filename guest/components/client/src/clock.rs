//! The runtime's monotonic clock, in nanoseconds from the first look at it. It may
//! stand still while the machine sleeps.

use std::cell::OnceCell;
use std::time::{Duration, Instant};

use witlock_session::Nanoseconds;

pub(crate) fn now() -> Nanoseconds {
    std::thread_local! {
        static START: OnceCell<Instant> = const { OnceCell::new() };
    }
    START.with(|start| nanoseconds(start.get_or_init(Instant::now).elapsed()))
}

/// 584 years fit.
fn nanoseconds(span: Duration) -> Nanoseconds {
    span.as_nanos() as Nanoseconds
}
