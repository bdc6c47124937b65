//! Apps composed with `client.wasm`, under the stock wasmtime command line: a
//! process for each holder.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use witlock::{LeaseRef, Store};
use witlock_programs::HOLDER_WITH_CLIENT;
use witlock_tests::stock;
use witlock_tests::tasks::Tasks;

use crate::face::{Answer, Ask, Ending, Holder, Kind, Lock, Need, Terms, Wait, Why};
use crate::hosted::{Users, block_on};
use crate::lines::{self, Dropped};
use crate::reached::{Reached, Served, TOKEN};

/// How often it is looked whether another process has done its part.
const LOOKS_EACH: Duration = Duration::from_micros(100);

/// Apps, and what they asked.
#[derive(Default)]
pub struct Apps {
    /// The store that they reach, as who serves it sees it.
    store: Option<Store>,
    /// None where it ended.
    apps: Vec<Option<App>>,
    /// Whose it is, and its number there.
    locks: Vec<(Holder, usize)>,
    asks: Vec<Asked>,
    /// How many ms went on since leases were renewed.
    passed: u64,
}

/// An app, which stands still while it waits.
struct App {
    tasks: Tasks,
    opened: usize,
    asked: usize,
    waits: Option<Ask>,
}

struct Asked {
    holder: Holder,
    number: usize,
    answer: Answer,
    /// Once it was cancelled, or its holder ended.
    dropped: Option<Dropped>,
}

impl Users for Apps {
    const NAME: &'static str = "app with client.wasm under wasmtime";

    fn cannot(need: Need) -> Option<&'static str> {
        match need {
            Need::Ttl => Some("its leases are renewed by its calls; see host/tests/served"),
            Need::Connection => Some("it cuts no connection; see guest/session"),
            Need::Leave => Some(
                "an app that is killed as it waits keeps its place for 5 s, its session for a ttl; \
                 see tests/stock",
            ),
            Need::Tasks => Some("a guest of WASI 0.2 stands still while it waits"),
            Need::HolderBounds => Some("over a connection the bounds are those unless given"),
            Need::Fences => Some("host/tests/store.rs has storages that fail in their own time"),
            Need::Crowd => Some("thousands of processes take minutes"),
            Need::InProcess
            | Need::SameClock
            | Need::Alone
            | Need::Reopen
            | Need::Close
            | Need::Listing => None,
        }
    }

    fn holder(&mut self, reached: &impl Reached, _: Kind) -> Holder {
        self.store = Some(reached.store().clone());
        let address = reached.address().expect("a store that is served");
        let mut run = stock::connected(address, TOKEN);
        let holder = Holder(self.apps.len());
        self.apps.push(Some(App {
            tasks: Tasks::elsewhere(run.arg(compiled()).arg("lines")),
            opened: 0,
            asked: 0,
            waits: None,
        }));
        self.connect(holder);
        holder
    }

    /// It returns; one that waits is killed.
    fn end(&mut self, holder: Holder) {
        self.hear_answers();
        let held: Vec<_> = self.asks_of(holder).collect();
        held.iter().for_each(|ask| self.note_dropped(*ask));
        let Some(app) = self.apps[holder.0].take() else {
            return;
        };
        if app.waits.is_none() {
            assert!(app.tasks.returns(), "it failed");
            held.into_iter().for_each(|ask| self.until_let_go(ask));
        }
    }

    fn open(&mut self, _: &Store, holder: Holder, terms: &Terms) -> Result<Lock, Why> {
        let app = self.idle(holder);
        lines::open(&mut app.tasks, terms)?;
        let number = app.opened;
        app.opened += 1;
        self.locks.push((holder, number));
        Ok(Lock(self.locks.len() - 1))
    }

    /// Returns once it was answered, or stands in the store's line.
    fn ask(&mut self, lock: Lock, key: &str, wait: Wait) -> Ask {
        let ask = Ask(self.asks.len());
        let (holder, opened) = self.locks[lock.0];
        self.hear_answers();
        let before = self.waiters();
        let app = self.idle(holder);
        app.tasks.tell(&lines::asking(opened, key, wait));
        app.waits = Some(ask);
        let number = app.asked;
        app.asked += 1;
        self.asks.push(Asked {
            holder,
            number,
            answer: Answer::Waiting,
            dropped: None,
        });
        until(|| {
            self.hear(holder);
            self.asks[ask.0].answer != Answer::Waiting || self.waiters() > before
        });
        ask
    }

    fn answer(&mut self, ask: Ask) -> Answer {
        self.hear_answers();
        let asked = &self.asks[ask.0];
        match asked.dropped {
            Some(dropped) => dropped.answer(),
            None => asked.answer.clone(),
        }
    }

    /// An app that waits is killed.
    fn cancel(&mut self, ask: Ask) {
        self.hear_answers();
        let Asked { holder, number, .. } = self.asks[ask.0];
        self.note_dropped(ask);
        match self.asks[ask.0].answer {
            Answer::Waiting => self.apps[holder.0] = None,
            Answer::Held(_) => {
                lines::cancel(&mut self.idle(holder).tasks, number);
                self.until_let_go(ask);
            }
            Answer::Refused(_) => {}
        }
    }

    fn release(&mut self, ask: Ask) -> Result<(), Ending> {
        let Asked { holder, number, .. } = self.asks[ask.0];
        lines::release(&mut self.idle(holder).tasks, number)
    }

    fn ended(&mut self, ask: Ask) -> Option<Ending> {
        self.hear_answers();
        let asked = &self.asks[ask.0];
        match (asked.dropped, &asked.answer) {
            (Some(dropped), _) => dropped.ended(),
            (None, Answer::Held(_)) => {
                let (holder, number) = (asked.holder, asked.number);
                lines::ended(&mut self.idle(holder).tasks, number)
            }
            (None, Answer::Waiting | Answer::Refused(_)) => None,
        }
    }

    /// Long work calls often enough.
    fn pass(&mut self, milliseconds: u64) {
        self.passed += milliseconds;
        if self.passed < Served::STEP {
            return;
        }
        self.passed = 0;
        self.hear_answers();
        for ask in 0..self.asks.len() {
            let holder = self.asks[ask].holder;
            let stands_still = |app: &App| app.waits.is_some();
            if !self.apps[holder.0].as_ref().is_none_or(stands_still) {
                self.ended(Ask(ask));
            }
        }
    }

    /// Killed, they let nothing go either.
    fn leave(self) {}
}

