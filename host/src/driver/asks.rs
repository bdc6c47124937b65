//! What is asked of the engine and not over yet: asks and the leases that came
//! of them, and commands that are answered once. Each has a number, which is
//! its ticket or tag.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::{Context, Poll, Waker};

use slab::Slab;
use witlock_engine::LeaseId;

use super::machine::wit;
use super::outlet::REMOTE;
use crate::{Ending, LockError};

/// A mutex whose holder panicked is taken all the same: what it guards here is
/// whole after every statement.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same, if no other thread has it.
pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// One ask, and the lease that may come of it.
#[derive(Debug)]
pub(crate) struct Ask {
    pub number: u64,
    state: Mutex<AskState>,
}

#[derive(Debug)]
struct AskState {
    phase: Phase,
    /// Nobody waits for the answer any more: a grant is to be released.
    abandoned: bool,
    /// Whoever waits for the next phase.
    wakers: Vec<Waker>,
}

/// How far an ask has got.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Phase {
    /// Not answered yet.
    Waiting,
    /// Its lease lasts.
    Granted(Granted),
    /// It was refused.
    Refused(LockError),
    /// Its lease ended.
    Ended(Granted, Ending),
}

/// What there is to know of a lease.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Granted {
    pub id: LeaseId,
    /// When it ends unless it is renewed; never, if there is none.
    pub deadline: Option<u64>,
}

/// Wakers to be woken once the locks are let go.
pub(crate) type Wakers = Vec<Waker>;

impl Ask {
    pub fn new(number: u64) -> Self {
        let state = AskState {
            phase: Phase::Waiting,
            abandoned: false,
            wakers: Vec::new(),
        };
        Ask {
            number,
            state: Mutex::new(state),
        }
    }

    pub fn phase(&self) -> Phase {
        lock(&self.state).phase.clone()
    }

    /// The first answer.
    pub fn poll_answer(&self, context: &mut Context<'_>) -> Poll<Result<Granted, LockError>> {
        let mut state = lock(&self.state);
        match &state.phase {
            Phase::Waiting => state.wait(context),
            Phase::Granted(granted) | Phase::Ended(granted, _) => Poll::Ready(Ok(*granted)),
            Phase::Refused(why) => Poll::Ready(Err(why.clone())),
        }
    }

    /// The end of the lease.
    pub fn poll_end(&self, context: &mut Context<'_>) -> Poll<Ending> {
        let mut state = lock(&self.state);
        match &state.phase {
            Phase::Waiting | Phase::Granted(_) => state.wait(context),
            Phase::Ended(_, how) => Poll::Ready(*how),
            // A refused ask has no lease; nobody asks for its end.
            Phase::Refused(_) => Poll::Ready(Ending::Released),
        }
    }

    /// Whether the lease ended, or its deadline is another than this one.
    pub fn poll_renewed(&self, seen: Option<u64>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = lock(&self.state);
        match &state.phase {
            Phase::Granted(granted) if granted.deadline == seen => state.wait(context),
            _ => Poll::Ready(()),
        }
    }

    /// Nobody waits any more. Tells how far the ask had got.
    pub fn abandon(&self) -> Phase {
        let mut state = lock(&self.state);
        state.abandoned = true;
        state.phase.clone()
    }

    /// The key was given. Tells whether nobody waits for it any more.
    #[must_use]
    pub fn grant(&self, granted: Granted, wakers: &mut Wakers) -> bool {
        let mut state = lock(&self.state);
        state.enter(Phase::Granted(granted), wakers);
        state.abandoned
    }

    /// The lease lasts until another moment than before.
    pub fn renew(&self, deadline: Option<u64>, wakers: &mut Wakers) {
        let mut state = lock(&self.state);
        if let Phase::Granted(granted) = state.phase {
            state.enter(
                Phase::Granted(Granted {
                    deadline,
                    ..granted
                }),
                wakers,
            );
        }
    }

    /// The fence of its lease, if it has come to one.
    pub fn fence(&self) -> Option<u64> {
        match &lock(&self.state).phase {
            Phase::Granted(granted) | Phase::Ended(granted, _) => Some(granted.id.fence),
            Phase::Waiting | Phase::Refused(_) => None,
        }
    }

    pub fn refuse(&self, why: LockError, wakers: &mut Wakers) {
        lock(&self.state).enter(Phase::Refused(why), wakers);
    }

    pub fn end(&self, how: Ending, wakers: &mut Wakers) {
        let mut state = lock(&self.state);
        match state.phase {
            Phase::Granted(granted) => state.enter(Phase::Ended(granted, how), wakers),
            Phase::Waiting => state.enter(Phase::Refused(LockError::Closed), wakers),
            Phase::Refused(_) | Phase::Ended(..) => {}
        }
    }
}

impl AskState {
    fn wait<T>(&mut self, context: &mut Context<'_>) -> Poll<T> {
        let waker = context.waker();
        if !self.wakers.iter().any(|known| known.will_wake(waker)) {
            self.wakers.push(waker.clone());
        }
        Poll::Pending
    }

