//! Does with locks what the lines of the standard input say, and answers each by a
//! line. The words are those of the program `tasks`, but this one stands still while
//! it waits:
//!
//! | line | answer |
//! | --- | --- |
//! | `open NAME LIMIT TTL WAIT MAX-HOLD LABEL` | `opened` |
//! | `ask LOCK KEY WAIT` | `held FENCE`, once it has the key |
//! | `ended ASK` | `lasts`, or how it ended |
//! | `release ASK` | `released` |
//! | `cancel ASK` | `cancelled`: the lease was dropped |
//!
//! It returns, and drops its leases, as its standard input ends.

use std::io::{self, BufRead, Write};

use crate::bindings::witlock::locks::locks::{Lease, Lock, LockError, Options, Semaphore};
use crate::words::{self, Terms, Wait, place, text};

/// All that it has.
#[derive(Default)]
struct Player {
    opened: Vec<Opened>,
    /// None where the key was refused, or the lease dropped.
    leases: Vec<Option<Lease>>,
}

/// A lock or a semaphore: the difference ends where it is opened.
enum Opened {
    Lock(Lock),
    Semaphore(Semaphore),
}

pub(crate) fn follow() -> Result<(), String> {
    let mut player = Player::default();
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|why| format!("reading a line: {why}"))?;
        let answer = player.act(&line);
        let mut stdout = io::stdout();
        let said = writeln!(stdout, "{answer}").and_then(|()| stdout.flush());
        said.map_err(|why| format!("answering: {why}"))?;
    }
    Ok(())
}

impl Player {
    fn act(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words {
            ["open", name, limit, ttl, wait, max_hold, label] => {
                self.open(&words::terms([name, limit, ttl, wait, max_hold, label]))
            }
            ["ask", lock, key, wait] => self.ask(place(lock), &text(key), words::wait(wait)),
            ["ended", ask] => match self.lease(place(ask)).ended() {
                None => "lasts".into(),
                Some(how) => how.name().into(),
            },
            ["release", ask] => match self.lease(place(ask)).release() {
                Ok(()) => "released".into(),
                Err(how) => format!("ended {}", how.name()),
            },
            ["cancel", ask] => {
                self.leases[place(ask)] = None;
                "cancelled".into()
            }
            _ => format!("unknown {line}"),
        }
    }

    fn open(&mut self, terms: &Terms) -> String {
        match Opened::open(terms) {
            Ok(opened) => {
                self.opened.push(opened);
                "opened".into()
            }
            Err(error) => refused(error),
        }
    }

    fn ask(&mut self, lock: usize, key: &str, wait: Wait) -> String {
        let held = self.opened[lock].hold(key, wait);
        let answer = match &held {
            Ok(lease) => format!("held {}", lease.fence()),
            Err(error) => refused(error.clone()),
        };
        self.leases.push(held.ok());
        answer
    }

    fn lease(&self, ask: usize) -> &Lease {
        self.leases[ask].as_ref().expect("a lease")
    }
}

impl Opened {
    fn open(terms: &Terms) -> Result<Self, LockError> {
        let options = Options {
            ttl: terms.ttl,
            wait: terms.wait,
            max_hold: terms.max_hold,
            label: terms.label.clone(),
        };
        match terms.limit {
            None => Lock::open(&terms.name, &options).map(Opened::Lock),
            Some(limit) => Semaphore::open(&terms.name, limit, &options).map(Opened::Semaphore),
        }
    }

    fn hold(&self, key: &str, wait: Wait) -> Result<Lease, LockError> {
        let span = match wait {
            Wait::AsOpened => None,
            Wait::For(span) => Some(span),
            Wait::Try => return self.try_hold(key)?.ok_or(LockError::InUse),
        };
        match self {
            Opened::Lock(lock) => lock.hold(key, span),
            Opened::Semaphore(semaphore) => semaphore.hold(key, span),
        }
    }

    fn try_hold(&self, key: &str) -> Result<Option<Lease>, LockError> {
        match self {
            Opened::Lock(lock) => lock.try_hold(key),
            Opened::Semaphore(semaphore) => semaphore.try_hold(key),
        }
    }
}

fn refused(error: LockError) -> String {
    match error {
        LockError::InUse => "refused in-use".into(),
        LockError::HeldByCaller => "refused held-by-caller".into(),
        LockError::Invalid(why) => format!("refused invalid {why}"),
        LockError::TooMany(why) => format!("refused too-many {why}"),
        LockError::Closed => "refused closed".into(),
        LockError::Unavailable(why) => format!("refused unavailable {why}"),
    }
}
