//! Apps with `client.wasm`, which reach a store that this process serves.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use witlock::clock::ManualClock;
use witlock::{Connector, Counts, Lock, Server, Store};
use witlock_programs::{CLIENT, HOLDER, HOLDER_WITH_CLIENT};
use witlock_tests::stock;
use witlock_tests::tasks::{Tasks, text};

use crate::{imports, plug};

/// What lets in who reaches the store.
const TOKEN: &str = "let me in";

/// What lets in an operator.
const ADMIN_TOKEN: &str = "let me see";

/// The ttl of leases, unless given.
const TTL: Duration = Duration::from_secs(30);

/// How long a waiter without a connection keeps its place.
const PLACE_KEPT: Duration = Duration::from_secs(5);

/// The least step of a clock.
const TICK: Duration = Duration::from_nanos(1);

/// A store that is served over TCP; its clock stands unless it is turned.
struct Stage {
    clock: ManualClock,
    store: Store,
    server: Server,
}

impl Stage {
    fn new() -> Self {
        let clock = ManualClock::default();
        let store = Store::builder().clock(clock.clone()).in_memory();
        let store = store.expect("a store");
        let server = Server::builder(&store).listen("tcp:127.0.0.1:0");
        let server = server.token(TOKEN).admin_token(ADMIN_TOKEN).bind();
        Stage {
            clock,
            server: server.expect("a server"),
            store,
        }
    }

    fn address(&self) -> &str {
        &self.server.addresses()[0]
    }

    /// An app with the lock `jobs`.
    fn app(&self) -> Tasks {
        let mut run = stock::connected(self.address(), TOKEN);
        start(run.arg(compiled()))
    }

    /// The same lock, as a holder in this process has it.
    fn jobs(&self) -> Lock {
        self.store.lock("jobs").open().expect("a lock")
    }

    fn counts(&self) -> Counts {
        block_on(self.store.counts()).expect("an open store")
    }

