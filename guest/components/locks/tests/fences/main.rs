//! LOCK-02: no fence is reserved twice, whenever a crash comes, and whoever else
//! has the directory open.

#![allow(clippy::expect_used)] // tests

mod disk;
mod turns;

use std::io;
use std::ops::Range;

use disk::{MemoryDisk, Unreliable};
use fastrand::Rng;
use turns::Turns;
use witlock_locks_component::fences::{Directory, Disk, Ledger, LedgerError};

/// How many fences each reservation asks for.
const COUNT: u64 = 10;

/// Disks that a power cut may leave, for each moment at which it comes.
const CUTS: u64 = 40;

/// Interleavings of two openings.
const INTERLEAVINGS: u64 = 5_000;

/// Opens, and reserves until it fails or did so often.
fn reserve<D: Disk>(disk: D, times: usize) -> (Vec<Range<u64>>, Option<LedgerError>) {
    let mut ledger = Ledger::new(disk);
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for _ in 0..times {
        match ledger.reserve(0, COUNT) {
            Ok(range) => {
                assert!(ranges.last().is_none_or(|last| last.end <= range.start));
                ranges.push(range);
            }
            Err(why) => return (ranges, Some(why)),
        }
    }
    (ranges, None)
}

fn end(ranges: &[Range<u64>]) -> u64 {
    ranges.last().map_or(1, |range| range.end)
}

// LOCK-02, case G1
#[test]
fn fences_go_on_over_openings_of_a_directory() {
    let place = tempfile::tempdir().expect("a directory");
    let mut last = 1;
    for _ in 0..20 {
        let (ranges, failed) = reserve(Directory::new(place.path()), 3);
        assert!(failed.is_none(), "{failed:?}");
        assert_eq!(ranges[0].start, last);
        last = end(&ranges);
    }
    let files = std::fs::read_dir(place.path()).expect("a directory");
    assert_eq!(files.count(), 1, "files are left behind");
}

// LOCK-02, case G1
#[test]
fn a_first_fence_by_the_clock_is_never_below_what_was_reserved() {
    let mut ledger = Ledger::new(MemoryDisk::default());
    assert_eq!(ledger.reserve(1_000, COUNT).expect("fences"), 1_000..1_010);
    assert_eq!(ledger.reserve(5, COUNT).expect("fences"), 1_010..1_020);
    assert_eq!(ledger.reserve(2_000, COUNT).expect("fences"), 2_000..2_010);
}

// LOCK-02, case G10
#[test]
fn fences_end_and_say_so() {
    let disk = MemoryDisk::default();
    let mut ledger = Ledger::new(disk);
    let last = ledger.reserve((1 << 53) - 3, COUNT).expect("fences");
    assert_eq!(last, (1 << 53) - 3..1 << 53);
    assert!(matches!(
        ledger.reserve(0, COUNT),
        Err(LedgerError::Exhausted)
    ));
}

// LOCK-02, case G1
#[test]
fn a_program_killed_before_any_operation_leaves_what_the_next_goes_on_with() {
    let operations = operations();
    assert!(operations > 25, "{operations}");
    for killed_at in 0..operations {
        let disk = MemoryDisk::default();
        let (ranges, _) = reserve(Unreliable::new(disk.clone(), killed_at), 3);
        let (next, failed) = reserve(disk, 1);
        assert!(failed.is_none(), "killed at {killed_at}: {failed:?}");
        assert!(next[0].start >= end(&ranges), "killed at {killed_at}");
    }
}

// LOCK-02, case G1
#[test]
fn a_power_cut_at_any_moment_loses_no_reservation() {
    let operations = operations();
    for cut_at in 0..operations {
        for cut in 0..CUTS {
            let disk = MemoryDisk::default();
            // What an earlier program left is durable.
            let (before, _) = reserve(disk.clone(), 1);
            let (ranges, _) = reserve(Unreliable::new(disk.clone(), cut_at), 3);
            disk.cut_power(&mut Rng::with_seed(cut));
            let (next, failed) = reserve(disk, 1);
            assert!(failed.is_none(), "cut at {cut_at}, {cut}: {failed:?}");
            let given = end(&before).max(end(&ranges));
            assert!(next[0].start >= given, "cut at {cut_at}, {cut}");
        }
    }
}

