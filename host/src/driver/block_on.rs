//! A future, waited for by a thread that has no runtime.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

/// Wakes a thread that parked itself.
struct Parked(Thread);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

thread_local! {
    /// One for all that a thread ever waits for: a wake that comes late only
    /// makes it look once more.
    static WAKER: Waker = new_waker();
}

fn new_waker() -> Waker {
    Waker::from(Arc::new(Parked(std::thread::current())))
}

/// This thread's waker. A thread that ends may wait once more, for a store that it
/// drops with its other locals, when the one it had is gone.
fn waker() -> Waker {
    WAKER.try_with(Waker::clone).unwrap_or_else(|_| new_waker())
}

/// Blocks this thread until the future is done.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = waker();
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        std::thread::park();
    }
}
