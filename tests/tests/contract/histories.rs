//! Random histories: a face answers as the engine does natively, whoever is
//! cancelled when, and never hangs or traps. A failure prints its seed, which
//! `WITLOCK_SEED` lives again, alone.

use fastrand::Rng;
use witlock_tests::Native;

use crate::composed::{Composed, Here};
use crate::driver::Driven;
use crate::face::{Answer, Ask, Ending, Face, Holder, Kind, Lock, Terms, Wait};
use crate::hosted::Hosted;
use crate::tasks::TaskGuests;

/// Histories on each face, and what is done in each.
const HISTORIES: u64 = 60;
const STEPS: usize = 80;

/// Asks that are looked at, at most: those made last.
const LOOKED_AT: usize = 8;

const KEYS: [&str; 3] = ["k", "l", "m"];

/// One thing that is done.
#[derive(Debug, Clone, Copy)]
enum Act {
    Ask(usize, &'static str, Wait),
    Cancel(usize),
    Release(usize),
    Advance(u64),
}

/// What happens to be done: the asks are named by the order of their coming.
fn history(seed: u64) -> Vec<Act> {
    let mut random = Rng::with_seed(seed);
    let mut asks = 0;
    let mut act = || match random.u8(0..10) {
        0..4 => {
            asks += 1;
            let key = KEYS[random.usize(..KEYS.len())];
            Act::Ask(random.usize(..3), key, wait(&mut random))
        }
        4..6 if asks > 0 => Act::Cancel(random.usize(..asks)),
        6..8 if asks > 0 => Act::Release(random.usize(..asks)),
        _ => Act::Advance(random.u64(1..4_000)),
    };
    (0..STEPS).map(|_| act()).collect()
}

fn wait(random: &mut Rng) -> Wait {
    match random.u8(0..4) {
        0 => Wait::Try,
        1 => Wait::AsOpened,
        _ => Wait::For(random.u32(0..20_000)),
    }
}

/// A face that lives a history.
struct Life<F> {
    face: F,
    locks: [Lock; 3],
    /// None once it is cancelled.
    asks: Vec<Option<Ask>>,
}

/// How an ask stands. (Faces have fences of their own.)
type Stands = (&'static str, Option<Ending>);

impl<F: Face> Life<F> {
    fn begin() -> Self {
        let mut face = F::start();
        let holder: Holder = face.holder(Kind::default());
        let brief = Terms {
            max_hold: Some(3_000),
            ..Terms::lock("brief")
        };
        let terms = [Terms::lock("jobs"), brief, Terms::semaphore("pool", 2)];
        let locks = terms.map(|terms| face.open(holder, &terms).expect("a lock"));
        Life {
            face,
            locks,
            asks: Vec::new(),
        }
    }

    /// Does a thing, and tells how what was asked lately stands then.
    fn act(&mut self, act: Act) -> (Option<Result<(), Ending>>, Vec<Stands>) {
        let released = self.do_it(act);
        let lately = self.asks.len().saturating_sub(LOOKED_AT);
        let lately: Vec<Ask> = self.asks[lately..].iter().flatten().copied().collect();
        let stand = lately.into_iter().map(|ask| self.stands(ask)).collect();
        (released, stand)
    }

    fn do_it(&mut self, act: Act) -> Option<Result<(), Ending>> {
        match act {
            Act::Ask(lock, key, wait) => {
                let ask = self.face.ask(self.locks[lock], key, wait);
                self.asks.push(Some(ask));
            }
            Act::Cancel(ask) => {
                if let Some(ask) = self.asks[ask].take() {
                    self.face.cancel(ask);
                }
            }
            Act::Release(ask) => {
                let ask = self.asks[ask]?;
                if matches!(self.face.answer(ask), Answer::Held(_)) {
                    return Some(self.face.release(ask));
                }
            }
            Act::Advance(milliseconds) => self.face.advance(milliseconds),
        }
        None
    }

    fn stands(&mut self, ask: Ask) -> Stands {
        match self.face.answer(ask) {
            Answer::Waiting => ("waits", None),
            Answer::Held(_) => ("held", self.face.ended(ask)),
            Answer::Refused(_) => ("refused", None),
        }
    }

    /// Whoever is left leaves: every key is free then.
    fn end(mut self) {
        for ask in std::mem::take(&mut self.asks).into_iter().flatten() {
            self.face.cancel(ask);
        }
        for lock in self.locks {
            for key in KEYS {
                let ask = self.face.ask(lock, key, Wait::Try);
                assert!(matches!(self.face.answer(ask), Answer::Held(_)));
            }
        }
    }
}

fn lives_as_the_engine_does<F: Face>() {
    let only = std::env::var("WITLOCK_SEED").ok();
    let only = only.map(|seed| seed.parse().expect("WITLOCK_SEED is a number"));
    let seeds = only.map_or(0..HISTORIES, |seed| seed..seed + 1);
    let (mut granted, mut ended) = (0, 0);
    for seed in seeds {
        println!("WITLOCK_SEED={seed}");
        let mut life = Life::<F>::begin();
        let mut engine = Life::<Driven<Native>>::begin();
        for (step, act) in history(seed).into_iter().enumerate() {
            let (lived, expected) = (life.act(act), engine.act(act));
            assert_eq!(lived, expected, "after {act:?}, step {step}");
            granted += lived
                .1
                .iter()
                .filter(|(stands, _)| *stands == "held")
                .count();
            ended += lived.1.iter().filter(|(_, ended)| ended.is_some()).count();
        }
        life.end();
    }
    // Something happened at all.
    assert!(
        only.is_some() || (granted > 5_000 && ended > 1_000),
        "{granted}, {ended}"
    );
}

// LOCK-01, LOCK-03, LOCK-06, case D1, case D2, case D12
#[test]
fn a_composition_lives_as_the_engine_does() {
    lives_as_the_engine_does::<Composed<Here>>();
}

// LOCK-01, LOCK-03, LOCK-06, case D1, case D2, case D12
#[test]
fn a_guest_of_wasi_0_3_lives_as_the_engine_does() {
    lives_as_the_engine_does::<Hosted<TaskGuests>>();
}
