//! `witlock ls` and `witlock break`.
#![cfg(unix)]

use serde_json::Value;

use crate::child::witlock;
use crate::served::{SHORT, Served};

/// What `ls --json` lists.
fn listed(served: &Served) -> Vec<Value> {
    let listed = served.run(&["ls", "--waiters", "--json"]);
    listed.expect_code(0);
    let lines = listed.out();
    lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[test]
fn an_empty_store_lists_nothing() {
    let served = Served::new();
    for arguments in [&["ls"][..], &["ls", "--waiters", "--json"]] {
        let ended = served.run(arguments);
        ended.expect_code(0);
        assert_eq!(ended.out(), "");
    }
}

// LOCK-10, case J5
#[test]
fn holders_are_listed_and_waiters_in_their_order() {
    let served = Served::new();
    let label = |label| [SHORT, &["--label", label]].concat();
    let mut holder = served.hold(&label("first"), "echo $WITLOCK_FENCE; read line");
    let fence = holder.line(&[""]).text;
    let waiters = ["second", "third"].map(|text| {
        let waiting = served.hold(&label(text), "true");
        let place = if text == "second" { 1 } else { 2 };
        served.until_waiting(place);
        waiting
    });
    let all = listed(&served);
    let holding = &all[0]["holding"];
    assert_eq!(holding["fence"].to_string(), fence);
    let lease = holding["lease"].as_str().expect("a lease");
    assert!(lease.starts_with(&format!("{fence}-")), "{lease}");
    for (field, value) in [("lock", "l"), ("key", "k"), ("label", "first")] {
        assert_eq!(holding[field], value);
    }
    assert_eq!(holding["limit"], Value::Null);
    assert!(holding["left_ms"].as_u64().expect("a deadline") <= 1_000);
    for (entry, (place, label)) in all[1..].iter().zip([(1, "second"), (2, "third")]) {
        assert_eq!(entry["waiting"]["place"], place);
        assert_eq!(entry["waiting"]["label"], label);
        assert!(entry["waiting"]["left_ms"].as_u64().expect("a wait") <= 60_000);
    }
    assert_eq!(all.len(), 3);
    holder.end_input();
    for waiting in waiters {
        waiting.end().expect_code(0);
    }
}

#[test]
fn names_and_keys_are_quoted() {
    let served = Served::new();
    let key = "a \"key\"\nwith\u{1b}[31m";
    let directory = served.directory();
    let hold = [
        "hold", "my lock", key, "--limit", "3", "--store", &directory,
    ];
    let hold = [&hold[..], &["--", "sh", "-c", "echo held; read line"]].concat();
    let mut holder = witlock(hold);
    holder.line(&["held"]);
    let text = served.run(&["ls"]).out();
    let told = r#"semaphore "my lock" of 3 key "a \"key\"\nwith\u{1b}[31m""#;
    assert!(text.contains(told), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert_eq!(listed(&served)[0]["holding"]["key"], key);
}

// case L13
#[test]
fn more_than_a_page_is_listed() {
    const KEYS: usize = 1_000;
    let served = Served::new();
    let address = format!("unix:{}/witlock.sock", served.directory());
    let store = witlock::Connector::new(address)
        .connect()
        .expect("a server");
    let lock = store.lock("many").open().expect("a lock");
    let leases: Vec<_> = (0..KEYS)
        .map(|key| lock.blocking_lease(&key.to_string()).expect("free"))
        .collect();
    let mut keys: Vec<usize> = listed(&served)
        .iter()
        .map(|entry| entry["holding"]["key"].as_str().expect("a key"))
        .map(|key| key.parse().expect("a number"))
        .collect();
    keys.sort();
    assert_eq!(keys, (0..KEYS).collect::<Vec<_>>());
    drop(leases);
}

// LOCK-10, case J5
#[test]
fn a_breaking_says_what_it_broke() {
    let served = Served::new();
    let mut holder = served.hold(&["--label", "nightly"], "echo held; sleep 1000");
    holder.line(&["held"]);
    let lease = listed(&served)[0]["holding"]["lease"].clone();
    let lease = lease.as_str().expect("a lease");
    let broken = served.run(&["break", lease]);
    broken.expect_code(0);
    for part in ["broke", lease, "lock \"l\"", "key \"k\"", "nightly"] {
        assert!(broken.out().contains(part), "{}", broken.out());
    }
    holder.end().expect_error(116, &["broken"]);
}

#[test]
fn what_is_no_lease_is_told_what_one_is() {
    for lease in ["", "12", "12-", "-3", "12-3-4", "12-99999999999", "k"] {
        let ended = witlock(["break", "--store", "d", "--", lease]).end();
        ended.expect_error(2, &["FENCE-PLACE"]);
    }
}
