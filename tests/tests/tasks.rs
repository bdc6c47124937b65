//! What the tasks of one guest do at the same time: as a guest of WASI 0.3 under
//! our host, and composed with `locks.wasm`.

#![allow(clippy::expect_used)] // tests

use std::time::Duration;

use witlock::clock::ManualClock;
use witlock::{LocksCtx, Store};
use witlock_programs::{TASKS_WITH_LOCKS, TASKS_WITH_LOCKS_IN_TIME};
use witlock_tests::tasks::{Tasks, text};
use witlock_tests::watchdog;

/// A task that is cancelled after so many polls has long had the key, or waits.
const POLLS: usize = 20;

/// A guest of a store, and the store.
fn hosted() -> (Store, Tasks) {
    watchdog();
    let store = Store::in_memory().expect("a store");
    let tasks = Tasks::hosted(LocksCtx::new(&store));
    (store, tasks)
}

/// Each way to have the locks of WASI 0.3.
fn each_way() -> [Tasks; 2] {
    let (_, hosted) = hosted();
    [hosted, Tasks::composed(TASKS_WITH_LOCKS)]
}

fn open(tasks: &mut Tasks, name: &str) {
    let answer = tasks.say(&format!("open {} - - - - -", text(name)));
    assert_eq!(answer, "opened");
}

fn counts(store: &Store) -> (u64, u64, u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let counts = runtime.expect("a runtime").block_on(store.counts());
    let counts = counts.expect("an open store");
    (counts.keys, counts.leases, counts.waiters)
}

/// Lines, each with its answer.
fn converse(tasks: &mut Tasks, lines: &[(&str, &str)]) {
    for (line, expected) in lines {
        let answer = tasks.say(line);
        let is_right = match expected.strip_suffix('*') {
            Some(beginning) => answer.starts_with(beginning),
            None => answer == *expected,
        };
        assert!(
            is_right,
            "{line:?} was answered by {answer:?}, not {expected:?}"
        );
    }
}

// LOCK-01, LOCK-04
#[test]
fn a_task_waits_for_the_key_that_another_of_its_instance_holds() {
    for mut tasks in each_way() {
        open(&mut tasks, "jobs");
        converse(
            &mut tasks,
            &[
                ("ask 0 x6b -", "asked"),
                ("answer 0", "held *"),
                ("ask 0 x6b -", "asked"),
                ("answer 1", "waiting"),
                ("ask 0 x6b try", "asked"),
                ("answer 2", "refused in-use"),
                ("release 0", "released"),
                ("answer 1", "held *"),
                ("release 1", "released"),
            ],
        );
    }
}

// LOCK-01
#[test]
fn two_and_ten_thousand_tasks_are_served_in_their_order() {
    for mut tasks in each_way() {
        open(&mut tasks, "jobs");
        for crowd in [2, 10_000] {
            let answer = tasks.say(&format!("crowd 0 x6b {crowd}"));
            assert!(answer.starts_with("in order"), "{answer}");
        }
        converse(
            &mut tasks,
            &[("ask 0 x6b try", "asked"), ("answer 0", "held *")],
        );
    }
}

// LOCK-12
#[test]
fn no_more_than_ten_thousand_tasks_of_a_holder_wait() {
    for mut tasks in each_way() {
        open(&mut tasks, "jobs");
        let answer = tasks.say("crowd 0 x6b 10001");
        assert!(
            answer.starts_with("out of order, 1 refused"),
            "{answer:.60}"
        );
    }
}

// LOCK-12: what a holder may have at most stays below what wasmtime allows.
#[test]
fn a_holder_may_wait_for_as_many_keys_as_it_holds() {
    for mut tasks in each_way() {
        open(&mut tasks, "jobs");
        for wait in ["-", "60000"] {
            for key in 0..10_000 {
                let key = text(&format!("key {key}"));
                assert_eq!(tasks.say(&format!("ask 0 {key} {wait}")), "asked");
            }
        }
        converse(
            &mut tasks,
            &[
                ("answer 9999", "held *"),
                ("answer 10000", "waiting"),
                ("answer 19999", "waiting"),
                ("release 0", "released"),
                ("answer 10000", "held *"),
            ],
        );
    }
}

// LOCK-06, case D12
#[test]
fn a_wait_that_a_timer_overtakes_leaves_nothing() {
    for mut tasks in each_way() {
        open(&mut tasks, "jobs");
        converse(
            &mut tasks,
            &[
                ("ask 0 x6b -", "asked"),
                ("race 0 x6b 50", "timer"),
                ("ask 0 x6b 60000", "asked"),
                ("race 0 x6b 50", "timer"),
                ("release 0", "released"),
                ("answer 1", "held *"),
                ("release 1", "released"),
                ("race 0 x6b 60000", "held"),
                ("ask 0 x6b try", "asked"),
                ("answer 2", "held *"),
            ],
        );
    }
}