impl Apps {
    /// Has an app make its connection, by its first ask: the time that takes is part
    /// of how long an ask waits, and would be missing in its line.
    fn connect(&mut self, holder: Holder) {
        let store = self.store.clone().expect("a store");
        let opened = self.open(&store, holder, &Terms::lock("first"));
        let ask = self.ask(opened.expect("terms within their bounds"), "k", Wait::Try);
        self.cancel(ask);
    }

    /// An app that can be spoken to.
    fn idle(&mut self, holder: Holder) -> &mut App {
        self.hear(holder);
        let app = self.apps[holder.0].as_mut().expect("it has not ended");
        assert_eq!(app.waits, None, "it stands still");
        app
    }

    /// Hears whether an app that waited was answered.
    fn hear(&mut self, holder: Holder) {
        let Some(app) = &mut self.apps[holder.0] else {
            return;
        };
        if let Some(ask) = app.waits
            && let Some(line) = app.tasks.heard()
        {
            app.waits = None;
            self.asks[ask.0].answer = lines::answered(&line);
        }
    }

    /// Hears of every answer that the store has given: no more wait than it says.
    fn hear_answers(&mut self) {
        until(|| {
            let waiting = self.waiting();
            waiting.iter().for_each(|holder| self.hear(*holder));
            let waiting = self.waiting().len() as u64;
            waiting == 0 || waiting <= self.waiters()
        });
    }

    /// Whose asks are not answered, as far as is known here.
    fn waiting(&self) -> Vec<Holder> {
        let waits = |app: &Option<App>| app.as_ref().is_some_and(|app| app.waits.is_some());
        let all = (0..self.apps.len()).map(Holder);
        all.filter(|holder| waits(&self.apps[holder.0])).collect()
    }

    /// How many wait for the store.
    fn waiters(&self) -> u64 {
        let counts = self.store.as_ref().map(|store| block_on(store.counts()));
        // Closed, it has no line.
        counts.map_or(0, |counts| counts.map_or(0, |counts| counts.waiters))
    }

    fn asks_of(&self, holder: Holder) -> impl Iterator<Item = Ask> {
        let all = self.asks.iter().enumerate();
        all.filter(move |(_, asked)| asked.holder == holder)
            .map(|(number, _)| Ask(number))
    }

    fn note_dropped(&mut self, ask: Ask) {
        let asked = &mut self.asks[ask.0];
        asked.dropped = asked.dropped.or(Some(Dropped::after(&asked.answer)));
    }

    /// Who drops a lease does not wait until the store knows.
    fn until_let_go(&self, ask: Ask) {
        if let Answer::Held(fence) = self.asks[ask.0].answer {
            until(|| !self.leases().iter().any(|lease| lease.fence == fence));
        }
    }

    fn leases(&self) -> Vec<LeaseRef> {
        let store = self.store.as_ref().expect("a store");
        let (mut leases, mut from) = (Vec::new(), None);
        while let Ok(page) = block_on(store.holdings(from)) {
            leases.extend(page.items.iter().map(|held| held.lease));
            from = page.next;
            if from.is_none() {
                break;
            }
        }
        leases
    }
}

/// Compiled once, not by every scenario.
fn compiled() -> &'static Path {
    static COMPILED: OnceLock<PathBuf> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let into = Path::new(env!("CARGO_TARGET_TMPDIR")).join("holder-with-client.cwasm");
        stock::compile(HOLDER_WITH_CLIENT, into)
    })
}

/// Waits for another process; the watchdog, if it does not do its part.
fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        thread::sleep(LOOKS_EACH);
    }
}
