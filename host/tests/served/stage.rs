//! A store, its server, its clients, and the clock that all of them share.

use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use witlock::clock::{Clock, ManualClock};
use witlock::{
    Connector, Counts, Holding, Lease, Lock, LockError, Server, Store, StoreBuilder, Waiting,
};

use crate::common::{block_on, watchdog};
use crate::proxy::Proxy;

/// The ttl of every lease, unless the test says otherwise: the default.
pub const TTL: Duration = Duration::from_secs(30);

/// How long a waiter without a connection keeps its place.
pub const PLACE_KEPT: Duration = Duration::from_secs(5);

/// Longer than any wait of a test.
pub const LONG: Duration = Duration::from_secs(3_600);

/// The least step of a clock.
pub const TICK: Duration = Duration::from_nanos(1);

/// What lets a client in over TCP, and an operator.
pub const TOKEN: &str = "let me in";
pub const ADMIN_TOKEN: &str = "let me see";

/// More tries, a millisecond apart, than any test needs.
const TRIES: usize = 60_000;

/// A store in memory that is served at a socket.
pub struct Stage {
    pub clock: ManualClock,
    pub store: Store,
    place: TempDir,
    server: Option<Server>,
}

impl Stage {
    pub fn new() -> Self {
        Self::with(|builder, _| builder.in_memory().unwrap())
    }

    /// A store in a directory of the stage's own.
    pub fn in_directory() -> Self {
        Self::with(|builder, place| builder.open(place.path().join("store")).unwrap())
    }

    fn with(open: impl FnOnce(witlock::StoreBuilder, &TempDir) -> Store) -> Self {
        watchdog();
        let place = tempfile::tempdir().unwrap();
        let clock = ManualClock::default();
        let store = open(Store::builder().clock(clock.clone()), &place);
        let mut stage = Stage {
            clock,
            store,
            place,
            server: None,
        };
        stage.serve();
        stage
    }

    /// An address in the stage's directory.
    pub fn socket(&self, name: &str) -> String {
        format!("unix:{}/{name}.sock", self.place.path().display())
    }

    /// Where the store is served.
    pub fn address(&self) -> String {
        self.socket("witlock")
    }

    /// Where it is served over TCP.
    pub fn tcp(&self) -> String {
        self.server.as_ref().unwrap().addresses()[1].clone()
    }

    pub fn serve(&mut self) {
        let server = Server::builder(&self.store)
            .listen(self.address())
            .listen("tcp:127.0.0.1:0")
            .token(TOKEN)
            .admin_token(ADMIN_TOKEN);
        self.server = Some(server.bind().unwrap());
    }

    /// Stops the server as a person would.
    pub fn stop(&mut self) {
        self.server.take().unwrap().stop();
    }

    /// Closes the store, which no server serves any more, and opens its directory
    /// anew.
    pub fn reopen(&mut self) {
        self.reopen_with(|builder| builder);
    }

    /// The same, in another way.
    pub fn reopen_with(&mut self, how: impl FnOnce(StoreBuilder) -> StoreBuilder) {
        assert!(self.server.is_none());
        self.store.close();
        let builder = Store::builder().clock(self.clock.clone());
        self.store = how(builder).open(self.directory()).unwrap();
    }

    /// The same, after something was done to its journal.
    pub fn damage_journal(&mut self, damage: impl FnOnce(&mut Vec<u8>)) {
        self.store.close();
        let journal = self.directory().join("journal");
        let mut bytes = std::fs::read(&journal).unwrap();
        damage(&mut bytes);
        std::fs::write(&journal, bytes).unwrap();
        self.reopen();
    }

    /// The store's directory, if it has one.
    pub fn directory(&self) -> PathBuf {
        self.place.path().join("store")
    }

    /// A client's store, by an address.
    pub fn connect(&self, address: &str, name: &str) -> Store {
        let connector = Connector::new(address).name(name);
        connector.clock(self.clock.clone()).connect().unwrap()
    }

    pub fn client(&self, name: &str) -> Store {
        self.connect(&self.address(), name)
    }

    /// A client behind a proxy of its own.
    pub fn proxied(&self, name: &str) -> (Store, Proxy) {
        let proxy = Proxy::new(&self.socket(name), &self.address());
        (self.connect(&proxy.address(), name), proxy)
    }

    pub fn counts(&self) -> Counts {
        block_on(self.store.counts()).unwrap()
    }

    pub fn waiters(&self) -> u64 {
        self.counts().waiters
    }

    pub fn until_waiting(&self, number: u64) {
        until(|| self.waiters() == number);
    }

