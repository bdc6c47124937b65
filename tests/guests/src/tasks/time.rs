//! A clock that goes on when a guest says so: `wasi:clocks/monotonic-clock@0.3.0`
//! of this process, in place of wasmtime's, and `witlock:tasks/time`.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};

use wasmtime::Result;
use wasmtime::component::Linker;

const MILLISECOND: u64 = 1_000_000;

/// Times that others get their turn before the time goes on.
const TURNS: usize = 16;

/// A clock of one guest.
#[derive(Clone, Default)]
pub struct Time(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    now: u64,
    last: u64,
    /// Who waits, by when, and then in the order of coming.
    waiting: BTreeMap<(u64, u64), Waker>,
}

impl Time {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("unharmed")
    }

    fn sleep(&self, milliseconds: u64) {
        self.state().now += milliseconds * MILLISECOND;
    }

    async fn wait_for(self, span: u64) -> Result<()> {
        let place = {
            let mut state = self.state();
            state.last += 1;
            (state.now.saturating_add(span), state.last)
        };
        let waiting = Waiting(&self, place);
        poll_fn(|context| waiting.poll(context.waker())).await;
        Ok(())
    }

    async fn advance(self, milliseconds: u64) -> Result<()> {
        let until = self.state().now + milliseconds * MILLISECOND;
        loop {
            for _ in 0..TURNS {
                turn().await;
            }
            if !self.wake_due(until) {
                self.state().now = until;
                return Ok(());
            }
        }
    }

    /// Moves to the next moment until then at which something is due.
    fn wake_due(&self, until: u64) -> bool {
        let mut state = self.state();
        let next = state.waiting.keys().next().map(|(due, _)| *due);
        let Some(due) = next.filter(|due| *due <= until) else {
            return false;
        };
        state.now = state.now.max(due);
        let later = state.now + 1;
        let later = state.waiting.split_off(&(later, 0));
        let due = std::mem::replace(&mut state.waiting, later);
        drop(state);
        due.into_values().for_each(Waker::wake);
        true
    }
}

/// Lets others go on.
async fn turn() {
    let mut was_polled = false;
    poll_fn(|context| {
        if std::mem::replace(&mut was_polled, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// A wait. Dropped, it is none any more.
struct Waiting<'a>(&'a Time, (u64, u64));

impl Waiting<'_> {
    fn poll(&self, waker: &Waker) -> Poll<()> {
        let mut state = self.0.state();
        if self.1.0 <= state.now {
            return Poll::Ready(());
        }
        state.waiting.insert(self.1, waker.clone());
        Poll::Pending
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.state().waiting.remove(&self.1);
    }
}

/// How the data of a store gives its guest's clock.
pub trait TimeView {
    /// The clock.
    fn time(&self) -> Time;
}

/// Offers the clock, in place of one that is offered already.
pub fn add_to_linker<T: TimeView + Send + 'static>(linker: &mut Linker<T>) -> Result<()> {
    linker.allow_shadowing(true);
    let mut clock = linker.instance("wasi:clocks/monotonic-clock@0.3.0")?;
    clock.func_wrap("now", |store, (): ()| {
        Ok((store.data().time().state().now,))
    })?;
    clock.func_wrap_concurrent("wait-for", |accessor, (span,): (u64,)| {
        let time = accessor.with(|mut access| access.data_mut().time());
        Box::pin(time.wait_for(span))
    })?;
    let mut time = linker.instance("witlock:tasks/time@0.1.0")?;
    time.func_wrap("sleep", |store, (milliseconds,): (u64,)| {
        store.data().time().sleep(milliseconds);
        Ok(())
    })?;
    time.func_wrap_concurrent("advance", |accessor, (milliseconds,): (u64,)| {
        let time = accessor.with(|mut access| access.data_mut().time());
        Box::pin(time.advance(milliseconds))
    })?;
    linker.allow_shadowing(false);
    Ok(())
}
