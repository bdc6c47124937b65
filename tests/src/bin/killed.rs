//! A process that holds and releases, printing its fences, until it kills itself
//! with SIGKILL at a moment around the writing of a reservation:
//! `killed <directory> <operation> <holds>`. The operation counts what is written
//! to the file of the fences, or synced; the process dies just before it.

#![allow(clippy::expect_used)] // a tool of the tests

use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use redb::StorageBackend;
use redb::backends::FileBackend;
use witlock::Store;
use witlock::fences::RedbFences;
use witlock_tests::NoCalendar;

fn main() {
    let mut args = std::env::args_os().skip(1);
    let dir = PathBuf::from(args.next().expect("a directory"));
    let mut number = || args.next()?.to_str()?.parse().ok();
    let (operation, holds) = (number().expect("a number"), number().expect("a number"));
    let left = Arc::new(AtomicU64::new(operation));
    let fences = RedbFences::open_file_with(&dir.join("fences.redb"), move |path| {
        let mut options = std::fs::File::options();
        options.read(true).write(true).create(true).truncate(false);
        let file = FileBackend::new(options.open(path)?)?;
        let left = left.clone();
        RedbFences::builder().create_with_backend(Mortal { file, left })
    });
    let store = Store::builder()
        .clock(NoCalendar)
        .fences(fences.expect("fences"))
        .open(&dir)
        .expect("a store");
    let lock = store.lock("a").open().expect("a lock");
    for _ in 0..holds {
        let held = lock.blocking_hold("k", |lease| println!("{}", lease.fence()));
        held.expect("a hold");
    }
    store.close();
    println!("done");
}

/// A file whose process dies.
#[derive(Debug)]
struct Mortal {
    file: FileBackend,
    left: Arc<AtomicU64>,
}

impl Mortal {
    fn live(&self) {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 0 {
            let killed = Command::new("sh").args(["-c", "kill -9 $PPID"]).status();
            killed.expect("a shell");
            loop {
                std::thread::park();
            }
        }
    }
}

impl StorageBackend for Mortal {
    fn len(&self) -> Result<u64, io::Error> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        self.live();
        self.file.set_len(len)
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        self.live();
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        self.live();
        self.file.write(offset, data)
    }
}
