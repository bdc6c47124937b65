//! The file through kills and power cuts at each step of its writing.

use std::collections::BTreeSet;

use super::*;
use crate::clock::ManualClock;
use disk::{Crash, Disk};

mod disk;

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn open(clock: &ManualClock, disk: &Disk) -> Grace {
    Grace::on(
        Arc::new(clock.clone()),
        Some(Box::new(disk.clone())),
        Known::Nothing,
    )
}

/// What an opening would wait.
fn left(clock: &ManualClock, disk: &Disk) -> u64 {
    let until = open(clock, disk).until();
    until.map_or(0, |until| (until - clock.now()).div_ceil(NS_PER_SECOND))
}

/// What happens in a life.
enum Act {
    Cover(u64),
    Wait(u64),
    /// Somebody looks whether leases are left, and there are none.
    NoneLeft,
    /// Or there are.
    SomeLeft,
}

use Act::{Cover, NoneLeft, SomeLeft, Wait};

/// A life with every kind of change in it.
const LIFE: [Act; 14] = [
    Cover(10),
    Cover(30),
    Wait(8),
    Cover(20),
    Cover(40),
    NoneLeft,
    Wait(4),
    Cover(7),
    SomeLeft,
    Wait(45),
    Cover(5),
    Cover(9),
    NoneLeft,
    Cover(12),
];

/// Leases that may be live, told plainly.
#[derive(Default)]
struct Leases {
    /// Ttls of those that a life may have given. They are renewed until it ends.
    given: Vec<u64>,
    /// Until when those of earlier lives last at most.
    until: Vec<u64>,
}

impl Leases {
    fn live(&mut self, clock: &ManualClock, disk: &Disk, crash: Crash) {
        let grace = open(clock, disk);
        for act in LIFE {
            if disk.died() && crash != Crash::Full {
                break;
            }
            self.act(act, &grace, clock);
        }
        let given = self.given.drain(..);
        let ends = given.map(|ttl| clock.now() + ttl * NS_PER_SECOND);
        self.until.extend(ends);
    }

    fn act(&mut self, act: Act, grace: &Grace, clock: &ManualClock) {
        match act {
            Cover(ttl) => self.given.extend(grace.cover(seconds(ttl)).map(|()| ttl)),
            Wait(span) => clock.advance(seconds(span)),
            SomeLeft => grace.lower(|| false),
            NoneLeft => {
                self.given.clear();
                grace.lower(|| true);
            }
        }
    }

    fn longest(&self, now: u64) -> u64 {
        let longest = self.until.iter().max().copied().unwrap_or(0);
        longest.saturating_sub(now).div_ceil(NS_PER_SECOND)
    }
}

// LOCK-08, case G7, case E7: an opening waits for as long as any lease may be live
// that was given before, wherever two lives in a row came to their ends.
#[test]
fn no_crash_leaves_less_than_what_may_be_live() {
    let mut pairs = 0;
    let mut steps = BTreeSet::new();
    for crash in Crash::all() {
        for first in 0.. {
            let mut second = 0;
            while two_lives(crash, [first, second], &mut steps) {
                second += 1;
            }
            pairs += second;
            if second == 0 {
                break;
            }
        }
    }
    println!("{pairs} times two lives, which ended before {steps:?}");
    assert_eq!(steps.len(), 5, "each kind of step");
    assert!(pairs > 1_000, "{pairs}");
}

/// Whether both lives ended at these operations of theirs: each has so many.
fn two_lives(crash: Crash, ends: [u64; 2], steps: &mut BTreeSet<&'static str>) -> bool {
    let clock = ManualClock::default();
    let disk = Disk::default();
    let mut leases = Leases::default();
    let mut both = true;
    for end in ends {
        disk.die_at(end);
        leases.live(&clock, &disk, crash);
        steps.extend(disk.last_step());
        both &= disk.died();
        disk.start_again(crash);
        let (left, longest) = (left(&clock, &disk), leases.longest(clock.now()));
        assert!(
            left >= longest,
            "{crash:?} at {ends:?}: {left} of {longest} s"
        );
        assert!(left <= 40, "{crash:?} at {ends:?}: a damaged file");
    }
    both
}

// LOCK-08, case L10: each byte of the file, flipped, cut off and replaced.
#[test]
fn a_damaged_file_counts_as_the_longest_ttl() {
    let clock = ManualClock::default();
    let disk = Disk::default();
    open(&clock, &disk).cover(seconds(30)).expect("a cover");
    let whole = disk.content().expect("a file");
    assert_eq!(left(&clock, &disk), 30);
    for at in 0..whole.len() {
        let mut damaged = vec![whole[..at].to_vec()];
        for bit in 0..8 {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << bit;
            damaged.push(flipped);
        }
        for content in damaged {
            disk.set_content(content.clone());
            assert_eq!(left(&clock, &disk), 3_600, "{content:?}");
        }
    }
    // It tells what it stands for until that is over.
    let grace = open(&clock, &disk);
    grace.cover(seconds(30)).expect("a cover");
    clock.advance(seconds(3_600));
    grace.cover(seconds(30)).expect("a cover");
    assert_eq!(left(&clock, &disk), 30);
}

