//! A store: opened, closed, asked what is held.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::backend::Backend;
use crate::clock::{BootClock, Clock};
#[cfg(feature = "net")]
use crate::connector::Connector;
use crate::driver::{Blueprint, Driver, FenceOrders, Threads, lock};
#[cfg(feature = "net")]
use crate::error::ConnectError;
use crate::error::OpenError;
use crate::fences::{FenceStorage, MemoryFences, RedbFences, Reserver, first_fence};
use crate::grace::{Grace, Known};
#[cfg(feature = "net")]
use crate::journal::{Journal, Left};
use crate::lock::LockBuilder;
#[cfg(feature = "net")]
use crate::net::{client::There, server::desk::Desk};

/// The file that one opening at a time has locked. The fences have a file of
/// their own, which is opened anew after a failure; this one stays.
const LOCK_FILE: &str = "store.lock";

/// The file of the fences.
const FENCES_FILE: &str = "fences.redb";

/// One set of locks, held open by this process.
///
/// A handle; clones are the same store. Locks, leases and guests' contexts
/// keep it open too: it closes when [`close`](Store::close) is called, or the
/// last of them is dropped.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let dir = dir.path();
/// let store = witlock::Store::open(dir)?;
/// let summaries = store.lock("summaries").open()?;
/// let fence = summaries.blocking_hold("chat-1", |lease| lease.fence())?;
/// assert!(fence > 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

/// Where the engine is.
enum Inner {
    Here(Here),
    #[cfg(feature = "net")]
    There(There),
}

/// In this process.
struct Here {
    driver: Arc<Driver>,
    dir: Option<PathBuf>,
    #[cfg(feature = "net")]
    desk: Arc<Desk>,
    /// What ends with the closing.
    open: Mutex<Option<Open>>,
}

struct Open {
    threads: Threads,
    /// Locked, and unlocked as the file is closed.
    _lock: Option<File>,
}

/// Opens a store otherwise than by default.
#[derive(Default)]
pub struct StoreBuilder {
    clock: Option<Arc<dyn Clock>>,
    fences: Option<Box<dyn FenceStorage>>,
    engine: Option<Vec<u8>>,
    grace: Option<Duration>,
}

impl Store {
    /// Opens the store in a directory, which is made if it is not there. Blocks
    /// for the milliseconds of a disk's sync; the first opening of a process
    /// also compiles the lock engine.
    ///
    /// A directory is held by one opening at a time; other processes reach its
    /// keys through this one. Leases over connections that an earlier opening gave go
    /// on, each for its ttl from now. Where some may be live of which the directory does
    /// not tell, after a start of the machine say, no key is given until they are over,
    /// at most an hour after the opening; a warning says so.
    ///
    /// # Errors
    ///
    /// [`OpenError::Held`] if another opening has the directory,
    /// [`OpenError::Directory`] and [`OpenError::Fences`] if it, or its fences,
    /// can't be read or written.
    pub fn open(dir: impl AsRef<Path>) -> Result<Store, OpenError> {
        Self::builder().open(dir)
    }

    /// Opens a store that ends with the process. Its fences start from the wall
    /// clock, above those of earlier runs unless they gave more than a million
    /// a second, or the clock was set back.
    ///
    /// # Errors
    ///
    /// If the engine or a thread can't be started.
    pub fn in_memory() -> Result<Store, OpenError> {
        Self::builder().in_memory()
    }

    /// Reaches a store that another process serves, at `unix:PATH`; see
    /// [`Connector`](crate::Connector) for others. Blocks until the server answered,
    /// at most some seconds.
    ///
    /// All of it is as of a store that this process holds, but that leases have a
    /// ttl: they are renewed while they are held, and end at their own deadline where
    /// the server can't be reached ([`Ending::Unreachable`](crate::Ending)). A cut
    /// connection is made again meanwhile. An ask that no answer comes to is refused
    /// [`LockError::Unavailable`](crate::LockError) 5 s after its wait.
    ///
    /// # Errors
    ///
    /// [`ConnectError`], if nobody serves a store there, or not to this client.
    #[cfg(feature = "net")]
    pub fn connect(address: &str) -> Result<Store, ConnectError> {
        Connector::new(address).connect()
    }

