//! The file through kills at each byte of its writing, damage, and failing writes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use witlock_session::journal::{Ended, Renewed};

use super::*;
use crate::clock::ManualClock;
use crate::driver::lock;

/// A file in memory.
#[derive(Clone, Default)]
struct Disk(Arc<Mutex<Content>>);

#[derive(Default)]
struct Content {
    file: Option<Vec<u8>>,
    /// How many bytes more can be written.
    room: Option<usize>,
    /// How often it was written anew.
    replaced: usize,
    largest: usize,
}

impl Disk {
    fn file(&self) -> Vec<u8> {
        lock(&self.0).file.clone().expect("a file")
    }

    fn with(bytes: &[u8]) -> Disk {
        let disk = Disk::default();
        lock(&disk.0).file = Some(bytes.to_vec());
        disk
    }

    fn has_room(&self, room: Option<usize>) {
        lock(&self.0).room = room;
    }
}

impl Content {
    /// As much of this as there is room for.
    fn write(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        match &mut self.room {
            Some(room) if *room < bytes.len() => {
                let fits = bytes[..*room].to_vec();
                *room = 0;
                self.file.get_or_insert_default().extend(fits);
                Err(io::Error::from(ErrorKind::StorageFull))
            }
            Some(room) => {
                *room -= bytes.len();
                Ok(bytes.to_vec())
            }
            None => Ok(bytes.to_vec()),
        }
    }
}

impl Files for Disk {
    fn read(&self) -> io::Result<Vec<u8>> {
        lock(&self.0).file.clone().ok_or(ErrorKind::NotFound.into())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut content = lock(&self.0);
        let bytes = content.write(bytes)?;
        content.file.as_mut().expect("a file").extend(bytes);
        content.largest = content
            .largest
            .max(content.file.as_ref().map_or(0, Vec::len));
        Ok(())
    }

    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut content = lock(&self.0);
        let before = content.file.clone();
        let written = content.write(bytes);
        // A file that is not whole is not put in the place of the other.
        if written.is_err() {
            content.file = before;
        }
        content.file = Some(written?);
        content.replaced += 1;
        Ok(())
    }
}

/// A clock that has gone for an hour.
fn clock() -> ManualClock {
    let clock = ManualClock::default();
    clock.advance(Duration::from_secs(3_600));
    clock
}

fn open(disk: &Disk, clock: &ManualClock) -> (Journal, Left) {
    Journal::on(Some(Box::new(disk.clone())), clock)
}

/// The same, started.
fn started(disk: &Disk, clock: &ManualClock) -> Journal {
    let (mut journal, _) = open(disk, clock);
    journal.start(clock.now(), None);
    journal
}

fn fences(journal: &Journal) -> Vec<u64> {
    journal.leases().map(|lease| lease.fence).collect()
}

fn given(fence: u64) -> Record {
    Body::Given(Given {
        fence,
        secret: fence ^ 0x5a,
        session: vec![7; 16],
        ask: fence,
        name: "summaries".into(),
        key: format!("chat-{fence}"),
        ttl: 30_000,
        since: fence,
        ..Given::default()
    })
    .into()
}

fn added() -> Record {
    given(99)
}

fn ended(fence: u64) -> Record {
    Body::Ended(Ended { fence }).into()
}

fn renewed(fence: u64) -> Record {
    Body::Renewed(Renewed { fence }).into()
}

const ALL: Left = Left::All { unknown_until: 0 };

/// A file with some frames, and where each ends.
fn written(clock: &ManualClock) -> (Disk, Vec<usize>) {
    let disk = Disk::default();
    let mut journal = started(&disk, clock);
    let mut ends = Vec::new();
    for fence in 1..=20 {
        let mut records = vec![given(fence), renewed(fence)];
        if fence % 3 == 0 {
            records.push(ended(fence - 1));
        }
        journal.keep(records).expect("kept");
        ends.push(disk.file().len());
    }
    (disk, ends)
}