// LOCK-06, case D12, case B7
#[test]
fn a_hold_dropped_after_any_number_of_polls_leaves_nothing() {
    for mut tasks in each_way() {
        open(&mut tasks, "jobs");
        for polls in 0..POLLS {
            let answer = tasks.say(&format!("poll 0 x6b {polls}"));
            assert!(["held", "waiting"].contains(&answer.as_str()), "{answer}");
            let free = tasks.say("try-standing 0 x6b");
            assert!(free.starts_with("held "), "after {polls} polls: {free}");
        }
        converse(&mut tasks, &[("ask 0 x6b -", "asked")]);
        for polls in 0..POLLS {
            assert_eq!(tasks.say(&format!("poll 0 x6b {polls}")), "waiting");
        }
        converse(
            &mut tasks,
            &[
                ("release 0", "released"),
                ("ask 0 x6b try", "asked"),
                ("answer 1", "held *"),
            ],
        );
    }
}

// LOCK-13, case D12
#[test]
fn nothing_is_kept_of_a_hold_dropped_after_any_number_of_polls() {
    let (store, mut tasks) = hosted();
    open(&mut tasks, "jobs");
    for polls in 0..POLLS {
        tasks.say(&format!("poll 0 x6b {polls}"));
        tasks.say("settle");
        assert_eq!(counts(&store), (0, 0, 0), "after {polls} polls");
    }
}

// LOCK-06, case D1, case D2, case B7
#[test]
fn a_hold_cancelled_before_at_or_after_its_grant_passes_the_key_on() {
    for mut tasks in each_way() {
        open(&mut tasks, "jobs");
        converse(
            &mut tasks,
            &[
                ("ask 0 x6b -", "asked"),
                ("ask 0 x6b 60000", "asked"),
                ("ask 0 x6b 60000", "asked"),
                ("ask 0 x6b 60000", "asked"),
                ("cancel 1", "cancelled"),              // while it waits
                ("release-and-cancel 0 2", "released"), // granted, and not told yet
                ("answer 3", "held *"),
                ("cancel 3", "cancelled"), // told
                ("ask 0 x6b try", "asked"),
                ("answer 4", "held *"),
            ],
        );
    }
}

// LOCK-07
#[test]
fn until_ended_tells_of_every_end_at_once() {
    let (store, mut hosted) = hosted();
    for tasks in [&mut hosted, &mut Tasks::composed(TASKS_WITH_LOCKS)] {
        open(tasks, "jobs");
        converse(
            tasks,
            &[
                ("ask 0 x6b -", "asked"),
                ("watch 0", "watching"),
                ("watched 0", "lasts"),
                ("release 0", "released"),
                ("watched 0", "released"),
                ("release 0", "ended released"),
                ("watch 0", "watching"),
                ("watched 0", "released"),
            ],
        );
    }
    converse(
        &mut hosted,
        &[("ask 0 x6b -", "asked"), ("watch 1", "watching")],
    );
    store.close();
    converse(
        &mut hosted,
        &[
            ("settle", "settled"),
            ("watched 1", "closed"),
            ("release 1", "ended closed"),
        ],
    );
}

// LOCK-03, LOCK-07, LOCK-11
#[test]
fn until_ended_tells_of_max_hold_in_its_moment() {
    let mut tasks = Tasks::composed(TASKS_WITH_LOCKS_IN_TIME);
    let brief = format!("open {} - - - 10000 -", text("jobs"));
    converse(
        &mut tasks,
        &[
            (&brief, "opened"),
            ("ask 0 x6b -", "asked"),
            ("watch 0", "watching"),
            ("advance 9999", "advanced"),
            ("watched 0", "lasts"),
            ("advance 1", "advanced"),
            ("watched 0", "revoked"),
        ],
    );
    let clock = ManualClock::default();
    let store = Store::builder()
        .clock(clock.clone())
        .in_memory()
        .expect("a store");
    let mut tasks = Tasks::hosted(LocksCtx::new(&store));
    converse(
        &mut tasks,
        &[
            (&brief, "opened"),
            ("ask 0 x6b -", "asked"),
            ("watch 0", "watching"),
        ],
    );
    clock.advance(Duration::from_millis(9_999));
    counts(&store);
    converse(&mut tasks, &[("watched 0", "lasts")]);
    clock.advance(Duration::from_millis(1));
    counts(&store);
    converse(&mut tasks, &[("watched 0", "revoked")]);
}

