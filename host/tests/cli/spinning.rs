//! Guests that compute and never yield.

use std::process::Command;
use std::time::Duration;

use witlock_programs::HOLDER;

use crate::child::{Line, Witlock};

/// How many threads the guests have.
const THREADS: &str = "2";

fn on_two_threads(instances: &str, arguments: &str) -> Witlock {
    let mut command = Command::new(env!("CARGO_BIN_EXE_witlock"));
    command.env("TOKIO_WORKER_THREADS", THREADS);
    command.args(["run", HOLDER, "--instances", instances, "--"]);
    command.args(arguments.split(' '));
    Witlock::start(command)
}

/// How late a line may be: four guests share two cores with the other tests.
const LATE: Duration = Duration::from_millis(800);

// LOCK-03, case L14
#[test]
fn spinning_holders_are_revoked_on_time() {
    const MAX_HOLD: Duration = Duration::from_secs(1);
    let mut running = on_two_threads("4", "hold-and-spin chats 7 1000");
    let granted: Vec<Line> = (0..4).map(|_| running.line(&["fence="])).collect();
    for (place, line) in granted.iter().enumerate().skip(1) {
        let after = line.at - granted[0].at;
        let due = MAX_HOLD * u32::try_from(place).expect("few");
        // The first line may be late as well, and then the others look early.
        let early = MAX_HOLD / 2;
        assert!(
            after > due - early && after < due + LATE,
            "{after:?}: {granted:?}"
        );
    }
}

// LOCK-03, case L14
#[test]
fn those_who_do_not_spin_are_served_beside_those_who_do() {
    let each = "by-number hold-and-spin a 1 1000 / hold-and-spin b 1 1000 / spin \
                / hold c 1 100 / sleep 100";
    let mut running = on_two_threads("5", each);
    let granted = running.line(&["instance=3", "fence="]);
    let released = running.line(&["instance=3", "released"]);
    let held = released.at - granted.at;
    assert!(held < Duration::from_millis(100) + LATE, "{held:?}");
}