    fn enter(&mut self, phase: Phase, wakers: &mut Wakers) {
        self.phase = phase;
        wakers.append(&mut self.wakers);
    }
}

/// A command that is answered once.
#[derive(Debug, Default)]
pub(crate) struct Reply(Mutex<(Option<Answer>, Option<Waker>)>);

/// The answer; closed where the engine is gone.
type Answer = Result<wit::Event, LockError>;

impl Reply {
    pub fn poll(&self, context: &mut Context<'_>) -> Poll<Answer> {
        let mut state = lock(&self.0);
        match state.0.take() {
            Some(answer) => Poll::Ready(answer),
            None => {
                state.1 = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    pub fn answer(&self, answer: Answer, wakers: &mut Wakers) {
        let mut state = lock(&self.0);
        state.0 = Some(answer);
        wakers.extend(state.1.take());
    }
}

/// What has a number.
#[derive(Debug, Clone)]
enum Entry {
    Ask(Arc<Ask>),
    Reply(Arc<Reply>),
}

/// Room for asks that is kept while there are none.
const ASKS_KEPT: usize = 1_024;

/// The bits of a count: with a place below it, it stays below [`REMOTE`].
const COUNT: u32 = ((REMOTE - 1) >> 32) as u32;

/// All that is not over yet, by number. A number is a place and, so that it is
/// never used twice, a count.
#[derive(Debug, Default)]
pub(crate) struct Asks {
    slab: Slab<(u32, Entry)>,
    count: u32,
}

impl Asks {
    pub fn add_ask(&mut self) -> Arc<Ask> {
        let (vacant, number) = self.next();
        let ask = Arc::new(Ask::new(number));
        let entry = Entry::Ask(ask.clone());
        self.put(vacant, entry);
        ask
    }

    pub fn add_reply(&mut self) -> (u64, Arc<Reply>) {
        let (vacant, number) = self.next();
        let reply = Arc::new(Reply::default());
        self.put(vacant, Entry::Reply(reply.clone()));
        (number, reply)
    }

    fn next(&mut self) -> (usize, u64) {
        // No number is 0, by which releases go, or one of a server's.
        self.count = (self.count.wrapping_add(1) & COUNT).max(1);
        let place = self.slab.vacant_key();
        (place, u64::from(self.count) << 32 | place as u64)
    }

    fn put(&mut self, place: usize, entry: Entry) {
        let put = self.slab.insert((self.count, entry));
        debug_assert_eq!(place, put);
    }

    fn place(&self, number: u64) -> Option<usize> {
        let place = number as u32 as usize;
        let (count, _) = self.slab.get(place)?;
        (u64::from(*count) == number >> 32).then_some(place)
    }

    pub fn ask(&self, number: u64) -> Option<&Arc<Ask>> {
        match &self.slab[self.place(number)?].1 {
            Entry::Ask(ask) => Some(ask),
            Entry::Reply(_) => None,
        }
    }

    /// Takes out an ask that is over.
    pub fn take_ask(&mut self, number: u64) -> Option<Arc<Ask>> {
        let ask = self.ask(number).cloned();
        if ask.is_some() {
            self.remove(number as u32 as usize);
        }
        ask
    }

    /// Takes out a command that was answered.
    pub fn take_reply(&mut self, number: u64) -> Option<Arc<Reply>> {
        let place = self.place(number)?;
        let Entry::Reply(reply) = &self.slab[place].1 else {
            return None;
        };
        let reply = reply.clone();
        self.remove(place);
        Some(reply)
    }

    /// What a crowd took is given back once all of it is gone.
    fn remove(&mut self, place: usize) {
        self.slab.remove(place);
        if self.slab.is_empty() && self.slab.capacity() > ASKS_KEPT {
            self.slab = Slab::new();
        }
    }

    /// Answers everything `closed`: the engine is gone.
    pub fn close(&mut self, wakers: &mut Wakers) {
        for (_, entry) in self.slab.drain() {
            match entry {
                Entry::Ask(ask) => ask.end(Ending::Closed, wakers),
                Entry::Reply(reply) => reply.answer(Err(LockError::Closed), wakers),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // LOCK-13
    #[test]
    fn a_crowd_of_asks_leaves_nothing_behind() {
        let mut asks = Asks::default();
        for _ in 0..2 {
            let mut crowd: Vec<_> = (0..10_000).map(|_| asks.add_ask()).collect();
            let (tag, _reply) = asks.add_reply();
            assert!(asks.slab.capacity() > ASKS_KEPT);
            for ask in crowd.drain(..) {
                assert!(asks.take_ask(ask.number).is_some());
                assert!(asks.take_ask(ask.number).is_none());
            }
            assert!(asks.take_reply(tag).is_some());
            assert!(asks.slab.capacity() <= ASKS_KEPT);
        }
    }
}
