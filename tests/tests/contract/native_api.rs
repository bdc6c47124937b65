//! The native API: its futures, polled by hand.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use witlock::{Lease, LockBuilder, LockError, Store};

use crate::face::{Answer, Ask, Ending, Holder, Kind, Lock, Need, Terms, Wait, Why};
use crate::hosted::{Users, span, why};
use crate::reached::Reached;

/// Native handles. A holder here is one handle for each lock it opens.
#[derive(Default)]
pub struct Handles {
    holders: usize,
    locks: Vec<(Holder, Option<witlock::Lock>)>,
    asks: Vec<(Lock, State)>,
}

/// How far an ask has got.
enum State {
    Asking(Asking),
    Held(Lease),
    Refused(Why),
    /// It was dropped with its lease, which had this fence.
    Dropped(u64),
}

type Asking = Pin<Box<dyn Future<Output = Result<Lease, LockError>>>>;

impl Users for Handles {
    const NAME: &'static str = "native API";

    fn cannot(need: Need) -> Option<&'static str> {
        match need {
            Need::Ttl => Some("leases of a store in this process last until they are released"),
            Need::Connection => Some("there is no connection in this process"),
            Need::Alone => Some("whoever uses the native API goes on while it waits"),
            Need::HolderBounds => Some("native handles have the bounds that are unless given"),
            Need::Fences => Some("host/tests/store.rs has storages that fail in their own time"),
            Need::InProcess
            | Need::SameClock
            | Need::Leave
            | Need::Tasks
            | Need::Crowd
            | Need::Reopen
            | Need::Close
            | Need::Listing => None,
        }
    }

    fn holder(&mut self, _: &impl Reached, _: Kind) -> Holder {
        self.holders += 1;
        Holder(self.holders - 1)
    }

    fn end(&mut self, holder: Holder) {
        for (lock, state) in &mut self.asks {
            if self.locks[lock.0].0 == holder {
                state.drop();
            }
        }
        for (of, lock) in &mut self.locks {
            if *of == holder {
                *lock = None;
            }
        }
    }

    fn open(&mut self, store: &Store, holder: Holder, terms: &Terms) -> Result<Lock, Why> {
        let lock = builder(store, terms).open().map_err(why)?;
        self.locks.push((holder, Some(lock)));
        Ok(Lock(self.locks.len() - 1))
    }

    fn ask(&mut self, lock: Lock, key: &str, wait: Wait) -> Ask {
        let opened = self.locks[lock.0].1.clone().expect("a lock");
        let mut state = State::Asking(asking(opened, key.into(), wait));
        state.poll();
        self.asks.push((lock, state));
        Ask(self.asks.len() - 1)
    }

    fn answer(&mut self, ask: Ask) -> Answer {
        match self.polled(ask) {
            State::Asking(_) => Answer::Waiting,
            State::Held(lease) => Answer::Held(lease.fence()),
            State::Refused(why) => Answer::Refused(why.clone()),
            State::Dropped(fence) => Answer::Held(*fence),
        }
    }

    fn cancel(&mut self, ask: Ask) {
        // Whether it was granted or not, it doesn't know before it is polled.
        self.asks[ask.0].1.drop();
    }

    fn release(&mut self, ask: Ask) -> Result<(), Ending> {
        match self.polled(ask) {
            State::Held(lease) => lease.blocking_release().map_err(ending),
            _ => panic!("{ask:?} has no lease"),
        }
    }

    fn ended(&mut self, ask: Ask) -> Option<Ending> {
        match self.polled(ask) {
            State::Held(lease) => lease.ended().map(ending),
            State::Dropped(_) => Some(Ending::Released),
            _ => None,
        }
    }
}

impl Handles {
    fn polled(&mut self, ask: Ask) -> &State {
        let state = &mut self.asks[ask.0].1;
        state.poll();
        state
    }
}

impl State {
    fn poll(&mut self) {
        let State::Asking(asking) = self else { return };
        let mut context = Context::from_waker(Waker::noop());
        match asking.as_mut().poll(&mut context) {
            Poll::Pending => {}
            Poll::Ready(Ok(lease)) => *self = State::Held(lease),
            Poll::Ready(Err(error)) => *self = State::Refused(why(error)),
        }
    }

    fn drop(&mut self) {
        *self = match self {
            State::Asking(_) => State::Refused(Why::Closed),
            State::Held(lease) => State::Dropped(lease.fence()),
            State::Refused(_) | State::Dropped(_) => return,
        };
    }
}

fn asking(lock: witlock::Lock, key: String, wait: Wait) -> Asking {
    Box::pin(async move {
        match wait {
            Wait::AsOpened => lock.lease(&key).await,
            Wait::For(wait) => {
                lock.with_wait(Duration::from_millis(wait.into()))
                    .lease(&key)
                    .await
            }
            Wait::Try => lock.try_lease(&key).await?.ok_or(LockError::InUse),
        }
    })
}

fn builder(store: &Store, terms: &Terms) -> LockBuilder {
    let mut builder = match terms.limit {
        None => store.lock(&terms.name),
        Some(limit) => store.semaphore(&terms.name, limit),
    };
    if let Some(ttl) = span(terms.ttl) {
        builder = builder.ttl(ttl);
    }
    if let Some(wait) = span(terms.wait) {
        builder = builder.wait(wait);
    }
    if let Some(max_hold) = span(terms.max_hold) {
        builder = builder.max_hold(max_hold);
    }
    match &terms.label {
        Some(label) => builder.label(label.as_str()),
        None => builder,
    }
}

fn ending(ending: witlock::Ending) -> Ending {
    match ending {
        witlock::Ending::Released => Ending::Released,
        witlock::Ending::Expired => Ending::Expired,
        witlock::Ending::Revoked => Ending::Revoked,
        witlock::Ending::Broken => Ending::Broken,
        witlock::Ending::Closed => Ending::Closed,
        witlock::Ending::Unreachable => panic!("nothing is unreachable in this process"),
    }
}
