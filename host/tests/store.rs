//! Stores opened and closed, on disks that fail and directories that are taken.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use std::cell::RefCell;
use std::fs;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::{block_on, fails, fences};
use redb::StorageBackend;
use redb::backends::FileBackend;
use witlock::fences::{FENCE_END, MemoryFences, RedbFences};
use witlock::{Ending, HoldError, LockError, OpenError, Store};

// LOCK-12
#[test]
fn a_directory_is_held_by_one_opening() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let error = Store::open(dir.path()).unwrap_err();
    assert!(matches!(&error, OpenError::Held { dir: held } if held == dir.path()));
    assert!(error.to_string().contains(dir.path().to_str().unwrap()));
    store.close();
    Store::open(dir.path()).unwrap();
}

// LOCK-06
#[test]
fn a_store_closes_as_the_last_that_uses_it_is_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let lock = Store::open(dir.path()).unwrap().lock("a").open().unwrap();
    let lease = lock.blocking_lease("k").unwrap();
    drop(lock);
    assert!(Store::open(dir.path()).is_err());
    assert_eq!(lease.ended(), None);
    drop(lease);
    Store::open(dir.path()).unwrap();
}

// LOCK-06
#[test]
fn a_store_closes_with_the_thread_that_it_is_a_local_of() {
    thread_local! {
        static STORE: RefCell<Option<Store>> = const { RefCell::new(None) };
    }
    let dir = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        let open = || {
            STORE.set(Some(Store::open(dir.path()).unwrap()));
            // The thread's own wait, begun later, is gone before the store is.
            STORE.with_borrow(|store| fences(store.as_ref().unwrap(), 1));
        };
        // Joining waits for its locals too.
        scope.spawn(open).join().unwrap();
    });
    Store::open(dir.path()).unwrap();
}

// LOCK-02, case G1, case G5
#[test]
fn fences_grow_over_openings() {
    let dir = tempfile::tempdir().unwrap();
    let mut last = 0;
    for _ in 0..5 {
        let store = Store::open(dir.path()).unwrap();
        for fence in fences(&store, 3) {
            assert!(fence > last);
            last = fence;
        }
        store.close();
    }
    fs::remove_dir_all(dir.path()).unwrap();
    let store = Store::open(dir.path()).unwrap();
    assert!(fences(&store, 1)[0] > last - 15);
}

// LOCK-02, case G4
#[test]
fn what_is_durable_does_not_grow_with_the_keys() {
    let dir = tempfile::tempdir().unwrap();
    let size = || fs::metadata(dir.path().join("fences.redb")).unwrap().len();
    let store = Store::open(dir.path()).unwrap();
    let lock = store.lock("a").open().unwrap();
    for n in 0..20_000 {
        lock.blocking_hold(&format!("key {n}"), |_| ()).unwrap();
    }
    store.close();
    // What redb takes for one number.
    assert!(size() < 128 << 10, "{}", size());
}

// LOCK-02, case G10
#[test]
fn at_the_end_of_the_fences_what_is_left_is_given_and_no_more() {
    let store = Store::builder().fences(MemoryFences::new(FENCE_END - 11));
    let store = store.in_memory().unwrap();
    let lock = store.lock("a").open().unwrap();
    let given = fences(&store, 10);
    assert_eq!(given, (FENCE_END - 10..FENCE_END).collect::<Vec<_>>());
    for _ in 0..2 {
        let refused = lock.blocking_lease("k").unwrap_err();
        assert!(matches!(&refused, LockError::Unavailable(why) if why.contains("exhausted")));
    }
    let opened = Store::builder().fences(MemoryFences::new(FENCE_END - 1));
    let opened = opened.in_memory().unwrap_err();
    assert!(opened.to_string().contains("exhausted"), "{opened}");
}

// LOCK-12
#[test]
fn a_directory_that_cannot_be_made_or_written_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    for impossible in [
        file.clone(),
        file.join("below"),
        "/proc/self/witlock".into(),
    ] {
        let error = Store::open(&impossible).unwrap_err();
        assert!(matches!(&error, OpenError::Directory { dir, .. } if *dir == impossible));
        assert!(error.to_string().contains(impossible.to_str().unwrap()));
    }
}

