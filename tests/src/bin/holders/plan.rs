//! What holders ask for, and how long they hold it.

use std::time::Duration;

use fastrand::Rng;
use witlock::{Lock, Store};

/// The shortest there is: the sooner a loss shows.
const TTL: Duration = Duration::from_secs(1);

/// One that outlasts a start of the server, also where that takes a loaded machine some
/// seconds.
const LASTING_TTL: Duration = Duration::from_secs(4);

/// How long a lease of the bounded lock may last.
const MAX_HOLD: Duration = Duration::from_millis(400);

/// How many hold one key of the semaphore.
const LIMIT: u32 = 2;

const HOT_KEYS: u32 = 6;

const COLD_KEYS: u32 = 5_000;

/// One ask, and the work under its lease.
pub struct Plan {
    pub lock: Lock,
    pub key: String,
    /// As the resource knows it.
    pub place: String,
    pub limit: u32,
    pub ttl: Duration,
    pub wait: Duration,
    /// When the asker gives its ask up, if it does.
    pub patience: Option<Duration>,
    pub work: Duration,
    /// Whether some time may pass between looking whether the lease lasts and
    /// writing. Where a lease ends by its max-hold, the holder's deadline comes no
    /// time before the store's, and that time would be too late.
    pub dallies: bool,
}

/// Where holders get their plans from.
pub trait Plans {
    fn next(&mut self) -> Plan;
}

struct Locks {
    hot: Lock,
    bounded: Lock,
    shared: Lock,
    cold: Lock,
}

impl Locks {
    fn open(store: &Store, ttl: Duration) -> Self {
        let lock = |name| store.lock(name).ttl(ttl);
        let bounded = lock("bounded").max_hold(MAX_HOLD);
        let shared = store.semaphore("shared", LIMIT).ttl(ttl);
        Locks {
            hot: lock("hot").open().expect("a lock"),
            bounded: bounded.open().expect("a lock"),
            shared: shared.open().expect("a semaphore"),
            cold: lock("cold").open().expect("a lock"),
        }
    }
}

/// A few hot keys and many cold ones, in haste.
pub struct Hasty {
    locks: Locks,
    random: Rng,
    bounded: bool,
    ttl: Duration,
}

impl Hasty {
    pub fn open(store: &Store, holder: u64, manner: &str) -> Self {
        let ttl = match manner {
            "lasting" => LASTING_TTL,
            _ => TTL,
        };
        Hasty {
            locks: Locks::open(store, ttl),
            random: Rng::with_seed(holder),
            bounded: manner == "bounded",
            ttl,
        }
    }

    fn between(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(self.random.u64(from..to))
    }

    fn wait(&mut self) -> Duration {
        match self.random.u32(0..100) {
            0..15 => Duration::ZERO,
            15..60 => self.between(20, 300),
            _ => self.between(2_000, 4_000),
        }
    }

    fn work(&mut self) -> Duration {
        match self.random.u32(0..100) {
            0..75 => self.between(1, 20),
            75..92 => self.between(20, 400),
            _ => self.between(1_000, 2_500),
        }
    }

    fn place(&mut self) -> (Lock, &'static str, u32, u32) {
        let locks = &self.locks;
        match self.random.u32(0..100) {
            0..40 => (locks.hot.clone(), "hot", self.random.u32(0..HOT_KEYS), 1),
            40..50 if self.bounded => (locks.bounded.clone(), "bounded", 0, 1),
            50..62 => (locks.shared.clone(), "shared", 0, LIMIT),
            _ => (locks.cold.clone(), "cold", self.random.u32(0..COLD_KEYS), 1),
        }
    }
}

impl Plans for Hasty {
    fn next(&mut self) -> Plan {
        let (lock, name, key, limit) = self.place();
        let gives_up = self.random.u32(0..10) == 0;
        Plan {
            lock,
            key: key.to_string(),
            place: format!("{name}/{key}"),
            limit,
            ttl: self.ttl,
            wait: self.wait(),
            patience: gives_up.then(|| self.between(0, 400)),
            work: self.work(),
            dallies: name != "bounded",
        }
    }
}

/// Keys of a holder's own, held for longer than their ttl.
pub struct Steady {
    lock: Lock,
    holder: u64,
    ttl: Duration,
    held: u32,
}

impl Steady {
    pub fn open(store: &Store, holder: u64, ttl: Duration) -> Self {
        Steady {
            lock: store.lock("steady").ttl(ttl).open().expect("a lock"),
            holder,
            ttl,
            held: 0,
        }
    }
}

impl Plans for Steady {
    fn next(&mut self) -> Plan {
        self.held += 1;
        let key = format!("{}-{}", self.holder, self.held);
        Plan {
            lock: self.lock.clone(),
            place: format!("steady/{key}"),
            key,
            limit: 1,
            ttl: self.ttl,
            wait: self.ttl,
            patience: None,
            work: self.ttl * 3,
            dallies: true,
        }
    }
}
