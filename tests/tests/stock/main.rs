//! `locks.wasm` and `client.wasm` under the stock wasmtime command line, which
//! `.ci/run` installs: `WITLOCK_WASMTIME` names it, and `WITLOCK_WAC` the composer.
//! (The contract's scenarios under it are in `contract`.)

#![allow(clippy::expect_used)] // tests
#![cfg(unix)]

mod client;

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;
use std::time::Duration;

use fastrand::Rng;
use tempfile::TempDir;
use witlock_programs::{HOLDER, LOCKS, LOCKS_0_2, TASKS, TASKS_WITH_LOCKS};
use witlock_tests::stock::{self, WAC, run, tool};
use witlock_tests::tasks::{Tasks, text};

/// How often a program is killed.
const KILLS: u64 = 60;

/// The longest that one lives.
const LIFE: Duration = Duration::from_millis(60);

/// `tasks.wasm` plugged with `locks.wasm`, compiled once.
fn tasks() -> &'static Path {
    static COMPILED: OnceLock<PathBuf> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let into = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tasks-with-locks.cwasm");
        stock::compile(TASKS_WITH_LOCKS, into)
    })
}

fn start(fences: &Path) -> Tasks {
    let mut tasks = Tasks::elsewhere(run(Some(fences)).arg(tasks()));
    let opened = tasks.say(&format!("open {} - - - - -", text("jobs")));
    assert_eq!(opened, "opened");
    tasks
}

fn fence(line: &str) -> u64 {
    let fence = line.strip_prefix("fence ").map(str::parse);
    fence
        .and_then(Result::ok)
        .unwrap_or_else(|| panic!("{line:?} tells no fence"))
}

/// `wac plug`, as a user does it.
fn plug(app: &str, locks: &str, into: &Path) {
    let mut plug = tool(WAC);
    plug.args(["plug", app, "--plug", locks, "-o"]);
    let status = plug.arg(into).status().expect("wac starts");
    assert!(status.success());
}

/// What a component imports.
fn imports(component: &Path) -> Vec<String> {
    let engine = wasmtime::Engine::default();
    let component = wasmtime::component::Component::from_file(&engine, component);
    let component = component.expect("a component");
    let component = component.component_type();
    let imports = component.imports(&engine).map(|(name, _)| name.to_owned());
    imports.collect()
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

// LOCK-01
#[test]
#[ignore = "needs the wasmtime and wac commands: .ci/run"]
fn an_app_plugged_by_wac_imports_no_locks_and_runs() {
    let place = TempDir::new().expect("a directory");
    for (app, locks) in [(HOLDER, LOCKS), (HOLDER, LOCKS_0_2), (TASKS, LOCKS)] {
        let composed = place.path().join("composed.wasm");
        plug(app, locks, &composed);
        let imports = imports(&composed);
        assert!(!imports.is_empty());
        let left = imports.iter().find(|name| name.starts_with("witlock:"));
        assert_eq!(left, None);
        if app == HOLDER {
            let mut run = run(Some(place.path()));
            let output = run.arg(&composed).args(["hold", "lock", "key"]).output();
            let output = output.expect("wasmtime starts");
            assert!(output.status.success(), "{output:?}");
            assert_eq!(error(&output), "");
            assert!(String::from_utf8_lossy(&output.stdout).contains("released"));
        }
    }
}

// LOCK-02, case G1, case G5
#[test]
#[ignore = "needs the wasmtime command: .ci/run"]
fn fences_grow_over_kills_at_any_moment() {
    let place = TempDir::new().expect("a directory");
    let mut random = Rng::with_seed(5);
    let (mut last, mut said) = (0, 0);
    for kill in 0..KILLS {
        let mut tasks = start(place.path());
        tasks.tell(&format!("fences 0 {}", text("k")));
        let life = LIFE.mul_f64(random.f64());
        let killer = tasks.kill_after(life);
        while let Some(line) = tasks.hear() {
            // The last line may be cut off.
            if let Ok(fence) = line.trim_start_matches("fence ").parse::<u64>()
                && line.len() == "fence ".len() + 16
            {
                assert!(fence > last, "{fence} after {last}, kill {kill}");
                last = fence;
                said += 1;
            }
        }
        killer.join().expect("it kills");
    }
    assert!(said > KILLS * 100, "{said} fences");
}

// LOCK-02, case L15
#[test]
#[ignore = "needs the wasmtime command: .ci/run"]
fn of_two_programs_on_one_directory_the_earlier_is_told() {
    let place = TempDir::new().expect("a directory");
    let mut earlier = start(place.path());
    earlier.say(&format!("ask 0 {} -", text("k")));
    assert!(earlier.say("answer 0").starts_with("held "));
    assert_eq!(earlier.say("release 0"), "released");
    let mut later = start(place.path());
    let mut given = Vec::new();
    for tasks in [&mut earlier, &mut later] {
        tasks.tell(&format!("fences 0 {}", text("k")));
    }
    let refused = loop {
        let line = earlier.hear().expect("it goes on");
        if line.starts_with("refused ") {
            break line;
        }
        given.push(fence(&line));
    };
    let names = ["unavailable", "another program has opened"];
    assert!(names.iter().all(|name| refused.contains(name)), "{refused}");
    for _ in 0..10_000 {
        given.push(fence(&later.hear().expect("it goes on")));
    }
    let all = given.len();
    given.sort_unstable();
    given.dedup();
    assert_eq!(given.len(), all, "a fence was given twice");
}

// LOCK-02
#[test]
#[ignore = "needs the wasmtime command: .ci/run"]
fn without_a_directory_it_works_and_says_so_once() {
    let output = run(None).arg(tasks()).output();
    assert_eq!(
        error(&output.expect("wasmtime starts")),
        "",
        "nothing was asked"
    );
    let mut last = 0;
    for _ in 0..3 {
        let place = TempDir::new().expect("a directory");
        let composed = place.path().join("composed.wasm");
        plug(HOLDER, LOCKS, &composed);
        let output = run(None)
            .arg(&composed)
            .args(["hold", "lock", "key"])
            .output();
        let output = output.expect("wasmtime starts");
        assert!(output.status.success(), "{output:?}");
        let said = error(&output);
        assert!(
            said.contains("no directory /witlock") && said.contains("--dir"),
            "{said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        let (_, rest) = out.split_once("fence=").expect("a fence");
        let fence = rest.split_whitespace().next().map(str::parse::<u64>);
        let fence = fence.expect("a fence").expect("a number");
        assert!(fence > last, "{fence} after {last}");
        last = fence;
    }
}

// LOCK-02, LOCK-12
#[test]
#[ignore = "needs the wasmtime command: .ci/run"]
fn a_directory_that_was_named_has_to_be_there() {
    let mut run = run(None);
    run.args(["--env", "WITLOCK_DIR=/nowhere"]).arg(tasks());
    let mut tasks = Tasks::elsewhere(&mut run);
    tasks.say(&format!("open {} - - - - -", text("jobs")));
    tasks.say(&format!("ask 0 {} -", text("k")));
    let refused = tasks.say("answer 0");
    assert!(
        refused.starts_with("refused unavailable the directory of the fences"),
        "{refused}"
    );
}
