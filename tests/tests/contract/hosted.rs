//! The host as a face: a store with a clock turned by hand, and whoever uses it.

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use witlock::clock::ManualClock;
use witlock::fences::{FenceError, FenceStorage, MemoryFences};
use witlock::{HoldingsCursor, LeaseRef, LockError, LocksCtx, Store, WaitersCursor};
use witlock_tests::watchdog;

use crate::face::{
    Act, Answer, Ask, Counts, Ending, Face, Holder, Holding, Kind, Lock, Need, Page, Terms, Wait,
    Waiting, Why,
};
use crate::reached::{InProcess, Reached};

/// Who holds keys of the store: native handles, or guests.
pub trait Users: Default {
    /// What they are called in messages.
    const NAME: &'static str;

    /// As [`Face::cannot`].
    fn cannot(need: Need) -> Option<&'static str>;

    /// As the functions of [`Face`], on a store.
    fn holder(&mut self, reached: &impl Reached, kind: Kind) -> Holder;
    fn end(&mut self, holder: Holder);
    fn open(&mut self, store: &Store, holder: Holder, terms: &Terms) -> Result<Lock, Why>;
    fn ask(&mut self, lock: Lock, key: &str, wait: Wait) -> Ask;
    fn answer(&mut self, ask: Ask) -> Answer;
    fn cancel(&mut self, ask: Ask);
    fn release(&mut self, ask: Ask) -> Result<(), Ending>;
    fn ended(&mut self, ask: Ask) -> Option<Ending>;

    /// So many ms went on: users that renew nothing by themselves do what long work
    /// does.
    fn pass(&mut self, _milliseconds: u64) {}

    /// Leaves them as they are, as a process does that is killed.
    fn leave(self) {
        std::mem::forget(self);
    }
}

/// A store and its users.
pub struct Hosted<U, R = InProcess> {
    clock: ManualClock,
    storage: Disk,
    store: Store,
    // Before what it reaches the store by.
    users: U,
    reached: R,
    /// Cursors, which scenarios know as numbers.
    holdings: Vec<HoldingsCursor>,
    waiters: Vec<WaitersCursor>,
}

/// What outlasts a process that is killed.
#[derive(Clone, Default)]
struct Disk(Arc<Mutex<MemoryFences>>);

impl FenceStorage for Disk {
    fn reserve(&mut self, at_least: u64, count: u64) -> Result<Range<u64>, FenceError> {
        self.0.lock().expect("unharmed").reserve(at_least, count)
    }

    fn give_back(&mut self, unused: Range<u64>) -> Result<(), FenceError> {
        self.0.lock().expect("unharmed").give_back(unused)
    }
}

/// Waits for what is answered without anyone's doing.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(future)
}

/// What a guest of this kind may do.
pub fn ctx(store: &Store, kind: Kind) -> LocksCtx {
    let mut ctx = LocksCtx::builder(store);
    if let Some(keys) = kind.max_held {
        ctx = ctx.max_held(keys);
    }
    if let Some(keys) = kind.max_waiting {
        ctx = ctx.max_waiting(keys);
    }
    ctx.build()
}

fn open(clock: &ManualClock, storage: &Disk) -> Store {
    let builder = Store::builder().clock(clock.clone());
    let store = builder.fences(storage.clone()).in_memory();
    store.expect("a store")
}

impl<U: Users, R: Reached> Hosted<U, R> {
    /// Everything that was asked before is handled, and what is due has ended.
    fn settle(&self) {
        for _ in 0..R::TURNS {
            // Closed, there is nothing to settle.
            let _ = block_on(self.reached.store().counts());
        }
    }

    /// When the next deadline is that a listing shows.
    fn next_deadline(&mut self) -> Option<u64> {
        let (mut left, mut from) = (Vec::new(), None);
        loop {
            let page = self.holdings(from);
            left.extend(page.items.iter().filter_map(|held| held.left));
            from = page.next;
            if from.is_none() {
                break;
            }
        }
        let mut from = None;
        loop {
            let page = self.waiters(from);
            left.extend(page.items.iter().map(|waiting| waiting.left));
            from = page.next;
            if from.is_none() {
                return left.into_iter().min();
            }
        }
    }
}

impl<U: Users, R: Reached> Face for Hosted<U, R> {
    const OFTEN: usize = R::OFTEN;

    fn name() -> String {
        [U::NAME, R::NAME].concat()
    }