    /// Waits until the server has noticed that whoever waits is not connected. Only
    /// over a connection a listing tells that.
    fn until_missed(&self) {
        let operator = Connector::new(self.address()).token(ADMIN_TOKEN);
        let operator = operator.clock(self.clock.clone()).connect();
        let operator = operator.expect("a connection");
        loop {
            let line = block_on(operator.waiters(None)).expect("an operator's view");
            if line.items.iter().all(|waiting| waiting.client.is_none()) {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits for what another process does.
    fn until(&self, is_so: impl Fn(Counts) -> bool) {
        while !is_so(self.counts()) {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(future)
}

/// Compiled once.
fn compiled() -> &'static Path {
    static COMPILED: OnceLock<PathBuf> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let into = Path::new(env!("CARGO_TARGET_TMPDIR")).join("client-in-stock.cwasm");
        stock::compile(HOLDER_WITH_CLIENT, into)
    })
}

fn start(run: &mut Command) -> Tasks {
    let mut app = Tasks::elsewhere(run.arg("lines"));
    let opened = app.say(&format!("open {} - - - - -", text("jobs")));
    assert_eq!(opened, "opened");
    app
}

fn asking(wait: &str) -> String {
    format!("ask 0 {} {wait}", text("k"))
}

/// The fence of an app that is given the key.
fn held(answer: &str) -> u64 {
    let fence = answer.strip_prefix("held ").map(str::parse);
    let fence = fence.unwrap_or_else(|| panic!("it was answered by {answer:?}"));
    fence.expect("a fence")
}

// LOCK-01, LOCK-02
#[test]
#[ignore = "needs the wasmtime and wac commands: .ci/run"]
fn a_key_goes_between_a_client_plugged_by_wac_and_a_native_holder() {
    let stage = Stage::new();
    let place = TempDir::new().expect("a directory");
    let composed = place.path().join("composed.wasm");
    plug(HOLDER, CLIENT, &composed);
    let imports = imports(&composed);
    assert!(imports.iter().any(|name| name.starts_with("wasi:sockets")));
    let left = imports.iter().find(|name| name.starts_with("witlock:"));
    assert_eq!(left, None);

    let mut app = start(stock::connected(stage.address(), TOKEN).arg(&composed));
    let mut last = 0;
    for turn in 0..3 {
        let fence = held(&app.say(&asking("-")));
        assert!(fence > last, "{fence} after {last}");
        let here = stage.jobs().blocking_try_lease("k");
        assert!(here.expect("an answer").is_none(), "two have the key");
        assert_eq!(app.say(&format!("release {}", 2 * turn)), "released");

        let here = stage.jobs().blocking_lease("k").expect("the key");
        assert!(here.fence() > fence);
        last = here.fence();
        assert_eq!(app.say(&asking("try")), "refused in-use");
        assert_eq!(here.blocking_release(), Ok(()));
    }
    assert!(app.returns());
    assert_eq!(stage.counts().keys, 0);
}

// LOCK-01: the app waits for the holder here, and goes on when it is its turn.
#[test]
#[ignore = "needs the wasmtime command: .ci/run"]
fn a_client_waits_for_a_native_holder() {
    let stage = Stage::new();
    let here = stage.jobs().blocking_lease("k").expect("the key");
    let mut app = stage.app();
    app.tell(&asking("60000"));
    stage.until(|counts| counts.waiters == 1);
    assert_eq!(app.heard(), None);
    let fence = here.fence();
    drop(here);
    assert!(held(&app.hear().expect("it goes on")) > fence);
}

// LOCK-12
#[test]
#[ignore = "needs the wasmtime command: .ci/run"]
fn a_client_that_may_not_reach_the_network_says_what_it_needs() {
    let stage = Stage::new();
    let mut run = stock::run(None);
    stock::introduce(&mut run, stage.address(), TOKEN);
    let refused = start(run.arg(compiled())).say(&asking("-"));
    assert_says(&refused, &[stage.address(), "-S inherit-network"]);
}

// LOCK-12
#[test]
#[ignore = "needs the wasmtime command: .ci/run"]
fn a_client_with_a_wrong_token_is_told_so() {
    let stage = Stage::new();
    let mut run = stock::connected(stage.address(), "guessed");
    let refused = start(run.arg(compiled())).say(&asking("-"));
    assert_says(&refused, &[stage.address(), "token"]);
    assert!(!refused.contains("guessed"), "{refused}");
    assert_eq!(stage.counts().leases, 0);
}

// LOCK-12
#[test]
#[ignore = "needs the wasmtime command: .ci/run"]
fn a_client_that_was_told_no_address_says_which_variable_it_misses() {
    let mut app = Tasks::elsewhere(stock::run(None).arg(compiled()).arg("lines"));
    let refused = app.say(&format!("open {} - - - - -", text("jobs")));
    assert_says(&refused, &["WITLOCK_CONNECT"]);
}

fn assert_says(refused: &str, names: &[&str]) {
    assert!(refused.starts_with("refused unavailable "), "{refused}");
    let is_named = |name: &&str| refused.contains(*name);
    assert!(names.iter().all(is_named), "{refused}");
}

// LOCK-07, LOCK-05, case F4: the app's clock stood while the store's went on.
#[test]
#[ignore = "needs the wasmtime command: .ci/run"]
fn the_first_ended_after_a_sleep_asks_the_store() {
    let stage = Stage::new();
    let mut app = stage.app();
    let fence = held(&app.say(&asking("-")));
    assert_eq!(app.say("ended 0"), "lasts");
    stage.clock.advance(TTL - TICK);
    assert_eq!(app.say("ended 0"), "lasts", "asking renews it");
    stage.clock.advance(TTL);
    let here = stage.jobs().blocking_try_lease("k").expect("an answer");
    let here = here.expect("the key is free");
    assert!(here.fence() > fence);
    assert_eq!(app.say("ended 0"), "expired");
    assert_eq!(app.say("release 0"), "ended expired");
    assert_eq!(here.ended(), None);
}

// LOCK-07, case F4: it is not released as if nothing had been.
#[test]
#[ignore = "needs the wasmtime command: .ci/run"]
fn the_first_release_after_a_sleep_tells_the_loss() {
    let stage = Stage::new();
    let mut app = stage.app();
    held(&app.say(&asking("-")));
    stage.clock.advance(TTL);
    assert_eq!(app.say("release 0"), "ended expired");
}

// LOCK-06, LOCK-09: what no app under a stock runtime can tell is noticed by time.
#[test]
#[ignore = "needs the wasmtime command: .ci/run"]
fn a_killed_client_leaves_the_line_after_5_seconds_and_its_key_at_its_ttl() {
    let stage = Stage::new();
    let (mut holder, mut waiter) = (stage.app(), stage.app());
    held(&holder.say(&asking("-")));
    waiter.tell(&asking("60000"));
    stage.until(|counts| counts.waiters == 1);
    drop((holder, waiter));
    stage.until_missed();
    stage.clock.advance(PLACE_KEPT - TICK);
    assert_eq!(stage.counts().waiters, 1);
    stage.clock.advance(TICK);
    assert_eq!(stage.counts().waiters, 0);
    assert_eq!(stage.counts().leases, 1);
    stage.clock.advance(TTL - PLACE_KEPT - TICK);
    assert_eq!(stage.counts().leases, 1);
    stage.clock.advance(TICK);
    assert_eq!(stage.counts().keys, 0);
}