// LOCK-08, case G7
#[test]
fn what_was_kept_is_there_after_a_kill() {
    let clock = clock();
    let (disk, _) = written(&clock);
    let (journal, left) = open(&disk, &clock);
    assert_eq!(left, ALL);
    let lasting = (1..=20).filter(|fence| fence % 3 != 2 || *fence == 20);
    assert!(fences(&journal).into_iter().eq(lasting));
    let first = journal.leases().next().expect("a lease");
    assert_eq!(Record::from(Body::Given(first.clone())), given(1));
}

// LOCK-05, case E12
#[test]
fn the_deadlines_of_a_start_are_kept_until_a_renewal() {
    let clock = clock();
    let (disk, _) = written(&clock);
    let deadline =
        |journal: &Journal, at: usize| journal.leases().nth(at).and_then(|it| it.expires);
    let first = clock.now() + 30_000_000_000;
    let mut journal = started(&disk, &clock);
    assert_eq!(deadline(&journal, 0), Some(first));
    journal.keep(vec![renewed(1)]).expect("kept");
    clock.advance(Duration::from_secs(20));
    let journal = started(&disk, &clock);
    assert_eq!(deadline(&journal, 0), Some(first + 20_000_000_000));
    assert_eq!(deadline(&journal, 1), Some(first));
    clock.advance(Duration::from_secs(10));
    assert_eq!(fences(&started(&disk, &clock)), [1]);
}

// LOCK-08: a process may be killed at each byte that it writes.
#[test]
fn an_unfinished_end_is_cut_off() {
    let clock = clock();
    let (disk, ends) = written(&clock);
    let whole = disk.file();
    let start = Record::from(Body::Start(open(&disk, &clock).0.start));
    let start = frame_of(&[start]).len();
    for length in start..=whole.len() {
        let cut = Disk::with(&whole[..length]);
        let (_, left) = open(&cut, &clock);
        assert_eq!(left, ALL, "{length}");
        let mut journal = started(&cut, &clock);
        let frames = ends.iter().filter(|end| **end <= length).count();
        let given = journal.leases().map(|lease| lease.fence).max();
        assert_eq!(given.unwrap_or(0), frames as u64, "{length}");
        // What comes behind it is found again.
        journal.keep(vec![added()]).expect("kept");
        let (again, left) = open(&cut, &clock);
        assert_eq!(left, ALL, "{length}");
        assert_eq!(fences(&again), fences(&journal), "{length}");
    }
}

fn frame_of(records: &[Record]) -> Vec<u8> {
    let mut bytes = Vec::new();
    frames::put(records, &mut bytes);
    bytes
}

// LOCK-08, case L10: each byte.
#[test]
fn damage_is_never_taken_for_the_end() {
    let clock = clock();
    let (disk, ends) = written(&clock);
    let whole = disk.file();
    for at in 0..whole.len() {
        for flipped in [0x01, 0x80, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] ^= flipped;
            let (journal, left) = open(&Disk::with(&damaged), &clock);
            assert_eq!(left, Left::Some, "{at} {flipped:x}");
            // What stands before it is known all the same.
            let frames = ends.iter().filter(|end| **end <= at).count();
            let given = fences(&journal).last().copied().unwrap_or(0);
            assert_eq!(given, frames as u64, "{at}");
        }
    }
}

// LOCK-08, case L10
#[test]
fn bytes_that_are_no_journal_tell_nothing() {
    let clock = clock();
    for bytes in [&b""[..], b"leases", &[0; 4096], &[0xff; 4096]] {
        let disk = Disk::with(bytes);
        let (journal, left) = open(&disk, &clock);
        assert_eq!(left, Left::Some);
        assert_eq!(fences(&journal), []);
        let mut journal = started(&disk, &clock);
        journal.keep(vec![given(1)]).expect("kept");
        assert_eq!(open(&disk, &clock).1, ALL);
    }
}

