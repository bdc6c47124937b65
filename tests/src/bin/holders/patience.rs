//! Waiting for an answer, or giving it up.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// What comes of a future, or none if it was dropped for taking longer than this.
pub fn within<T>(patience: Option<Duration>, future: impl Future<Output = T>) -> Option<T> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    let until = patience.map(|patience| Instant::now() + patience);
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return Some(done);
        }
        match until.map(|until| until.saturating_duration_since(Instant::now())) {
            None => thread::park(),
            Some(Duration::ZERO) => return None,
            Some(left) => thread::park_timeout(left),
        }
    }
}
