//! A hang fails.

use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Far more than any test takes.
const PATIENCE: Duration = Duration::from_secs(300);

/// What the process may take beside that, in seconds.
static MORE: AtomicU64 = AtomicU64::new(0);

/// Ends the process, and so fails its tests, if it is still there after five
/// minutes.
pub fn watchdog() {
    watchdog_besides(Duration::ZERO);
}

/// The same, with time for a test that is to take this long.
pub fn watchdog_besides(work: Duration) {
    static STARTED: Once = Once::new();
    MORE.fetch_add(work.as_secs(), Ordering::Relaxed);
    STARTED.call_once(|| {
        let start = Instant::now();
        thread::spawn(move || {
            let patience = || PATIENCE + Duration::from_secs(MORE.load(Ordering::Relaxed));
            while start.elapsed() < patience() {
                thread::sleep(Duration::from_secs(1));
            }
            eprintln!("a test hangs");
            std::process::abort();
        });
    });
}