// LOCK-08: of before the machine started, or by a clock that is not this one.
#[test]
fn moments_of_another_clock_are_not_used() {
    let (disk, _) = written(&clock());
    let (journal, left) = open(&disk, &clock());
    assert_eq!((fences(&journal), left), (vec![], Left::Some));
    let early = ManualClock::default();
    let (disk, _) = written(&early);
    let (journal, left) = open(&disk, &early);
    assert_eq!((fences(&journal), left), (vec![], Left::Some));
}

// LOCK-08: until when leases may be live that are not known, the next knows too.
#[test]
fn a_grace_goes_on_at_the_next_opening() {
    let clock = clock();
    let disk = Disk::default();
    let until = clock.now() + 5;
    let (mut journal, left) = open(&disk, &clock);
    assert_eq!(left, Left::Nothing);
    journal.start(clock.now(), Some(until));
    let (_, left) = open(&disk, &clock);
    let unknown_until = until;
    assert_eq!(left, Left::All { unknown_until });
}

// LOCK-08, case A13: wherever the disk is full, the next that has room tells all.
#[test]
fn a_write_that_fails_is_told_and_made_up_for() {
    let clock = clock();
    for room in 0..200 {
        let disk = Disk::default();
        let mut journal = started(&disk, &clock);
        journal.keep(vec![given(1)]).expect("kept");
        disk.has_room(Some(room));
        let kept = journal.keep(vec![given(2)]);
        let fits = room >= frame_of(&[given(2)]).len();
        assert_eq!(kept.is_ok(), fits, "{room}");
        if let Err(why) = kept {
            assert!(why.contains("can't be written"), "{why}");
            // Nobody was told of it, and it is not there.
            assert_eq!(fences(&open(&disk, &clock).0), [1]);
        }
        disk.has_room(None);
        journal.keep(vec![ended(1)]).expect("kept");
        let (again, left) = open(&disk, &clock);
        assert_eq!((fences(&again), left), (vec![2], ALL), "{room}");
    }
}

// LOCK-13
#[test]
fn a_million_cycles_leave_a_small_file() {
    const LIVE: u64 = 100;
    let clock = clock();
    let disk = Disk::default();
    let mut journal = started(&disk, &clock);
    for fence in 1..=1_000_000 {
        journal.keep(vec![given(fence)]).expect("kept");
        if fence > LIVE {
            journal.keep(vec![ended(fence - LIVE)]).expect("kept");
        }
    }
    let content = lock(&disk.0);
    println!(
        "written anew {} times, at most {} bytes",
        content.replaced, content.largest
    );
    assert!(content.largest <= SMALL);
    assert!(content.replaced > 50);
}

// LOCK-13: beside many leases, a file is not written anew all the time.
#[test]
fn many_leases_are_written_anew_as_seldom_as_they_are_many() {
    let clock = clock();
    let disk = Disk::default();
    let mut journal = started(&disk, &clock);
    journal
        .keep((1..=50_000).map(given).collect())
        .expect("kept");
    let before = lock(&disk.0).replaced;
    for fence in 50_001..=100_000 {
        journal.keep(vec![given(fence)]).expect("kept");
        journal.keep(vec![ended(fence - 50_000)]).expect("kept");
    }
    let replaced = lock(&disk.0).replaced - before;
    assert!(replaced <= 2, "{replaced} times");
    assert_eq!(fences(&started(&disk, &clock)).len(), 50_000);
}

// LOCK-08: without a name for its beginning, moments can't be told apart.
#[test]
fn a_clock_without_a_name_keeps_no_file() {
    struct Nameless;
    impl Clock for Nameless {
        fn now(&self) -> u64 {
            1
        }
        fn alarm(&self) -> io::Result<Box<dyn crate::clock::Alarm>> {
            Err(ErrorKind::Unsupported.into())
        }
    }
    let disk = Disk::default();
    let (mut journal, left) = Journal::on(Some(Box::new(disk.clone())), &Nameless);
    journal.start(1, Some(5));
    journal.keep(vec![given(1)]).expect("kept");
    assert_eq!((fences(&journal), left), (vec![1], Left::Nothing));
    assert!(lock(&disk.0).file.is_none());
}
