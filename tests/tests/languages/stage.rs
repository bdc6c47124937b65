//! Runs the guests, on a store of this process.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;
use witlock::{LocksCtx, Store};
use witlock_guests::command::{Command, Ran};
use witlock_tests::watchdog_besides;

use crate::cases::{CASES, Case, Does, Scene};
use crate::columns::{COLUMNS, Column};

/// What the table says of a case, or what went wrong in it.
pub type Outcome = Result<&'static str, String>;

/// Names where the guests are, if not in `target/guests`.
const GUESTS: &str = "WITLOCK_GUESTS";

/// A guest that `just guests` builds.
pub fn guest(id: &str, name: &str) -> PathBuf {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/guests");
    let guests = std::env::var_os(GUESTS).map_or(built, PathBuf::from);
    let guest = guests.join(id).join(name).with_extension("wasm");
    assert!(guest.exists(), "{}: run `just guests`", guest.display());
    guest
}

/// What a language's guest does in each case. Each runs once.
pub fn outcomes(id: &str) -> &'static [Outcome] {
    static KNOWN: [OnceLock<Vec<Outcome>>; COLUMNS.len()] =
        [const { OnceLock::new() }; COLUMNS.len()];
    let of_it = COLUMNS.iter().zip(&KNOWN).find(|(it, _)| it.id == id);
    let (column, known) = of_it.expect("a language");
    known.get_or_init(|| run_all(column))
}

fn run_all(column: &Column) -> Vec<Outcome> {
    // The largest takes half a minute to compile, unoptimised.
    watchdog_besides(std::time::Duration::from_secs(120));
    let command = Command::compile(&guest(column.id, "conformance")).expect("a command");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    let runtime = runtime.expect("a runtime");
    let run = |case| runtime.block_on(outcome(&command, case, column));
    CASES.iter().map(run).collect()
}

async fn outcome(command: &Command, case: &Case, column: &Column) -> Outcome {
    let does = column.otherwise(case.name).unwrap_or(&case.does);
    let place = TempDir::new().expect("a directory");
    let mut last = 0;
    let opened = if case.scene == Scene::Restarted { 2 } else { 1 };
    for _ in 0..opened {
        let store = Store::open(place.path()).expect("a store");
        let ran = run(command, case, &store).await;
        check(does, &ran, &mut last).map_err(|why| told(&why, &ran))?;
        let returned = matches!(ran.returned, Ok(Ok(())));
        // One that returned has let go by itself; any other at the latest as it is dropped.
        let kept = returned.then_some(ran);
        all_is_free(&store).await?;
        drop(kept);
        store.close();
    }
    Ok(does.mark())
}

async fn run(command: &Command, case: &Case, store: &Store) -> Ran {
    let lock = store.lock("conformance").open().expect("a lock");
    let held = match case.scene {
        Scene::Held => Some(lock.lease("key").await.expect("the key")),
        Scene::Alone | Scene::Restarted => None,
    };
    let ran = command.run(LocksCtx::new(store), &[case.name]).await;
    drop(held);
    ran
}

/// Whether the guest left everything free.
async fn all_is_free(store: &Store) -> Result<(), String> {
    let lock = store.lock("conformance").open().expect("a lock");
    let semaphore = store
        .semaphore("conformance", 1)
        .open()
        .expect("a semaphore");
    for (lock, key) in [(&lock, "key"), (&lock, "other"), (&semaphore, "key")] {
        match lock.try_lease(key).await {
            Ok(Some(_)) => {}
            Ok(None) => return Err(format!("{key} is held still")),
            Err(why) => return Err(format!("{key} is not free: {why}")),
        }
    }
    Ok(())
}

fn check(does: &Does, ran: &Ran, last: &mut u64) -> Result<(), String> {
    let returned = matches!(ran.returned, Ok(Ok(())));
    let lines: Vec<&str> = ran.out.lines().collect();
    match does {
        Does::Prints(expected)
        | Does::Otherwise {
            lines: expected, ..
        } => {
            well(returned)?;
            same(expected, &lines, last)
        }
        Does::Fails(expected) => {
            well(!returned)?;
            same(expected, &lines, last)
        }
        Does::Repeats(least, repeated, end) => {
            well(returned)?;
            let repeats = lines.len().saturating_sub(1);
            let mut expected = vec![*repeated; repeats.max(*least)];
            expected.push(end);
            same(&expected, &lines, last)
        }
        Does::Never(_) => {
            well(!returned)?;
            same(&[], &lines, last)
        }
    }
}

fn well(is_well: bool) -> Result<(), String> {
    is_well.then_some(()).ok_or("it ended otherwise".into())
}

fn same(expected: &[&str], printed: &[&str], last: &mut u64) -> Result<(), String> {
    let all = expected.len() == printed.len();
    let same = all && expected.iter().zip(printed).all(|pair| matches(pair, last));
    same.then_some(())
        .ok_or_else(|| format!("it should print {expected:?}"))
}

/// Whether a line is the one expected; for a fence, larger than the last.
fn matches((expected, printed): (&&str, &&str), last: &mut u64) -> bool {
    if *expected != "fence" {
        return expected == printed;
    }
    let fence = printed
        .strip_prefix("fence ")
        .and_then(|fence| fence.parse().ok());
    let grows = fence.is_some_and(|fence| fence > *last && fence < 1 << 53);
    *last = fence.unwrap_or(*last);
    grows
}

fn told(why: &str, ran: &Ran) -> String {
    let mut told = format!("{why}, not:\n{}{}", ran.out, ran.err);
    if let Err(error) = &ran.returned {
        let _ = write!(told, "{error:?}");
    }
    told
}

impl Does {
    /// What the table says.
    fn mark(&self) -> &'static str {
        match self {
            Does::Prints(_) | Does::Fails(_) | Does::Repeats(..) => "yes",
            Does::Otherwise { mark, .. } | Does::Never(mark) => mark,
        }
    }
}
