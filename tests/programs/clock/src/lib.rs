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

mod timeline;

use std::cell::RefCell;
use std::future::poll_fn;
use std::task::{Poll, Waker};

use bindings::exports::wasi::clocks::monotonic_clock;
use bindings::exports::witlock::tasks::time;
use timeline::{Place, Timeline};

/// Times that others get their turn before the time goes on.
const TURNS: usize = 8;

std::thread_local! {
    static TIME: RefCell<Timeline> = const { RefCell::new(Timeline::new()) };
}

/// The component.
#[cfg_attr(not(target_family = "wasm"), allow(dead_code))]
struct Clock;

impl monotonic_clock::Guest for Clock {
    fn now() -> u64 {
        TIME.with_borrow(Timeline::now)
    }

    async fn wait_for(how_long: u64) {
        let wait = Wait(TIME.with_borrow_mut(|time| time.place(how_long)));
        poll_fn(|context| wait.poll(context.waker())).await;
    }
}

impl time::Guest for Clock {
    async fn advance(milliseconds: u64) {
        let until = TIME.with_borrow(|time| time.after(milliseconds));
        loop {
            for _ in 0..TURNS {
                wit_bindgen::yield_async().await;
            }
            let Some(due) = TIME.with_borrow_mut(|time| time.next(until)) else {
                break;
            };
            due.into_iter().for_each(Waker::wake);
        }
        TIME.with_borrow_mut(|time| time.set(until));
    }

    fn sleep(milliseconds: u64) {
        TIME.with_borrow_mut(|time| time.set(time.after(milliseconds)));
    }
}

/// A call that waits. Dropped, it waits no more.
struct Wait(Place);

impl Wait {
    fn poll(&self, waker: &Waker) -> Poll<()> {
        match TIME.with_borrow_mut(|time| time.is_over(self.0, waker)) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        TIME.with_borrow_mut(|time| time.give_up(self.0));
    }
}

#[cfg(target_family = "wasm")]
bindings::export!(Clock with_types_in bindings);
