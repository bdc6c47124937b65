//! A hang fails.

use std::sync::Once;
use std::thread;
use std::time::Duration;

/// Far more than any test takes.
const PATIENCE: Duration = Duration::from_secs(300);

/// Ends the process, and so fails its tests, if it is still there after five
/// minutes.
pub fn watchdog() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        thread::spawn(|| {
            thread::sleep(PATIENCE);
            eprintln!("a test hangs");
            std::process::abort();
        });
    });
}
