//! The two threads of a store's own. They need no runtime and no turn of one,
//! so that neither a guest that spins nor a blocking call ends a lease late or
//! keeps a waiter waiting.

use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::Driver;
use super::asks::lock;
use crate::fences::Reserver;

/// How long a failed reservation is left alone. Asks wait for the next attempt,
/// so that is how late a working storage is noticed at most.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// What the thread of the fences is told.
enum Order {
    Reserve,
    /// Gives back what no lease had, and lets the storage go.
    Close(u64),
}

/// By which fences are ordered.
pub(crate) struct FenceOrders(Mutex<Sender<Order>>);

impl FenceOrders {
    pub fn new() -> (Self, FenceDesk) {
        let (sender, receiver) = channel();
        (FenceOrders(Mutex::new(sender)), FenceDesk(receiver))
    }

    /// Orders the next range; `left` fences are left.
    pub fn reserve(&self, left: u64) {
        log::debug!("{left} fences are left; the next range is reserved");
        self.send(Order::Reserve);
    }

    fn send(&self, order: Order) {
        // Without its thread the store is closed and gives no lease.
        let _ = lock(&self.0).send(order);
    }
}

/// Where the orders arrive.
pub(crate) struct FenceDesk(Receiver<Order>);

impl FenceDesk {
    fn work(self, driver: &Driver, mut reserver: Reserver) {
        while let Ok(order) = self.0.recv() {
            match order {
                Order::Reserve => self.reserve(driver, &mut reserver),
                Order::Close(left) => return reserver.close(left),
            }
        }
    }

    fn reserve(&self, driver: &Driver, reserver: &mut Reserver) {
        let reserved = reserve(reserver);
        let failed = reserved.is_err();
        driver.fences_came(reserved);
        if failed {
            std::thread::sleep(RETRY_PAUSE);
        }
    }
}

/// A storage that panics is one that fails.
fn reserve(reserver: &mut Reserver) -> Result<Range<u64>, String> {
    match catch_unwind(AssertUnwindSafe(|| reserver.next())) {
        Ok(reserved) => reserved.map_err(|error| error.to_string()),
        Err(_) => Err("the fence storage panicked".into()),
    }
}

/// The threads at work, until they are stopped.
pub(crate) struct Threads {
    stop: Arc<AtomicBool>,
    due: JoinHandle<()>,
    fences: JoinHandle<()>,
}

impl Threads {
    pub fn start(driver: &Arc<Driver>, desk: FenceDesk, reserver: Reserver) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, of_due, of_fences) = (stop.clone(), driver.clone(), driver.clone());
        let due = Builder::new().name("witlock-due".into());
        let due = due.spawn(move || end_what_is_due(&of_due, &stopped))?;
        let fences = Builder::new().name("witlock-fences".into());
        let fences = fences.spawn(move || desk.work(&of_fences, reserver))?;
        Ok(Threads { stop, due, fences })
    }

    /// Stops both, once the storage has taken back the fences that are left.
    pub fn stop(self, driver: &Driver, left: u64) {
        driver.fences.send(Order::Close(left));
        self.stop.store(true, Ordering::Release);
        driver.ring_out();
        join(self.due);
        join(self.fences);
    }
}

/// A thread that is woken by its own doing can't wait for itself.
fn join(thread: JoinHandle<()>) {
    if thread.thread().id() != std::thread::current().id() && thread.join().is_err() {
        log::error!("a thread of the store panicked");
    }
}

fn end_what_is_due(driver: &Driver, stop: &AtomicBool) {
    while !stop.load(Ordering::Acquire) {
        // Once before the first wait: a thread's first call into wasm takes
        // memory that may not be there later.
        driver.run_due();
        // Which may have set the alarm after it rang for the last time.
        if !stop.load(Ordering::Acquire) {
            driver.alarm.wait();
        }
    }
}
