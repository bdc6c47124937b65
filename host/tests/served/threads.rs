//! What a client leaves behind in its process.

use std::fs;
use std::process::Command;

use witlock::clock::ManualClock;
use witlock::{Connector, Server, Store};

use crate::common::watchdog;
use crate::stage::{lock, until};

// LOCK-06, case C2: no thread, whatever was under way.
#[test]
#[cfg(target_os = "linux")]
fn a_client_that_closes_leaves_no_thread() {
    // Of all threads of a process: others' tests have theirs here.
    let tests = std::env::current_exe().unwrap();
    let alone = Command::new(tests)
        .args(["--exact", "threads::alone", "--ignored"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&alone.stdout);
    assert!(said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn alone() {
    watchdog();
    let place = tempfile::tempdir().unwrap();
    let address = format!("unix:{}/w.sock", place.path().display());
    let store = Store::in_memory().unwrap();
    for serves_until_the_end in [true, false] {
        let server = Server::bind(&store, &address).unwrap();
        let clock = ManualClock::default();
        let client = Connector::new(&address).clock(clock).connect().unwrap();
        let lease = lock(&client).blocking_lease("k").unwrap();
        until(|| threads_of_a_client() == 2 && threads("witlock-server") == 1);
        let released = lock(&client).blocking_lease("released").unwrap();
        // Its answer is not waited for.
        drop(released);
        if !serves_until_the_end {
            drop(server);
        }
        client.close();
        until(|| threads_of_a_client() == 0);
        drop(lease);
    }
    until(|| threads("witlock-server") == 0);
    // Nobody was let in, and nobody is there.
    Store::connect(&address).unwrap_err();
    until(|| threads_of_a_client() == 0);
}

fn threads_of_a_client() -> usize {
    threads("witlock-link") + threads("witlock-keeper")
}

/// How many threads of this process have this name.
fn threads(name: &str) -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let named = tasks.filter(|task| {
        let comm = task.as_ref().unwrap().path().join("comm");
        // One that ends meanwhile has none.
        fs::read_to_string(comm).is_ok_and(|comm| comm.trim_end() == name)
    });
    named.count()
}
