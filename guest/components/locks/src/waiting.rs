//! Calls that wait. One of them keeps the time for all: it waits for timers too,
//! and steps the store when one runs out. When it ends, however it ends, another
//! takes over.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::task::{Context, Poll, Waker};

use witlock_engine::{Ending, Refusal};

use crate::asks::{Ask, CallNumber};
use crate::leases::Lease;
use crate::opened::Pending;
use crate::{entry, timers};

std::thread_local! {
    static CALLS: RefCell<Calls> = const { RefCell::new(Calls::new()) };
}

/// The calls that wait, and who of them keeps the time.
struct Calls {
    last: CallNumber,
    waiting: BTreeMap<CallNumber, Waker>,
    keeper: Option<CallNumber>,
}

impl Calls {
    const fn new() -> Self {
        Calls {
            last: 0,
            waiting: BTreeMap::new(),
            keeper: None,
        }
    }
}

/// Waits until an ask is answered. Dropped, it lets go.
pub(crate) async fn until_answered(mut pending: Pending) -> Result<Lease, Refusal> {
    if let Some(ask) = pending.ask() {
        until(ask, || ask.answer().map(drop)).await;
    }
    // It was there just now.
    pending.take().unwrap_or(Err(Refusal::Closed))
}

/// Waits until a lease ends.
pub(crate) async fn until_ended(lease: &Lease) -> Ending {
    until(lease.ask(), || lease.ended()).await
}

async fn until<T>(ask: &Ask, news: impl Fn() -> Option<T>) -> T {
    // Most asks are answered at once: then no call waits.
    if let Some(news) = news() {
        return news;
    }
    let call = Call::begin(ask);
    let news = poll_fn(|context| match news() {
        Some(news) => Poll::Ready(news),
        None => call.wait(context, &news),
    })
    .await;
    call.is_answered.set(true);
    news
}

/// Wakes those calls for which there are news and that wait still; and the
/// keeper, if something is due before it would look.
pub(crate) fn tell(told: Vec<CallNumber>) {
    let wakers = CALLS.with_borrow(|calls| {
        let waker = |call| calls.waiting.get(call).cloned();
        let late = calls.keeper.filter(|_| !is_covered());
        told.iter()
            .chain(&late)
            .filter_map(waker)
            .collect::<Vec<_>>()
    });
    wakers.into_iter().for_each(Waker::wake);
}

/// Has the keeper look.
pub(crate) fn wake_keeper() {
    let keeper = CALLS.with_borrow(|calls| calls.waiting.get(&calls.keeper?).cloned());
    if let Some(keeper) = keeper {
        keeper.wake();
    }
}

/// Whether a timer runs for what is due next.
fn is_covered() -> bool {
    let (now, next) = entry::time();
    next.is_none_or(|deadline| timers::is_covered(now, deadline))
}

/// A call that waits for news of an ask.
struct Call<'a> {
    number: CallNumber,
    ask: &'a Ask,
    is_answered: Cell<bool>,
}

impl<'a> Call<'a> {
    fn begin(ask: &'a Ask) -> Self {
        let number = CALLS.with_borrow_mut(|calls| {
            calls.last += 1;
            calls.last
        });
        Call {
            number,
            ask,
            is_answered: Cell::new(false),
        }
    }

    fn wait<T>(&self, context: &mut Context<'_>, news: impl Fn() -> Option<T>) -> Poll<T> {
        self.ask.tell(self.number);
        if self.is_keeper(context.waker()) {
            keep_time(self.number);
            if let Some(news) = news() {
                return Poll::Ready(news);
            }
        }
        Poll::Pending
    }

    /// Whether this call keeps the time: it does if no other does.
    fn is_keeper(&self, waker: &Waker) -> bool {
        CALLS.with_borrow_mut(|calls| {
            calls.waiting.insert(self.number, waker.clone());
            *calls.keeper.get_or_insert(self.number) == self.number
        })
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.ask.tell_not(self.number);
        if !self.is_answered.get() {
            timers::leave(self.number);
        }
        let heir = CALLS.with_borrow_mut(|calls| {
            calls.waiting.remove(&self.number);
            calls.keeper.take_if(|keeper| *keeper == self.number)?;
            // Who came last waits longest, as a rule.
            calls.waiting.values().next_back().cloned()
        });
        if let Some(heir) = heir {
            heir.wake();
        }
    }
}

/// Ends what is due, and has a timer run for what is due next.
fn keep_time(call: CallNumber) {
    loop {
        entry::step_with_time();
        let (now, next) = entry::time();
        let late = next.filter(|deadline| !timers::is_covered(now, *deadline));
        // A timer may have run out while it was started.
        if late.is_none_or(|deadline| timers::start(now, deadline)) {
            return timers::join(call);
        }
    }
}