// LOCK-06, case K1
#[test]
fn a_trap_while_a_hundred_tasks_wait_lets_others_go_on() {
    let (store, mut trapping) = hosted();
    let mut other = Tasks::hosted(LocksCtx::new(&store));
    open(&mut trapping, "jobs");
    open(&mut other, "jobs");
    converse(
        &mut trapping,
        &[("ask 0 x6b -", "asked"), ("ask 0 x6c -", "asked")],
    );
    for _ in 0..50 {
        converse(
            &mut trapping,
            &[("ask 0 x6b 60000", "asked"), ("ask 0 x6c 60000", "asked")],
        );
    }
    converse(
        &mut other,
        &[
            ("ask 0 x6b 60000", "asked"),
            ("ask 0 x6c 60000", "asked"),
            ("answer 0", "waiting"),
        ],
    );
    assert_eq!(trapping.try_say("trap"), None);
    assert!(trapping.end().is_err());
    counts(&store);
    converse(
        &mut other,
        &[("answer 0", "held *"), ("answer 1", "held *")],
    );
    assert_eq!(counts(&store), (2, 2, 0));
}

// LOCK-06, LOCK-01, case L9
#[test]
fn of_two_instances_one_traps_and_the_other_keeps_its_keys() {
    let (store, mut trapping) = hosted();
    let mut other = Tasks::hosted(LocksCtx::new(&store));
    open(&mut trapping, "jobs");
    open(&mut other, "jobs");
    converse(&mut trapping, &[("ask 0 x6b -", "asked")]);
    converse(
        &mut other,
        &[("ask 0 x6c -", "asked"), ("ask 0 x6b 60000", "asked")],
    );
    converse(&mut other, &[("answer 1", "waiting")]);
    assert_eq!(trapping.try_say("trap"), None);
    drop(trapping);
    counts(&store);
    converse(
        &mut other,
        &[
            ("answer 1", "held *"),
            ("ended 0", "lasts"),
            ("release 0", "released"),
        ],
    );
}

// LOCK-04, case L12
#[test]
fn a_hold_that_stands_still_counts_what_the_tasks_of_its_guest_hold_and_wait_for() {
    let (store, mut guest) = hosted();
    let mut other = Tasks::hosted(LocksCtx::new(&store));
    open(&mut guest, "jobs");
    open(&mut other, "jobs");
    converse(
        &mut guest,
        &[
            ("ask 0 x6d696e65 -", "asked"), // mine
            ("stand-still 0 x6d696e65 60000", "refused held-by-caller"),
            ("try-standing 0 x6d696e65", "none"),
            ("stand-still 0 x66726565 60000", "held *"), // free
        ],
    );
    converse(&mut other, &[("ask 0 x6b -", "asked")]);
    // Another holds it, and one of its own tasks waits ahead.
    converse(
        &mut guest,
        &[
            ("ask 0 x6b 60000", "asked"),
            ("stand-still 0 x6b 60000", "refused held-by-caller"),
            ("cancel 1", "cancelled"),
        ],
    );
    // Now only the other is in the way: it waits, and all of the guest with it.
    converse(&mut guest, &[("stand-still 0 x6b 20", "refused in-use")]);
}

// LOCK-04
#[test]
fn in_a_composition_a_hold_that_stands_still_never_waits() {
    let mut tasks = Tasks::composed(TASKS_WITH_LOCKS);
    open(&mut tasks, "jobs");
    let pool = format!("open {} 2 - - - -", text("pool"));
    converse(
        &mut tasks,
        &[
            ("ask 0 x6b -", "asked"),
            ("stand-still 0 x6b 60000", "refused held-by-caller"),
            ("stand-still 0 x6b 0", "refused *"),
            ("try-standing 0 x6b", "none"),
            ("ask 0 x6b 60000", "asked"),
            ("stand-still 0 x6b 60000", "refused held-by-caller"),
            ("release 0", "released"),
            ("answer 1", "held *"),
            ("release 1", "released"),
            ("stand-still 0 x6b 60000", "held *"),
            (&pool, "opened"),
            ("ask 1 x6b -", "asked"),
            ("stand-still 1 x6b 60000", "held *"),
            ("ask 1 x6b -", "asked"),
            ("stand-still 1 x6b 60000", "refused held-by-caller"),
        ],
    );
}

// LOCK-12
#[test]
fn both_versions_are_offered_once() {
    let engine = wasmtime::Engine::default();
    let mut linker = wasmtime::component::Linker::<Stage>::new(&engine);
    witlock::p3::add_to_linker(&mut linker).expect("nothing is in the way");
    witlock::p2::add_to_linker_async(&mut linker).expect("another version");
    assert!(witlock::p3::add_to_linker(&mut linker).is_err());

    let mut config = wasmtime::Config::new();
    config.concurrency_support(false);
    let engine = wasmtime::Engine::new(&config).expect("an engine");
    let mut linker = wasmtime::component::Linker::<Stage>::new(&engine);
    let refused = witlock::p3::add_to_linker(&mut linker).expect_err("no concurrency");
    assert!(
        refused.to_string().contains("concurrency_support"),
        "{refused}"
    );
}

/// Data of a guest that is never made.
struct Stage;

impl witlock::LocksView for Stage {
    fn locks(&mut self) -> witlock::LocksCtxView<'_> {
        unreachable!("there is no guest")
    }
}
