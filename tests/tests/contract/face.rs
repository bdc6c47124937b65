//! What a scenario sees of Witlock, whichever way it is used. Everything here
//! is synchronous, and time goes on only when a scenario says so.

use std::fmt::Debug;

pub use witlock_engine::{Counts, Ending};
pub use witlock_tests::Why;

/// One way to use Witlock.
pub trait Face: Sized {
    /// How often a scenario does what should go well however often: what takes a
    /// message over a socket each time is done less often.
    const OFTEN: usize = 10_000;

    /// What it is called in messages.
    fn name() -> String;

    /// Why scenarios with this need can't run on this face; none if they can.
    fn cannot(need: Need) -> Option<&'static str>;

    /// An empty store, with fences to be had.
    fn start() -> Self;

    /// A new holder.
    fn holder(&mut self, kind: Kind) -> Holder;
    /// Ends a holder: it returned, trapped, was dropped.
    fn end(&mut self, holder: Holder);

    /// Opens a lock, or a semaphore if there is a limit, for a holder.
    fn open(&mut self, holder: Holder, terms: &Terms) -> Result<Lock, Why>;

    /// Asks for a key, and returns at once.
    fn ask(&mut self, lock: Lock, key: &str, wait: Wait) -> Ask;
    /// What came of an ask so far.
    fn answer(&mut self, ask: Ask) -> Answer;
    /// Whoever asked is gone: does not wait any more, or drops what it was
    /// given. The holder of an ask that waited is not used afterwards.
    fn cancel(&mut self, ask: Ask);

    /// Releases the lease that came of an ask.
    fn release(&mut self, ask: Ask) -> Result<(), Ending>;
    /// How the lease that came of an ask ended; none while it lasts.
    fn ended(&mut self, ask: Ask) -> Option<Ending>;

    /// Does things at one moment, in their order, with as little in between as
    /// the face can.
    fn together(&mut self, acts: &[Act]);

    /// A page of what is held, from a cursor on (none at first).
    fn holdings(&mut self, cursor: Option<u64>) -> Page<Holding, u64>;
    /// A page of who waits.
    fn waiters(&mut self, cursor: Option<(u64, u64)>) -> Page<Waiting, (u64, u64)>;
    /// Breaks a lease as an operator does; false if it was not held any more.
    fn break_lease(&mut self, held: &Holding) -> bool;
    /// What is kept.
    fn counts(&mut self) -> Counts;

    /// Time goes on by so many ms, and what is due happens when it is due.
    fn advance(&mut self, milliseconds: u64);
    /// Time goes on, and nothing is woken: whatever is called next finds that
    /// it is late.
    fn sleep(&mut self, milliseconds: u64);

    /// Closes the store.
    fn close(&mut self);
    /// Leaves the store as a process does that is killed, and opens it again.
    /// Nothing from before may be used any more.
    fn reopen(&mut self);

    /// Whether fences can be had from now on. [`Need::Fences`].
    fn set_fences(&mut self, _: Fences) {
        unreachable!("a face that can't do that says so");
    }

    /// Renews a lease; says how long it lasts now, in ms. [`Need::Ttl`].
    fn renew(&mut self, _: Ask) -> Result<Option<u64>, Ending> {
        unreachable!("a face that can't do that says so");
    }

    /// Asks again with the same request: the answer comes to the new ask only.
    /// [`Need::Connection`].
    fn ask_again(&mut self, _: Ask) -> Ask {
        unreachable!("a face that can't do that says so");
    }
    /// Cuts a holder's connection. [`Need::Connection`].
    fn cut(&mut self, _: Holder) {
        unreachable!("a face that can't do that says so");
    }
    /// The holder comes back, counting on these leases and still waiting with
    /// these asks; false if nothing was left of it. [`Need::Connection`].
    fn come_back(&mut self, _: Holder, _leases: &[Ask], _asks: &[Ask]) -> bool {
        unreachable!("a face that can't do that says so");
    }
}

/// What a scenario needs that not every face has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Leases that last a ttl, and are renewed by hand.
    Ttl,
    /// Leases without a ttl, which last to the moment that the store says.
    InProcess,
    /// Holders that live by the clock that the scenario lets go on.
    SameClock,
    /// Holders that leave the store as they end, and the line as they are cancelled.
    Leave,
    /// Holders over a connection that can be cut, and ask again.
    Connection,
    /// Holders that stand still while they wait.
    Alone,
    /// Holders that do something else while they wait.
    Tasks,
    /// Holders with bounds of their own.
    HolderBounds,
    /// Fences that can fail to be had.
    Fences,
    /// Thousands of holders, or of asks under way.
    Crowd,
    /// A store that is left and opened again.
    Reopen,
    /// A store that is closed while its holders go on.
    Close,
    /// An operator's view: listings, counts, breaking a lease.
    Listing,
}

/// A holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder(pub usize);

/// A lock or a semaphore that a holder opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lock(pub usize);

/// An ask, and the lease that may come of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask(pub usize);

/// What a holder is like. Unless said, as the face's holders are.
#[derive(Debug, Clone, Copy, Default)]
pub struct Kind {
    /// Its leases have a ttl, which nothing renews by itself.
    pub ttl: bool,
    /// It stands still while it waits.
    pub alone: bool,
    /// How many keys it may hold.
    pub max_held: Option<u32>,
    /// How many keys it may wait for.
    pub max_waiting: Option<u32>,
}

/// What a lock is opened with.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    pub name: String,
    pub limit: Option<u32>,
    pub ttl: Option<u32>,
    pub wait: Option<u32>,
    pub max_hold: Option<u32>,
    pub label: Option<String>,
}

/// How long an ask waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// As its lock says.
    AsOpened,
    /// So many ms.
    For(u32),
    /// Not at all: `try-hold`.
    Try,
}

/// What came of an ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It stands in line.
    Waiting,
    /// It got the key, with this fence. (It may have lost it since.)
    Held(u64),
    /// It did not get the key.
    Refused(Why),
}

/// Something done at one moment with others.
#[derive(Debug, Clone, Copy)]
pub enum Act {
    /// As [`Face::cancel`].
    Cancel(Ask),
    /// As [`Face::release`], without looking at the answer.
    Release(Ask),
    /// As [`Face::end`].
    End(Holder),
}

/// Whether fences can be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fences {
    /// At once.
    Come,
    /// Nobody knows when.
    Stall,
    /// No, and why.
    Fail(&'static str),
}

/// A page of a listing.
#[derive(Debug, Clone)]
pub struct Page<Item, Cursor> {
    pub items: Vec<Item>,
    pub next: Option<Cursor>,
}

/// A lease as a listing shows it; spans in ms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    pub name: String,
    pub limit: Option<u32>,
    pub key: String,
    pub label: Option<String>,
    pub fence: u64,
    pub place: u32,
    pub held: u64,
    pub left: Option<u64>,
}

/// A waiter as a listing shows it; spans in ms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub name: String,
    pub limit: Option<u32>,
    pub key: String,
    pub label: Option<String>,
    pub waited: u64,
    pub left: u64,
}
