//! The guarded resource: hears what holders say, and writes it down.

use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use witlock::clock::{BootClock, Clock};
use witlock_tests::record::{Moment, Record};

use crate::guard::Guard;
use crate::history::History;

/// How often it looks whether it is to stop.
const LOOKS: Duration = Duration::from_millis(100);

/// More than a record has.
const RECORD_BYTES: usize = 1 << 10;

/// Reads one datagram after the other from one socket.
///
/// The kernel's queue has them in the order in which they were sent, so the resource
/// itself, which may run late, changes no order. Its stamps are read after a datagram
/// was: they err to later, all of them, and grow with each.
pub struct Resource {
    path: PathBuf,
    history: Arc<Mutex<History>>,
    stops: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Resource {
    pub fn new(dir: &Path) -> Self {
        let path = dir.join("resource");
        let socket = UnixDatagram::bind(&path).expect("a socket");
        socket.set_read_timeout(Some(LOOKS)).expect("a time-out");
        let history = Arc::new(Mutex::new(History::default()));
        let stops = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let (history, stops) = (history.clone(), stops.clone());
            move || listen(&socket, &history, &stops)
        });
        Resource {
            path,
            history,
            stops,
            thread: Some(thread),
        }
    }

    pub fn path(&self) -> &str {
        self.path.to_str().expect("UTF-8")
    }

    /// Looks at what was written down by now.
    pub fn look<T>(&self, look: impl FnOnce(&History) -> T) -> T {
        look(&self.history.lock().expect("a history"))
    }
}

impl Drop for Resource {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It panicked on what is no record: then the test fails by that.
            let ended = thread.join();
            assert!(ended.is_ok() || thread::panicking(), "the resource failed");
        }
    }
}

fn listen(socket: &UnixDatagram, history: &Mutex<History>, stops: &AtomicBool) {
    let mut bytes = [0; RECORD_BYTES];
    let mut guard = Guard::default();
    let mut last: Moment = 0;
    while !stops.load(Ordering::Relaxed) {
        let Ok((length, from)) = socket.recv_from(&mut bytes) else {
            continue;
        };
        last = BootClock.now().max(last + 1);
        let text = std::str::from_utf8(&bytes[..length]).expect("UTF-8");
        let record: Record = text.parse().expect("a record");
        let accepted = match &record {
            Record::Claim(claim) => Some(guard.accepts(claim)),
            _ => None,
        };
        history
            .lock()
            .expect("a history")
            .add(last, record, accepted);
        if let (Some(accepted), Some(path)) = (accepted, from.as_pathname()) {
            let answer = if accepted { b"+" } else { b"-" };
            // Who was killed meanwhile needs none.
            let _ = socket.send_to(answer, path);
        }
    }
}