// LOCK-12
#[test]
fn a_damaged_file_is_named_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    fences(&Store::open(dir.path()).unwrap(), 1);
    let path = dir.path().join("fences.redb");
    let whole = fs::read(&path).unwrap();
    let cut = whole[..whole.len() / 2].to_vec();
    let zeroed = vec![0; whole.len()];
    let mut header = whole.clone();
    header[64..320].fill(0xa5);
    let mut pages = whole.clone();
    pages[4096..].fill(0x5a);
    let text = b"no database at all, but text of some length, as of a log".repeat(100);
    for damaged in [cut, zeroed, header, pages, text] {
        fs::write(&path, &damaged).unwrap();
        let error = Store::open(dir.path()).unwrap_err().to_string();
        assert!(error.contains("fences.redb"), "{error}");
        assert!(error.contains("damaged"), "{error}");
    }
    fs::write(&path, &whole).unwrap();
    Store::open(dir.path()).unwrap();
}

// LOCK-02, case A13
#[test]
fn without_a_durable_fence_no_key_is_given() {
    let (storage, failing) = fails(MemoryFences::default());
    let store = Store::builder().fences(storage).in_memory().unwrap();
    let lock = store.lock("a").open().unwrap();
    let held = lock.blocking_lease("held").unwrap();
    failing.store(true, Ordering::SeqCst);
    let (given, refused) = common::until_refused(&lock);
    assert!(given > 0);
    assert!(matches!(&refused, LockError::Unavailable(why) if why.contains("on purpose")));
    assert_eq!(held.ended(), None);
    let kept = block_on(store.counts()).unwrap();
    assert_eq!((kept.keys, kept.waiters), (1, 0));

    failing.store(false, Ordering::SeqCst);
    let next = lock.blocking_lease("k").unwrap();
    assert!(next.fence() > held.fence());
    held.blocking_release().unwrap();
}

// LOCK-06, case A13
#[test]
fn a_waiter_whose_turn_comes_without_a_fence_is_told() {
    common::watchdog();
    let (storage, failing) = fails(MemoryFences::default());
    let store = Store::builder().fences(storage).in_memory().unwrap();
    let lock = store.lock("a").open().unwrap();
    let held = lock.blocking_lease("held").unwrap();
    failing.store(true, Ordering::SeqCst);
    common::until_refused(&lock);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| lock.blocking_lease("held"));
        while block_on(store.counts()).unwrap().waiters == 0 {
            std::thread::yield_now();
        }
        held.blocking_release().unwrap();
        let refused = waiter.join().unwrap().unwrap_err();
        assert!(matches!(refused, LockError::Unavailable(_)), "{refused:?}");
    });
}

// LOCK-02
#[test]
fn a_storage_that_panics_is_one_that_fails() {
    let (storage, failing) = fails(MemoryFences::default());
    let storage = storage.by_panic();
    let store = Store::builder().fences(storage).in_memory().unwrap();
    let lock = store.lock("a").open().unwrap();
    failing.store(true, Ordering::SeqCst);
    let (_, refused) = common::until_refused(&lock);
    assert!(matches!(&refused, LockError::Unavailable(why) if why.contains("panicked")));
    failing.store(false, Ordering::SeqCst);
    lock.blocking_lease("k").unwrap();
}

// LOCK-02: an ask waits for a slow disk, and nothing else does.
#[test]
fn a_storage_that_hangs_stops_only_who_needs_a_fence() {
    common::watchdog();
    let (storage, failing) = fails(MemoryFences::default());
    let store = Store::builder().fences(storage.by_hanging());
    let store = store.in_memory().unwrap();
    let lock = store.lock("a").open().unwrap();
    let held = lock.blocking_lease("held").unwrap();
    failing.store(true, Ordering::SeqCst);
    let taken = common::take_all_fences(&store, &lock);
    assert!(taken > 0);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| lock.blocking_lease("k"));
        while block_on(store.counts()).unwrap().waiters == 0 {
            std::thread::yield_now();
        }
        held.blocking_release().unwrap();
        failing.store(false, Ordering::SeqCst);
        asked.join().unwrap().unwrap();
    });
}

