//! Commands of WASI 0.3, told apart by what they export.

use witlock_programs::{HOLDER_WITH_LOCKS, TASKS, TASKS_WITH_LOCKS};

use crate::child::{Witlock, witlock};

/// Says lines to the program `tasks`, and waits for the answer of each.
pub fn converse(running: &mut Witlock, lines: &[(&str, &str)]) {
    for (line, answer) in lines {
        running.write(&format!("{line}\n"));
        running.line(&[answer]);
    }
}

const OPEN: &str = "open x6a6f6273 - - - - -";

// LOCK-01
#[test]
fn tasks_go_on_while_one_waits() {
    let mut running = witlock(["run", TASKS]);
    converse(
        &mut running,
        &[
            (OPEN, "opened"),
            ("ask 0 x6b -", "asked"),
            ("ask 0 x6b -", "asked"),
            ("answer 1", "waiting"),
            ("release 0", "released"),
            ("answer 1", "held"),
        ],
    );
    running.end_input();
    running.end().expect_code(0);
}

// LOCK-06, case K1
#[test]
fn a_trap_is_134() {
    let mut running = witlock(["run", TASKS]);
    converse(&mut running, &[(OPEN, "opened"), ("ask 0 x6b -", "asked")]);
    running.write("trap\n");
    let ended = running.end();
    ended.expect_code(134);
    assert!(ended.err().contains("unreachable"), "{}", ended.err());
}

// LOCK-06
#[cfg(unix)]
#[test]
fn a_signal_ends_tasks_that_wait_and_one_that_spins() {
    for (last, answer) in [("answer 1", "waiting"), ("spin", "spinning")] {
        let mut running = witlock(["run", TASKS]);
        let lines = [
            (OPEN, "opened"),
            ("ask 0 x6b -", "asked"),
            ("ask 0 x6b -", "asked"),
        ];
        converse(&mut running, &lines);
        converse(&mut running, &[(last, answer)]);
        running.signal("TERM");
        running.end().expect_code(143);
    }
}

// LOCK-03, case L14
#[test]
fn a_task_that_spins_starves_nobody() {
    let mut running = witlock(["run", TASKS]);
    converse(
        &mut running,
        &[
            ("open x6a6f6273 - - - 300 -", "opened"),
            ("ask 0 x6b -", "asked"),
            ("spin-until-ended 0", "revoked"),
        ],
    );
    running.end_input();
    running.end().expect_code(0);
}

#[test]
fn compositions_of_both_run_as_well() {
    let mut running = witlock(["run", TASKS_WITH_LOCKS]);
    converse(
        &mut running,
        &[(OPEN, "opened"), ("crowd 0 x6b 10", "in order")],
    );
    running.end_input();
    running.end().expect_code(0);
    let ended = witlock(["run", HOLDER_WITH_LOCKS, "--", "hold", "lock", "key"]).end();
    ended.expect_code(0);
    assert!(ended.out().contains("released"), "{}", ended.out());
}