    /// Opens a store with another clock, or other fences.
    pub fn builder() -> StoreBuilder {
        StoreBuilder::default()
    }

    /// A lock by its name, 1 to 128 bytes without control characters: each of
    /// its keys has one holder at a time.
    pub fn lock(&self, name: &str) -> LockBuilder {
        LockBuilder::new(self, name, None)
    }

    /// A semaphore by its name and limit, 1 to 1000: each of its keys has as
    /// many holders at a time. A lock and a semaphore of one name are two
    /// things.
    pub fn semaphore(&self, name: &str, limit: u32) -> LockBuilder {
        LockBuilder::new(self, name, Some(limit))
    }

    /// The store's directory, if it has one.
    pub fn dir(&self) -> Option<&Path> {
        match &*self.inner {
            Inner::Here(here) => here.dir.as_deref(),
            #[cfg(feature = "net")]
            Inner::There(_) => None,
        }
    }

    /// Closes the store: ends every lease ([`Ending::Closed`](crate::Ending)),
    /// answers every waiter, and all who ask later,
    /// [`LockError::Closed`](crate::LockError). When this returns, the
    /// directory can be opened again. Blocks for the milliseconds of a disk's
    /// sync; where leases are held over connections, for at most a second more, in
    /// which their holders may confirm the closing. One that doesn't keeps its key
    /// until its ttl is over.
    ///
    /// A store that another process serves is only left by it: what was held and
    /// waited for over this connection is let go, which takes at most a second.
    pub fn close(&self) {
        self.inner.close();
    }

    /// As a server does before a hold with this ttl, for tests.
    #[doc(hidden)]
    pub fn cover_ttl(&self, ttl: Duration) -> io::Result<()> {
        match &*self.inner {
            Inner::Here(here) => here.driver.grace().cover(ttl),
            #[cfg(feature = "net")]
            Inner::There(_) => Ok(()),
        }
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        match &*self.inner {
            Inner::Here(here) => &*here.driver,
            #[cfg(feature = "net")]
            Inner::There(there) => there.remote(),
        }
    }

    /// A store that is reached over a connection.
    #[cfg(feature = "net")]
    pub(crate) fn there(there: There) -> Store {
        Store {
            inner: Arc::new(Inner::There(there)),
        }
    }

    /// Where connections are served, of a store that this process holds.
    #[cfg(feature = "net")]
    pub(crate) fn desk(&self) -> Option<Arc<Desk>> {
        match &*self.inner {
            Inner::Here(here) => Some(here.desk.clone()),
            Inner::There(_) => None,
        }
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("dir", &self.dir()).finish()
    }
}

impl Inner {
    fn close(&self) {
        match self {
            Inner::Here(here) => here.close(),
            #[cfg(feature = "net")]
            Inner::There(there) => there.close(),
        }
    }
}

