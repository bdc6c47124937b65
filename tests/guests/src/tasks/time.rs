//! A clock that goes on when a guest says so: `wasi:clocks/monotonic-clock@0.3.0`
//! of this process, in place of wasmtime's, and `witlock:tasks/time`.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};

use wasmtime::Result;
use wasmtime::component::Linker;

use super::timeline::{Place, Timeline};

/// Times that others get their turn before the time goes on.
const TURNS: usize = 16;

/// A clock of one guest.
#[derive(Clone)]
pub struct Time(Arc<Mutex<Timeline>>);

impl Time {
    pub fn new() -> Self {
        Time(Arc::new(Mutex::new(Timeline::new())))
    }

    fn line(&self) -> MutexGuard<'_, Timeline> {
        self.0.lock().expect("unharmed")
    }

    fn sleep(&self, milliseconds: u64) {
        let mut line = self.line();
        let until = line.after(milliseconds);
        line.set(until);
    }

    async fn wait_for(self, span: u64) -> Result<()> {
        let place = self.line().place(span);
        let waiting = Waiting(&self, place);
        poll_fn(|context| waiting.poll(context.waker())).await;
        Ok(())
    }

    async fn advance(self, milliseconds: u64) -> Result<()> {
        let until = self.line().after(milliseconds);
        loop {
            for _ in 0..TURNS {
                turn().await;
            }
            let due = self.line().next(until);
            let Some(due) = due else {
                self.line().set(until);
                return Ok(());
            };
            due.into_iter().for_each(Waker::wake);
        }
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
struct Waiting<'a>(&'a Time, Place);

impl Waiting<'_> {
    fn poll(&self, waker: &Waker) -> Poll<()> {
        match self.0.line().is_over(self.1, waker) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.line().give_up(self.1);
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
        Ok((store.data().time().line().now(),))
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
