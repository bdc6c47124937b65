//! A key held, and the ask for one.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use crate::driver::{Ask, Granted, Hold, Phase, block_on};
use crate::lock::{Manner, Terms};
use crate::session::Session;
use crate::{Ending, HoldError, LockError};

/// An ask that waits for its answer. Dropped, it leaves the line, or lets go
/// what it was given meanwhile.
pub(crate) struct Ticket {
    session: Arc<Session>,
    /// None once it was answered.
    ask: Option<Arc<Ask>>,
}

impl Ticket {
    pub fn ask(
        session: &Arc<Session>,
        terms: &Terms,
        key: &str,
        manner: Manner,
    ) -> Result<Self, LockError> {
        let ask = session.store.backend().ask(&Hold {
            session: session.number,
            name: &terms.name,
            limit: terms.limit,
            key,
            wait: manner.wait.or(terms.wait),
            options: &terms.options,
            alone: manner.alone,
        })?;
        Ok(Ticket {
            session: session.clone(),
            ask: Some(ask),
        })
    }
}

impl Future for Ticket {
    type Output = Result<Lease, LockError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(ask) = &self.ask else {
            // Polled again after its answer.
            return Poll::Ready(Err(LockError::Closed));
        };
        let answer = ready!(ask.poll_answer(context));
        let session = self.session.clone();
        let ask = self.ask.take();
        Poll::Ready(answer.and_then(|granted| {
            // It was there just now.
            let ask = ask.ok_or(LockError::Closed)?;
            Ok(Lease::new(session, ask, granted))
        }))
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(ask) = &self.ask {
            self.session.store.backend().abandon(ask);
        }
    }
}

/// A key held. Dropping it releases the key, without an answer.
pub struct Lease {
    session: Arc<Session>,
    ask: Arc<Ask>,
    fence: u64,
    /// Whether it was released by its holder, successfully or not.
    released: AtomicBool,
}

impl Lease {
    fn new(session: Arc<Session>, ask: Arc<Ask>, granted: Granted) -> Self {
        Lease {
            session,
            ask,
            fence: granted.id.fence,
            released: AtomicBool::new(false),
        }
    }

    /// The lease's fence: larger than that of every lease the store gave
    /// before, restarts included; at least 1 and below 2^53. Hand it to what
    /// the work writes to, and let that refuse older ones.
    pub fn fence(&self) -> u64 {
        self.fence
    }

    /// How the lease ended, or none while it lasts. Once it ended, another
    /// holder may hold the key. Past the lease's own deadline this never says
    /// none, however late the store was told.
    pub fn ended(&self) -> Option<Ending> {
        self.seen().or_else(|| {
            let deadline = self.deadline()?;
            (deadline <= self.session.store.backend().now()).then(|| self.overdue())?
        })
    }

    fn seen(&self) -> Option<Ending> {
        match self.ask.phase() {
            Phase::Ended(_, how) => Some(how),
            _ => None,
        }
    }

    /// How a lease ended whose deadline has come, unless it was renewed just now.
    fn overdue(&self) -> Option<Ending> {
        let backend = self.session.store.backend();
        backend.settle(&self.ask);
        let is_over = || self.deadline().is_some_and(|at| at <= backend.now());
        self.seen().or_else(|| is_over().then_some(Ending::Revoked))
    }

    /// Until when the lease lasts unless it is renewed, in nanoseconds of the
    /// store's clock: the earlier of its ttl's end and its `max-hold`'s. None
    /// where it has neither, in a store that this process holds.
    ///
    /// A lease over a connection is renewed by itself while it can be, which
    /// moves this on.
    pub fn deadline(&self) -> Option<u64> {
        match self.ask.phase() {
            Phase::Granted(granted) | Phase::Ended(granted, _) => granted.deadline,
            Phase::Waiting | Phase::Refused(_) => None,
        }
    }

    /// Waits until [`deadline`](Lease::deadline) is another than `seen`, or the
    /// lease ended. Dropping this future changes nothing.
    pub async fn until_renewed(&self, seen: Option<u64>) {
        poll_fn(|context| self.ask.poll_renewed(seen, context)).await;
    }

    /// Waits until the lease ends, [`Ending::Released`] included, and says how.
    /// Dropping this future changes nothing.
    pub async fn until_ended(&self) -> Ending {
        self.end().await
    }

    /// As [`until_ended`](Lease::until_ended), without a borrow of the lease.
    pub(crate) fn end(&self) -> impl Future<Output = Ending> + Send + use<> {
        let ask = self.ask.clone();
        poll_fn(move |context| ask.poll_end(context))
    }

    /// Releases the key, and waits for the answer; over a connection at most 5 s:
    /// without one it was a success, since the lease was known to last until then,
    /// and the key goes on at its ttl at the latest. Dropped meanwhile, the release
    /// goes on.
    ///
    /// # Errors
    ///
    /// How the lease had ended before; then nothing was changed, and what was
    /// done under it may have run beside another holder, save after
    /// [`Ending::Released`], which says that it was released before.
    pub async fn release(&self) -> Result<(), Ending> {
        self.releasing().await
    }

    /// Releases the key now; what came of it is told without a borrow of the
    /// lease.
    pub(crate) fn releasing(&self) -> impl Future<Output = Result<(), Ending>> + Send + use<> {
        let is_first = !self.released.swap(true, Ordering::AcqRel);
        // Only the first release, of a lease that lasts, is one that releases it.
        let releases = is_first && self.seen().is_none();
        if is_first {
            self.session.store.backend().release(&self.ask);
        }
        let end = self.end();
        async move {
            match end.await {
                Ending::Released if releases => Ok(()),
                how => Err(how),
            }
        }
    }

    /// As [`release`](Lease::release), for a caller without a runtime.
    ///
    /// # Errors
    ///
    /// As [`release`](Lease::release).
    pub fn blocking_release(&self) -> Result<(), Ending> {
        block_on(self.release())
    }

    /// Releases the key after the work; a lease that ended otherwise than by
    /// release was lost.
    pub(crate) async fn finish(self) -> Result<(), HoldError> {
        match self.release().await {
            Ok(()) | Err(Ending::Released) => Ok(()),
            Err(lost) => Err(HoldError::Lost(lost)),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !*self.released.get_mut() {
            self.session.store.backend().abandon(&self.ask);
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lease = f.debug_struct("Lease");
        lease.field("fence", &self.fence());
        lease.field("ended", &self.ended()).finish()
    }
}
