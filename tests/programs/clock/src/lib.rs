//! A clock that stands still unless it is told to go on: composed with
//! `locks.wasm`, it makes the hours of a scenario pass at once, under any
//! runtime.

#[allow(missing_docs)] // documented in the WIT
mod bindings {
    wit_bindgen::generate!({
        path: ["../../../wit/locks-0.2", "../../../wit/locks-0.3", "../tasks/wit", "wit"],
        world: "witlock:clock/clock",
        generate_all,
    });
}

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::task::{Poll, Waker};

use bindings::exports::wasi::clocks::monotonic_clock;
use bindings::exports::witlock::tasks::time;

const MILLISECOND: u64 = 1_000_000;

/// Times that others get their turn before the time goes on.
const TURNS: usize = 8;

std::thread_local! {
    static NOW: Cell<u64> = const { Cell::new(0) };
    /// Who waits, by when, and then in the order of coming.
    static WAITING: RefCell<BTreeMap<(u64, u64), Option<Waker>>> = const { RefCell::new(BTreeMap::new()) };
    static LAST: Cell<u64> = const { Cell::new(0) };
}

/// The component.
#[cfg_attr(not(target_family = "wasm"), allow(dead_code))]
struct Clock;

impl monotonic_clock::Guest for Clock {
    fn now() -> u64 {
        NOW.get()
    }

    async fn wait_for(how_long: u64) {
        let wait = Wait::new(NOW.get().saturating_add(how_long));
        poll_fn(|context| wait.poll(context.waker())).await;
    }
}

impl time::Guest for Clock {
    async fn advance(milliseconds: u64) {
        let until = NOW.get() + milliseconds * MILLISECOND;
        loop {
            for _ in 0..TURNS {
                wit_bindgen::yield_async().await;
            }
            let Some(due) = next_due().filter(|due| *due <= until) else {
                break;
            };
            NOW.set(due.max(NOW.get()));
            wake_due();
        }
        NOW.set(until);
    }

    fn sleep(milliseconds: u64) {
        NOW.set(NOW.get() + milliseconds * MILLISECOND);
    }
}

fn next_due() -> Option<u64> {
    WAITING.with_borrow(|waiting| waiting.keys().next().map(|(due, _)| *due))
}

fn wake_due() {
    let wakers: Vec<Waker> = WAITING.with_borrow_mut(|waiting| {
        let later = waiting.split_off(&(NOW.get() + 1, 0));
        let due = std::mem::replace(waiting, later);
        due.into_values().flatten().collect()
    });
    wakers.into_iter().for_each(Waker::wake);
}

/// A call that waits. Dropped, it waits no more.
struct Wait((u64, u64));

impl Wait {
    fn new(due: u64) -> Self {
        LAST.set(LAST.get() + 1);
        Wait((due, LAST.get()))
    }

    fn poll(&self, waker: &Waker) -> Poll<()> {
        if self.0.0 <= NOW.get() {
            return Poll::Ready(());
        }
        WAITING.with_borrow_mut(|waiting| waiting.insert(self.0, Some(waker.clone())));
        Poll::Pending
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        WAITING.with_borrow_mut(|waiting| waiting.remove(&self.0));
    }
}

#[cfg(target_family = "wasm")]
bindings::export!(Clock with_types_in bindings);