/// Operations of an opening and two more reservations.
fn operations() -> usize {
    let counting = Unreliable::new(MemoryDisk::default(), usize::MAX);
    let counted = counting.counter();
    reserve(counting, 3);
    counted.get()
}

// LOCK-02, case L15
#[test]
fn an_opening_ends_the_one_before() {
    let disk = MemoryDisk::default();
    let mut earlier = Ledger::new(disk.clone());
    let first = earlier.reserve(0, COUNT).expect("fences");
    let mut later = Ledger::new(disk);
    let second = later.reserve(0, COUNT).expect("fences");
    assert!(second.start >= first.end);
    for _ in 0..3 {
        let refused = earlier.reserve(0, COUNT).expect_err("the later has it");
        assert!(matches!(refused, LedgerError::OpenedByAnother));
        assert!(refused.to_string().contains("another program"), "{refused}");
        let next = later.reserve(0, COUNT).expect("fences");
        assert!(next.start >= second.end);
    }
}

// LOCK-02, case L15
#[test]
fn two_openings_at_one_time_never_reserve_one_fence() {
    let (mut both, mut ended) = (0, 0);
    for seed in 0..INTERLEAVINGS {
        let disk = MemoryDisk::default();
        let turns = Turns::new(seed);
        let runs: Vec<_> = (0..2)
            .map(|number| {
                let disk = turns.disk(number, disk.clone());
                std::thread::spawn(move || reserve(disk, 3))
            })
            .collect();
        let runs: Vec<_> = runs
            .into_iter()
            .map(|run| run.join().expect("no panic"))
            .collect();
        let [(one, _), (other, _)] = &runs[..] else {
            unreachable!("two")
        };
        for range in one {
            let overlaps = |other: &&Range<u64>| other.start < range.end && range.start < other.end;
            assert_eq!(
                other.iter().find(overlaps),
                None,
                "seed {seed}: {one:?} and {other:?}"
            );
        }
        both += usize::from(!one.is_empty() && !other.is_empty());
        for (_, failed) in &runs {
            let is_expected = matches!(failed, None | Some(LedgerError::OpenedByAnother));
            assert!(is_expected, "seed {seed}: {failed:?}");
            ended += usize::from(failed.is_some());
        }
    }
    // They met.
    assert!(
        both > 1_000 && ended > 1_000,
        "{both} had fences, {ended} ended"
    );
}

// LOCK-02
#[test]
fn what_is_damaged_is_said_to_be() {
    for text in [
        "",
        "witlock",
        "witlock reservation 2\nfences up to 9\nby 0\n",
    ] {
        let mut disk = MemoryDisk::default();
        disk.write("fences.1", text).expect("written");
        let refused = Ledger::new(disk)
            .reserve(0, COUNT)
            .expect_err("no reservation");
        assert!(refused.to_string().contains("fences.1"), "{refused}");
        assert!(refused.to_string().contains("damaged"), "{refused}");
    }
}

// LOCK-02
#[test]
fn files_of_others_are_left_alone() {
    let mut disk = MemoryDisk::default();
    let names = [
        "fences",
        "fences.txt",
        "fences.-1",
        "notes.1",
        "fences.1.old",
    ];
    for name in names {
        disk.write(name, "mine").expect("written");
    }
    let (ranges, failed) = reserve(disk.clone(), 2);
    assert!(failed.is_none(), "{failed:?}");
    assert_eq!(ranges[0].start, 1);
    for name in names {
        assert_eq!(disk.read(name).expect("it is there"), "mine");
    }
}

// LOCK-02, case A13
#[test]
fn a_disk_that_fails_once_is_gone_on_with() {
    for fails_at in 0..operations() {
        let disk = MemoryDisk::default();
        let mut ledger = Ledger::new(Unreliable::failing_once(disk, fails_at));
        let mut last = 1;
        for _ in 0..4 {
            match ledger.reserve(0, COUNT) {
                Ok(range) => {
                    assert!(range.start >= last);
                    last = range.end;
                }
                Err(LedgerError::Disk(why)) => assert_eq!(why.kind(), io::ErrorKind::Other),
                Err(why) => panic!("failed at {fails_at}: {why}"),
            }
        }
        assert!(last > COUNT, "failed at {fails_at}");
    }
}
