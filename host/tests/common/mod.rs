//! What several tests use.
#![allow(dead_code)] // each uses a part

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};
use std::time::Duration;

use witlock::fences::{FenceError, FenceStorage};
use witlock::{Lock, LockError, Store};

/// Ends the process, and so fails the tests, if it is there after five minutes.
pub fn watchdog() {
    watchdog_after(Duration::from_secs(300));
}

/// The same after another time.
pub fn watchdog_after(patience: Duration) {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        std::thread::spawn(move || {
            std::thread::sleep(patience);
            eprintln!("a test hangs");
            std::process::abort();
        });
    });
}

/// Blocks this thread until the future is done.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(future)
}

/// The fences of so many holds.
pub fn fences(store: &Store, count: usize) -> Vec<u64> {
    let lock = store.lock("fences").open().expect("a lock");
    let hold = |_| {
        lock.blocking_hold("k", |lease| lease.fence())
            .expect("a fence")
    };
    (0..count).map(hold).collect()
}

/// A storage that fails while the flag is set.
pub fn fails(storage: impl FenceStorage) -> (Failing, Arc<AtomicBool>) {
    let failing = Arc::new(AtomicBool::new(false));
    let storage = Failing {
        storage: Box::new(storage),
        failing: failing.clone(),
        how: How::Error,
    };
    (storage, failing)
}

/// A storage that can be made to fail.
pub struct Failing {
    storage: Box<dyn FenceStorage>,
    failing: Arc<AtomicBool>,
    how: How,
}

enum How {
    Error,
    Panic,
    Hang,
}

impl Failing {
    /// It fails by panicking.
    pub fn by_panic(mut self) -> Self {
        self.how = How::Panic;
        self
    }

    /// It fails by not returning until the flag is cleared.
    pub fn by_hanging(mut self) -> Self {
        self.how = How::Hang;
        self
    }
}

impl FenceStorage for Failing {
    fn reserve(&mut self, at_least: u64, count: u64) -> Result<Range<u64>, FenceError> {
        while self.failing.load(Ordering::SeqCst) {
            match self.how {
                How::Error => return Err(FenceError::Other("failed on purpose".into())),
                How::Panic => panic!("on purpose"),
                How::Hang => std::thread::sleep(Duration::from_millis(1)),
            }
        }
        self.storage.reserve(at_least, count)
    }

    fn give_back(&mut self, unused: Range<u64>) -> Result<(), FenceError> {
        self.storage.give_back(unused)
    }
}

/// Holds and releases until that is refused: how often it worked, and why it
/// was refused.
pub fn until_refused(lock: &Lock) -> (u64, LockError) {
    for given in 0.. {
        if let Err(why) = lock.blocking_lease("until refused") {
            return (given, why);
        }
    }
    unreachable!("fences end")
}

/// Holds and releases until an ask waits for a fence: how often it worked. No
/// other ask may wait for anything.
pub fn take_all_fences(store: &Store, lock: &Lock) -> u64 {
    for given in 0.. {
        let key = format!("key {given}");
        let mut asked = std::pin::pin!(lock.lease(&key));
        let is_pending = asked.as_mut().poll(&mut noop_context()).is_pending();
        // It may also be pending because another thread is about to answer it.
        if is_pending && block_on(store.counts()).expect("an open store").waiters > 0 {
            return given;
        }
    }
    unreachable!("fences end")
}

/// A context for who polls by hand.
pub fn noop_context() -> std::task::Context<'static> {
    std::task::Context::from_waker(std::task::Waker::noop())
}