// LOCK-12: a write only where it grows, or where there is less to tell.
#[test]
fn what_is_covered_costs_no_write() {
    let clock = ManualClock::default();
    let disk = Disk::default();
    let grace = open(&clock, &disk);
    assert_eq!(disk.operations(), 0);
    for ttl in [1_000, 29_001, 30_000, 29_999, 1] {
        grace.cover(Duration::from_millis(ttl)).expect("a cover");
    }
    // Whole seconds: 1 and 30. Each is written, synced, named, and its name synced.
    assert_eq!(disk.operations(), 2 * 4);
    for _ in 0..1_000 {
        grace.cover(seconds(30)).expect("a cover");
        grace.lower(|| false);
    }
    assert_eq!(disk.operations(), 2 * 4);
    grace.lower(|| true);
    grace.lower(|| true);
    assert_eq!(disk.operations(), 2 * 4 + 2);
    assert_eq!(disk.content(), None);
}

// LOCK-08, case A13: a ttl that can't be made durable is not used.
#[test]
fn a_full_disk_refuses_only_what_must_be_written() {
    let clock = ManualClock::default();
    let disk = Disk::default();
    let grace = open(&clock, &disk);
    grace.cover(seconds(30)).expect("a cover");
    for left in 0..4 {
        disk.die_at(left);
        grace.cover(seconds(31)).expect_err("a full disk");
        grace.cover(seconds(30)).expect("what is covered");
        grace.lower(|| false);
    }
    disk.die_at(u64::MAX);
    grace.cover(seconds(31)).expect("a cover");
    assert_eq!(left(&clock, &disk), 31);
}

// LOCK-08, case E12: openings in a row wait no longer than the first.
#[test]
fn what_is_left_shrinks_over_openings_that_close() {
    let clock = ManualClock::default();
    let disk = Disk::default();
    open(&clock, &disk).cover(seconds(30)).expect("a cover");
    for waited in [0, 10, 20] {
        let grace = open(&clock, &disk);
        assert_eq!(grace.until(), Some(30 * NS_PER_SECOND), "after {waited} s");
        grace.cover(seconds(30)).expect("a cover");
        clock.advance(seconds(10));
        grace.close(|| true);
    }
    assert_eq!(open(&clock, &disk).until(), None);
    assert_eq!(disk.content(), None);
}

// LOCK-08: what an engine gave before it trapped may be live.
#[test]
fn an_engine_that_trapped_leaves_what_was_covered() {
    let clock = ManualClock::default();
    let disk = Disk::default();
    let grace = open(&clock, &disk);
    assert_eq!(grace.until_after_a_trap(), 0);
    grace.cover(seconds(30)).expect("a cover");
    clock.advance(seconds(5));
    assert_eq!(grace.until_after_a_trap(), 35 * NS_PER_SECOND);
    assert_eq!(grace.until(), None);
    // And what an earlier opening gave.
    let again = open(&clock, &disk);
    again.cover(seconds(10)).expect("a cover");
    clock.advance(seconds(5));
    assert_eq!(again.until_after_a_trap(), 35 * NS_PER_SECOND);
    clock.advance(seconds(22));
    assert_eq!(again.until_after_a_trap(), 42 * NS_PER_SECOND);
}

// LOCK-08: what the opening knows is live for as long as any ttl, and is no reason to
// wait.
#[test]
fn leases_that_are_known_are_covered_and_not_waited_for() {
    let clock = ManualClock::default();
    let disk = Disk::default();
    open(&clock, &disk).cover(seconds(30)).expect("a cover");
    let knows = |known| Grace::on(Arc::new(clock.clone()), Some(Box::new(disk.clone())), known);
    for (known, until) in [
        (Known::AllButUntil(0), None),
        (Known::AllButUntil(7), Some(7)),
        (Known::Some, Some(30 * NS_PER_SECOND)),
        (Known::Told(Duration::ZERO), None),
        (Known::Told(seconds(90)), Some(90 * NS_PER_SECOND)),
        (Known::Told(seconds(9_000)), Some(3_600 * NS_PER_SECOND)),
    ] {
        let grace = knows(known);
        assert_eq!(grace.until(), until, "{known:?}");
        // They may be renewed.
        assert!(grace.covers(30), "{known:?}");
        grace.cover(seconds(20)).expect("a cover");
        grace.lower(|| false);
        assert!(left(&clock, &disk) >= 30, "{known:?}");
    }
    let grace = knows(Known::AllButUntil(0));
    grace.lower(|| true);
    assert_eq!(left(&clock, &disk), 0);
}

// LOCK-08: who covers a ttl as the store looks whether any is left, waits for it.
#[test]
fn nothing_is_lowered_under_a_cover() {
    let clock = ManualClock::default();
    let disk = Disk::default();
    let grace = &open(&clock, &disk);
    grace.cover(seconds(30)).expect("a cover");
    std::thread::scope(|scope| {
        let mut covering = None;
        grace.lower(|| {
            let thread = scope.spawn(|| grace.cover(seconds(30)));
            // One that does not wait is done in this time.
            for _ in 0..100 {
                if !thread.is_finished() {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            covering = Some(thread);
            true
        });
        let covered = covering.map(|it| it.join().expect("no panic"));
        covered.expect("a thread").expect("a cover");
    });
    assert_eq!(left(&clock, &disk), 30);
}

// A store that was closed leaves the file to the next opening.
#[test]
fn nothing_is_written_after_closing() {
    let clock = ManualClock::default();
    let disk = Disk::default();
    let closed = open(&clock, &disk);
    closed.close(|| true);
    open(&clock, &disk).cover(seconds(30)).expect("a cover");
    closed.cover(seconds(5)).expect("nothing to do");
    closed.lower(|| true);
    assert_eq!(left(&clock, &disk), 30);
}
