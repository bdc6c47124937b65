//! `locks.wasm` composed with the program `tasks`, over a clock that the
//! scenario lets go on: the test's own, or under another runtime a component. All that shares the composition is one holder; a
//! scenario's holders are its tasks.

use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tempfile::TempDir;
use witlock_programs::{TASKS_WITH_LOCKS_AND_CLOCK, TASKS_WITH_LOCKS_IN_TIME};
use witlock_tests::tasks::Tasks;
use witlock_tests::{stock, watchdog};

use crate::face::{
    Act, Answer, Ask, Counts, Ending, Face, Holder, Holding, Kind, Lock, Need, Page, Terms, Wait,
    Waiting, Why,
};
use crate::lines::{self, Dropped};

/// Who runs the composition.
pub trait Runtime {
    /// As [`Face::name`].
    const NAME: &'static str;

    /// Why there can be no second run on the same fences; none if there can.
    const CANNOT_REOPEN: Option<&'static str>;

    /// Runs it, with the fences in a directory if it can have one.
    fn run(fences: &Path) -> Tasks;
}

/// This process.
pub struct Here;

impl Runtime for Here {
    const NAME: &'static str = "composition";

    const CANNOT_REOPEN: Option<&'static str> = Some("it has no directory; under wasmtime it has");

    fn run(_: &Path) -> Tasks {
        Tasks::composed(TASKS_WITH_LOCKS_IN_TIME)
    }
}

/// The stock wasmtime command line.
pub struct Wasmtime;

impl Runtime for Wasmtime {
    const NAME: &'static str = "composition under wasmtime";

    const CANNOT_REOPEN: Option<&'static str> = None;

    fn run(fences: &Path) -> Tasks {
        Tasks::elsewhere(stock::run(Some(fences)).arg(compiled()))
    }
}

/// Compiled once, not by every scenario.
fn compiled() -> &'static Path {
    static COMPILED: OnceLock<PathBuf> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let into = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tasks-in-time.cwasm");
        stock::compile(TASKS_WITH_LOCKS_AND_CLOCK, into)
    })
}

/// A composition that runs.
pub struct Composed<R> {
    tasks: Tasks,
    fences: TempDir,
    holders: usize,
    locks: Vec<Holder>,
    asks: Vec<Asked>,
    runtime: PhantomData<R>,
}

#[derive(Clone, Copy)]
struct Asked {
    holder: Holder,
    dropped: Option<Dropped>,
}

impl<R: Runtime> Face for Composed<R> {
    fn name() -> String {
        R::NAME.into()
    }

    fn cannot(need: Need) -> Option<&'static str> {
        match need {
            Need::Ttl | Need::Connection => Some("there is no connection in a composition"),
            Need::Alone => {
                Some("in @0.2.0 nothing waits where all is one holder; see tests/tasks.rs")
            }
            Need::HolderBounds => Some("all that shares a composition is one holder"),
            Need::Fences => Some("fences come from a directory; see the component's own tests"),
            Need::Crowd => Some("one holder may have 10 000 keys; of tasks: tests/tasks.rs"),
            Need::Close => Some("a composition closes with its program"),
            Need::Listing => Some("a composition shows nothing to an operator"),
            Need::Reopen => R::CANNOT_REOPEN,
            Need::InProcess | Need::SameClock | Need::Leave | Need::Tasks => None,
        }
    }

    fn start() -> Self {
        watchdog();
        let fences = TempDir::new().expect("a directory");
        Composed {
            tasks: R::run(fences.path()),
            fences,
            holders: 0,
            locks: Vec::new(),
            asks: Vec::new(),
            runtime: PhantomData,
        }
    }

    fn holder(&mut self, _: Kind) -> Holder {
        self.holders += 1;
        Holder(self.holders)
    }

    fn end(&mut self, holder: Holder) {
        for ask in 0..self.asks.len() {
            if self.asks[ask].holder == holder {
                self.cancel(Ask(ask));
            }
        }
    }

    fn open(&mut self, holder: Holder, terms: &Terms) -> Result<Lock, Why> {
        lines::open(&mut self.tasks, terms)?;
        self.locks.push(holder);
        Ok(Lock(self.locks.len() - 1))
    }

    fn ask(&mut self, lock: Lock, key: &str, wait: Wait) -> Ask {
        lines::ask(&mut self.tasks, lock.0, key, wait);
        self.asks.push(Asked {
            holder: self.locks[lock.0],
            dropped: None,
        });
        Ask(self.asks.len() - 1)
    }

    fn answer(&mut self, ask: Ask) -> Answer {
        match self.asks[ask.0].dropped {
            Some(dropped) => dropped.answer(),
            None => lines::answer(&mut self.tasks, ask.0),
        }
    }

    fn cancel(&mut self, ask: Ask) {
        if self.asks[ask.0].dropped.is_some() {
            return;
        }
        let dropped = Dropped::after(&self.answer(ask));
        self.asks[ask.0].dropped = Some(dropped);
        lines::cancel(&mut self.tasks, ask.0);
    }

    fn release(&mut self, ask: Ask) -> Result<(), Ending> {
        lines::release(&mut self.tasks, ask.0)
    }

    fn ended(&mut self, ask: Ask) -> Option<Ending> {
        match self.asks[ask.0].dropped {
            Some(dropped) => dropped.ended(),
            None => lines::ended(&mut self.tasks, ask.0),
        }
    }

    fn together(&mut self, acts: &[Act]) {
        for act in acts {
            match *act {
                Act::Cancel(ask) => self.cancel(ask),
                Act::Release(ask) => drop(self.release(ask)),
                Act::End(holder) => self.end(holder),
            }
        }
    }

    fn holdings(&mut self, _: Option<u64>) -> Page<Holding, u64> {
        unreachable!("a face that can't list says so");
    }

    fn waiters(&mut self, _: Option<(u64, u64)>) -> Page<Waiting, (u64, u64)> {
        unreachable!("a face that can't list says so");
    }

    fn break_lease(&mut self, _: &Holding) -> bool {
        unreachable!("a face that can't list says so");
    }

    fn counts(&mut self) -> Counts {
        unreachable!("a face that can't list says so");
    }

    fn advance(&mut self, milliseconds: u64) {
        let advanced = self.tasks.say(&format!("advance {milliseconds}"));
        assert_eq!(advanced, "advanced");
    }

    fn sleep(&mut self, milliseconds: u64) {
        let slept = self.tasks.say(&format!("sleep {milliseconds}"));
        assert_eq!(slept, "slept");
    }

    fn close(&mut self) {
        unreachable!("a face that can't close says so");
    }

    fn reopen(&mut self) {
        // The one before is killed as it is replaced.
        self.tasks = R::run(self.fences.path());
        self.locks.clear();
        self.asks.clear();
    }
}