    /// How far the clock is from its beginning.
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.clock.now())
    }

    /// Lets time pass until this moment.
    pub fn advance_to(&self, at: Duration) {
        self.clock.advance(at - self.now());
    }

    /// Lets time pass as it does for a machine that is at work: little by little,
    /// until this is so.
    pub fn run_until(&self, is_so: impl Fn() -> bool) {
        until(|| {
            self.clock.advance(Duration::from_millis(1));
            is_so()
        });
    }

    /// The same until the waiter is answered.
    pub fn run_until_answered(&self, waiter: &Waiter) -> Result<Lease, LockError> {
        let mut answer = None;
        until(|| {
            self.clock.advance(Duration::from_millis(1));
            answer = waiter.seen();
            answer.is_some()
        });
        answer.unwrap()
    }

    /// Lets so much time pass, and waits until every lease was renewed.
    pub fn pass_renewing(&self, span: Duration, leases: &[&Lease]) {
        let before: Vec<_> = leases.iter().map(|lease| lease.deadline()).collect();
        self.clock.advance(span);
        for (lease, seen) in leases.iter().zip(before) {
            block_on(lease.until_renewed(seen));
            assert_eq!(lease.ended(), None);
        }
    }
}

/// Waits until this is so; the clock stands still.
#[track_caller]
pub fn until(mut is_so: impl FnMut() -> bool) {
    for _ in 0..TRIES {
        if is_so() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("it never is so");
}

/// A lock of the store's, for whose keys an ask waits long.
pub fn lock(store: &Store) -> Lock {
    store.lock("a").wait(LONG).open().unwrap()
}

/// Whether the key is free, as it is afterwards.
pub fn is_free(store: &Store, key: &str) -> bool {
    let held = lock(store).blocking_try_hold(key, |_| ());
    held.unwrap().is_some()
}

/// The lease's own deadline, from its clock's beginning.
pub fn deadline(lease: &Lease) -> Duration {
    Duration::from_nanos(lease.deadline().unwrap())
}

/// Waits until the client knows that its connection was cut.
pub fn knows_of_the_cut(store: &Store) {
    assert!(block_on(store.holdings(None)).is_err());
}

/// Whether this client is connected and waits, as another sees it.
pub fn waits_connected(observer: &Store, name: &str) -> bool {
    let line = waiting(observer);
    line.iter()
        .any(|waiting| waiting.client.as_deref() == Some(name))
}

/// All that is held, as this store lists it.
pub fn holdings(store: &Store) -> Vec<Holding> {
    block_on(store.holdings(None)).unwrap().items
}

/// All who wait, as this store lists them.
pub fn waiting(store: &Store) -> Vec<Waiting> {
    block_on(store.waiters(None)).unwrap().items
}

/// An ask that waits in a thread of its own.
pub struct Waiter(mpsc::Receiver<Result<Lease, LockError>>);

impl Waiter {
    pub fn new(lock: &Lock, key: &'static str) -> Self {
        let (answer, answers) = mpsc::channel();
        let lock = lock.clone();
        thread::spawn(move || answer.send(lock.blocking_lease(key)));
        Waiter(answers)
    }

    /// One that waits once this returns.
    pub fn in_line(stage: &Stage, lock: &Lock, key: &'static str) -> Self {
        let before = stage.waiters();
        let waiter = Self::new(lock, key);
        stage.until_waiting(before + 1);
        waiter
    }

    /// The answer, if there is one.
    pub fn seen(&self) -> Option<Result<Lease, LockError>> {
        self.0.try_recv().ok()
    }

    pub fn answer(self) -> Result<Lease, LockError> {
        self.0.recv().unwrap()
    }
}

/// A client that holds a key and waits for another, and is to notice nothing of
/// what is done to the server.
pub struct Bystander {
    lock: Lock,
    proxy: Proxy,
    pub lease: Lease,
    held: Lease,
    waiter: Waiter,
}

impl Bystander {
    pub fn new(stage: &Stage) -> Self {
        let (store, proxy) = stage.proxied("bystander");
        let lock = store.lock("bystander").wait(LONG).open().unwrap();
        let here = stage.store.lock("bystander").open().unwrap();
        let held = here.blocking_lease("waited for").unwrap();
        Bystander {
            lease: lock.blocking_lease("held").unwrap(),
            waiter: Waiter::in_line(stage, &lock, "waited for"),
            lock,
            proxy,
            held,
        }
    }

    /// It has had one connection all along, and all goes well over it.
    pub fn noticed_nothing(self) {
        assert_eq!(self.proxy.connections(), 1);
        self.still_served();
    }

    /// It may have come back by another connection.
    pub fn still_served(self) {
        assert_eq!(self.lease.ended(), None);
        assert!(self.waiter.seen().is_none());
        drop(self.held);
        let given = self.waiter.answer().unwrap();
        assert!(given.fence() > self.lease.fence());
        assert_eq!(self.lease.blocking_release(), Ok(()));
        assert_eq!(self.lock.blocking_hold("held", |_| ()), Ok(()));
    }
}