    fn cannot(need: Need) -> Option<&'static str> {
        U::cannot(need).or(R::cannot(need))
    }

    fn start() -> Self {
        watchdog();
        let (clock, storage) = (ManualClock::default(), Disk::default());
        let store = open(&clock, &storage);
        Hosted {
            reached: R::reach(&store, &clock),
            store,
            clock,
            storage,
            users: U::default(),
            holdings: Vec::new(),
            waiters: Vec::new(),
        }
    }

    fn holder(&mut self, kind: Kind) -> Holder {
        self.users.holder(&self.reached, kind)
    }

    fn end(&mut self, holder: Holder) {
        self.users.end(holder);
        self.settle();
    }

    fn open(&mut self, holder: Holder, terms: &Terms) -> Result<Lock, Why> {
        self.users
            .open(self.reached.store(), holder, &R::terms(terms))
    }

    fn ask(&mut self, lock: Lock, key: &str, wait: Wait) -> Ask {
        let ask = self.users.ask(lock, key, wait);
        self.settle();
        ask
    }

    fn answer(&mut self, ask: Ask) -> Answer {
        self.settle();
        self.users.answer(ask)
    }

    fn cancel(&mut self, ask: Ask) {
        self.users.cancel(ask);
        self.settle();
    }

    fn release(&mut self, ask: Ask) -> Result<(), Ending> {
        self.users.release(ask)
    }

    fn ended(&mut self, ask: Ask) -> Option<Ending> {
        self.settle();
        self.users.ended(ask)
    }

    fn together(&mut self, acts: &[Act]) {
        for act in acts {
            match *act {
                Act::Cancel(ask) => self.users.cancel(ask),
                Act::Release(ask) => drop(self.users.release(ask)),
                Act::End(holder) => self.users.end(holder),
            }
        }
        self.settle();
    }

    fn holdings(&mut self, cursor: Option<u64>) -> Page<Holding, u64> {
        let from = cursor.map(|number| self.holdings[number as usize]);
        let page = match block_on(self.store.holdings(from)) {
            Ok(page) => page,
            Err(_) => return nothing(),
        };
        self.holdings.extend(page.next);
        Page {
            items: page.items.into_iter().map(holding).collect(),
            next: page.next.map(|_| self.holdings.len() as u64 - 1),
        }
    }

    fn waiters(&mut self, cursor: Option<(u64, u64)>) -> Page<Waiting, (u64, u64)> {
        let from = cursor.map(|(number, _)| self.waiters[number as usize]);
        let page = match block_on(self.store.waiters(from)) {
            Ok(page) => page,
            Err(_) => return nothing(),
        };
        self.waiters.extend(page.next);
        Page {
            items: page.items.into_iter().map(waiting).collect(),
            next: page.next.map(|_| (self.waiters.len() as u64 - 1, 0)),
        }
    }

    fn break_lease(&mut self, held: &Holding) -> bool {
        let (fence, place) = (held.fence, held.place);
        block_on(self.store.break_lease(LeaseRef { fence, place })).is_ok()
    }

    fn counts(&mut self) -> Counts {
        let counts = block_on(self.store.counts()).unwrap_or_default();
        Counts {
            keys: counts.keys,
            leases: counts.leases,
            waiters: counts.waiters,
            sessions: counts.sessions,
            fences: 0, // The host doesn't tell.
        }
    }

    fn advance(&mut self, milliseconds: u64) {
        let mut left = milliseconds;
        while left > 0 {
            let step = self
                .next_deadline()
                .unwrap_or(left)
                .min(R::STEP)
                .clamp(1, left);
            self.sleep(step);
            self.settle();
            self.users.pass(step);
            left -= step;
        }
    }

    fn sleep(&mut self, milliseconds: u64) {
        self.clock.advance(Duration::from_millis(milliseconds));
    }

    fn close(&mut self) {
        self.store.close();
    }

    fn reopen(&mut self) {
        let next = open(&self.clock, &self.storage);
        // Who is killed closes nothing, and drops nothing.
        std::mem::forget(std::mem::replace(&mut self.store, next));
        std::mem::take(&mut self.users).leave();
        let reached = R::reach(&self.store, &self.clock);
        std::mem::forget(std::mem::replace(&mut self.reached, reached));
    }
}

fn nothing<Item, Cursor>() -> Page<Item, Cursor> {
    Page {
        items: Vec::new(),
        next: None,
    }
}

fn holding(held: witlock::Holding) -> Holding {
    Holding {
        name: held.name,
        limit: held.limit,
        key: held.key,
        label: held.label,
        fence: held.lease.fence,
        place: held.lease.place,
        held: milliseconds(held.held),
        left: held.left.map(milliseconds),
    }
}

fn waiting(waiting: witlock::Waiting) -> Waiting {
    Waiting {
        name: waiting.name,
        limit: waiting.limit,
        key: waiting.key,
        label: waiting.label,
        waited: milliseconds(waiting.waited),
        left: milliseconds(waiting.left),
    }
}

fn milliseconds(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).expect("49 days and less")
}

/// A span that a scenario gives in ms.
pub fn span(milliseconds: Option<u32>) -> Option<Duration> {
    milliseconds.map(|milliseconds| Duration::from_millis(milliseconds.into()))
}

/// Why a key was not given, as scenarios have it.
pub fn why(error: LockError) -> Why {
    match error {
        LockError::InUse => Why::InUse,
        LockError::HeldByCaller => Why::HeldByCaller,
        LockError::Invalid(why) => Why::Invalid(why),
        LockError::TooMany(why) => Why::TooMany(why),
        LockError::Closed => Why::Closed,
        LockError::Unavailable(why) => Why::Unavailable(why),
    }
}