/// A file on a disk that can be full.
#[derive(Debug)]
struct Disk {
    file: FileBackend,
    full: Arc<AtomicBool>,
}

impl Disk {
    fn room(&self) -> Result<(), io::Error> {
        match self.full.load(Ordering::SeqCst) {
            true => Err(ErrorKind::StorageFull.into()),
            false => Ok(()),
        }
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> Result<u64, io::Error> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        self.room()?;
        self.file.set_len(len)
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        self.room()?;
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        self.room()?;
        self.file.write(offset, data)
    }
}

// LOCK-02, case A13: redb itself, on a disk that fills up and is emptied.
#[test]
fn a_full_disk_needs_no_restart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fences.redb");
    let full = Arc::new(AtomicBool::new(false));
    let (at, of_disk) = (path.clone(), full.clone());
    let fences = RedbFences::open_with(path, move || {
        let mut options = fs::File::options();
        options.read(true).write(true).create(true).truncate(false);
        let file = FileBackend::new(options.open(&at)?)?;
        let full = of_disk.clone();
        RedbFences::builder().create_with_backend(Disk { file, full })
    });
    let store = Store::builder()
        .fences(fences.unwrap())
        .in_memory()
        .unwrap();
    let lock = store.lock("a").open().unwrap();
    let mut last = 0;
    for _ in 0..3 {
        full.store(true, Ordering::SeqCst);
        let (given, refused) = common::until_refused(&lock);
        assert!(
            matches!(&refused, LockError::Unavailable(why) if why.contains("fences.redb")),
            "{refused}"
        );
        full.store(false, Ordering::SeqCst);
        let fence = lock.blocking_hold("k", |lease| lease.fence()).unwrap();
        assert!(fence > last + given);
        last = fence;
    }
}

// LOCK-06, LOCK-02: a fault of ours in the engine.
#[test]
fn an_engine_that_traps_is_replaced() {
    common::watchdog();
    let wasm = fs::read(witlock_programs::TRAPPING_ENGINE).unwrap();
    let store = Store::builder().engine(&wasm).in_memory().unwrap();
    let lock = store.lock("a").open().unwrap();
    let mut last = 0;
    for _ in 0..3 {
        let held = lock.blocking_lease("k").unwrap();
        assert!(held.fence() > last);
        last = held.fence();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| lock.blocking_lease("k"));
            while block_on(store.counts()).unwrap().waiters == 0 {
                std::thread::yield_now();
            }
            assert_eq!(lock.blocking_lease("trap").unwrap_err(), LockError::Closed);
            assert_eq!(waiter.join().unwrap().unwrap_err(), LockError::Closed);
        });
        assert_eq!(held.ended(), Some(Ending::Closed));
        assert_eq!(held.blocking_release(), Err(Ending::Closed));
    }
    assert!(lock.blocking_lease("k").unwrap().fence() > last);
}

// LOCK-06, LOCK-07
#[test]
fn closing_answers_everyone() {
    common::watchdog();
    let store = Store::in_memory().unwrap();
    let lock = store
        .lock("a")
        .wait(Duration::from_secs(3_600))
        .open()
        .unwrap();
    let held = lock.blocking_lease("k").unwrap();
    std::thread::scope(|scope| {
        let waiters: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| lock.blocking_lease("k")))
            .collect();
        let worker =
            scope.spawn(|| lock.blocking_hold("other", |lease| block_on(lease.until_ended())));
        while block_on(store.counts()).unwrap().waiters + 1 < 9
            || block_on(store.counts()).unwrap().leases < 2
        {
            std::thread::yield_now();
        }
        store.close();
        for waiter in waiters {
            assert_eq!(waiter.join().unwrap().unwrap_err(), LockError::Closed);
        }
        assert_eq!(worker.join().unwrap(), Err(HoldError::Lost(Ending::Closed)));
    });
    assert_eq!(held.ended(), Some(Ending::Closed));
    assert_eq!(lock.blocking_lease("k").unwrap_err(), LockError::Closed);
    assert_eq!(store.lock("b").open().unwrap_err(), LockError::Closed);
    store.close();
}