impl Here {
    fn close(&self) {
        // Who closes at the same time waits here until it is done.
        let mut open = lock(&self.open);
        if let Some(Open { threads, _lock }) = open.take() {
            self.driver.close();
            #[cfg(feature = "net")]
            {
                self.desk.close();
                self.desk.until_idle();
            }
            let left = self.driver.left();
            let fences = left.map_or(0, |left| left.fences);
            threads.stop(&self.driver, fences);
            let none_left = || left.is_some_and(|left| left.leases == 0);
            self.driver.grace().close(none_left);
            #[cfg(feature = "net")]
            self.desk.let_go();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}

impl StoreBuilder {
    /// Deadlines follow this clock. [`BootClock`] unless given.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Fences come from here. [`RedbFences`] in the store's directory unless
    /// given.
    #[must_use]
    pub fn fences(mut self, fences: impl FenceStorage) -> Self {
        self.fences = Some(Box::new(fences));
        self
    }

    /// Gives no key for so long after the opening, an hour at most, but to who has a
    /// lease already: others may be live of which the directory does not tell. For a
    /// directory that was restored from a backup this is the longest ttl in use. Zero
    /// waits for nothing, where all who may have held keys are known to be gone. Unless
    /// given, an opening waits as long as its directory says that it must.
    #[must_use]
    pub fn grace(mut self, span: Duration) -> Self {
        self.grace = Some(span);
        self
    }

    /// Another lock engine, for tests that let it fail.
    #[doc(hidden)]
    #[must_use]
    pub fn engine(mut self, wasm: &[u8]) -> Self {
        self.engine = Some(wasm.to_vec());
        self
    }

    /// Opens the store in a directory; see [`Store::open`].
    ///
    /// # Errors
    ///
    /// As [`Store::open`].
    pub fn open(mut self, dir: impl AsRef<Path>) -> Result<Store, OpenError> {
        let dir = dir.as_ref();
        let locked = lock_directory(dir)?;
        let fences = match self.fences.take() {
            Some(fences) => fences,
            None => Box::new(RedbFences::open(dir.join(FENCES_FILE))?),
        };
        sync_directory(dir).map_err(|source| OpenError::Directory {
            dir: dir.to_owned(),
            source,
        })?;
        self.start(fences, Some((dir.to_owned(), locked)))
    }

    /// Opens a store without a directory; see [`Store::in_memory`].
    ///
    /// # Errors
    ///
    /// As [`Store::in_memory`].
    pub fn in_memory(mut self) -> Result<Store, OpenError> {
        let fences = self.fences.take();
        let fences = fences.unwrap_or_else(|| Box::new(MemoryFences::default()));
        self.start(fences, None)
    }

    fn start(
        self,
        fences: Box<dyn FenceStorage>,
        dir: Option<(PathBuf, File)>,
    ) -> Result<Store, OpenError> {
        let clock = self.clock.unwrap_or_else(|| Arc::new(BootClock));
        let blueprint = match &self.engine {
            Some(wasm) => Blueprint::compile(wasm),
            None => Blueprint::ours(),
        };
        let blueprint = blueprint.map_err(|error| OpenError::Engine(format!("{error:#}")))?;
        let (reserver, first) = Reserver::open(fences, first_fence(clock.wall()))?;
        let (orders, desk) = FenceOrders::new();
        let at = dir.as_ref().map(|(dir, _)| dir.as_path());
        #[cfg(feature = "net")]
        let (journal, left) = Journal::open(at, &*clock);
        #[cfg(feature = "net")]
        let known = known(&left, &journal);
        #[cfg(not(feature = "net"))]
        let known = Known::Nothing;
        let known = self.grace.map_or(known, Known::Told);
        let grace = Grace::open(clock.clone(), at, known);
        let driver = Arc::new(Driver::start(clock, blueprint, orders, grace)?);
        #[cfg(feature = "net")]
        let served = Arc::new(Desk::open(driver.clone(), journal));
        driver.fences_came(Ok(first));
        let threads = Threads::start(&driver, desk, reserver).map_err(OpenError::Thread)?;
        let (dir, locked) = dir.unzip();
        let open = Open {
            threads,
            _lock: locked,
        };
        let here = Here {
            driver,
            dir,
            #[cfg(feature = "net")]
            desk: served,
            open: Mutex::new(Some(open)),
        };
        Ok(Store {
            inner: Arc::new(Inner::Here(here)),
        })
    }
}

#[cfg(feature = "net")]
fn known(left: &Left, journal: &Journal) -> Known {
    match left {
        Left::All { unknown_until } => Known::AllButUntil(*unknown_until),
        Left::Some if journal.leases().next().is_some() => Known::Some,
        Left::Some | Left::Nothing => Known::Nothing,
    }
}

/// Makes the directory and locks it for this opening.
fn lock_directory(dir: &Path) -> Result<File, OpenError> {
    let failed = |source: io::Error| OpenError::Directory {
        dir: dir.to_owned(),
        source,
    };
    fs::create_dir_all(dir).map_err(failed)?;
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.open(dir.join(LOCK_FILE)).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::Held {
            dir: dir.to_owned(),
        }),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

/// Makes the names of new files in the directory outlast a crash. Only Unix
/// can; elsewhere the file system sees to it.
pub(crate) fn sync_directory(dir: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    File::open(dir)?.sync_all()
}
