//! Guests of WASI 0.2: one instance of the puppet for each holder.

use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll, Waker};

use witlock::Store;
use witlock_tests::puppet::{self, LockError, Puppet, Puppets};

use crate::face::{Answer, Ask, Ending, Holder, Kind, Lock, Need, Terms, Wait, Why};
use crate::hosted::{self, Users, block_on};
use crate::reached::Reached;

/// Guests, and what they asked.
#[derive(Default)]
pub struct Guests {
    guests: Vec<Guest>,
    /// Whose it is, and its number there.
    locks: Vec<(Holder, u32)>,
    asks: Vec<(Holder, State)>,
}

/// A guest, which stands still while it asks.
enum Guest {
    Idle(Box<Puppet>),
    Asking(Ask, Asking),
    /// Its session ended; its wasmtime store may be kept.
    Ended(#[allow(dead_code)] Option<Box<Puppet>>),
}

type Asking = Pin<Box<dyn Future<Output = (Box<Puppet>, Result<u32, LockError>)>>>;

/// How far an ask has got.
#[derive(Clone)]
enum State {
    Waiting,
    Held {
        lease: u32,
        fence: u64,
    },
    Refused(Why),
    /// Its lease was dropped, or its holder.
    Gone(u64),
}

/// Calls an export of an idle guest. None of these waits for a key.
macro_rules! call {
    ($guest:expr, $call:ident($($argument:expr),*)) => {{
        let puppet: &mut Puppet = $guest;
        block_on(async {
            let (strings, store) = puppet.strings();
            strings.$call(store, $($argument),*).await.expect("no trap")
        })
    }};
}

impl Users for Guests {
    const NAME: &'static str = "p2 guest";

    fn cannot(need: Need) -> Option<&'static str> {
        match need {
            Need::Ttl => Some("leases of a store in this process last until they are released"),
            Need::Connection => Some("there is no connection in this process"),
            Need::Tasks => Some("a guest of WASI 0.2 stands still while it waits"),
            Need::Crowd => Some("thousands of instances take minutes"),
            Need::Fences => Some("host/tests/store.rs has storages that fail in their own time"),
            Need::InProcess
            | Need::SameClock
            | Need::Leave
            | Need::Alone
            | Need::HolderBounds
            | Need::Reopen
            | Need::Close
            | Need::Listing => None,
        }
    }

    fn holder(&mut self, reached: &impl Reached, kind: Kind) -> Holder {
        let ctx = hosted::ctx(reached.store(), kind);
        let puppet = block_on(puppets().puppet(ctx)).expect("an instance");
        self.guests.push(Guest::Idle(Box::new(puppet)));
        Holder(self.guests.len() - 1)
    }

    /// By turns as guests end: the store dropped, the store dropped after a
    /// trap, and the store kept after a trap.
    fn end(&mut self, holder: Holder) {
        let (traps, is_kept) = [(false, false), (true, false), (true, true)][holder.0 % 3];
        let guest = std::mem::replace(&mut self.guests[holder.0], Guest::Ended(None));
        if let Guest::Idle(mut puppet) = guest {
            let (strings, store) = puppet.strings();
            if traps {
                assert!(block_on(strings.call_trap(store)).is_err());
            }
            if is_kept {
                puppet.end();
                self.guests[holder.0] = Guest::Ended(Some(puppet));
            }
        }
        for (of, state) in &mut self.asks {
            if *of == holder {
                state.drop();
            }
        }
    }

    fn open(&mut self, _: &Store, holder: Holder, terms: &Terms) -> Result<Lock, Why> {
        let options = puppet::Options {
            ttl: terms.ttl,
            wait: terms.wait,
            max_hold: terms.max_hold,
            label: terms.label.clone(),
        };
        let guest = self.idle(holder);
        let opened = match terms.limit {
            None => call!(guest, call_open_lock(&terms.name, &options)),
            Some(limit) => call!(guest, call_open_semaphore(&terms.name, limit, &options)),
        };
        self.locks.push((holder, opened.map_err(why)?));
        Ok(Lock(self.locks.len() - 1))
    }

    fn ask(&mut self, lock: Lock, key: &str, wait: Wait) -> Ask {
        let (holder, opened) = self.locks[lock.0];
        self.idle(holder);
        let ask = Ask(self.asks.len());
        self.asks.push((holder, State::Waiting));
        let guest = std::mem::replace(&mut self.guests[holder.0], Guest::Ended(None));
        let Guest::Idle(puppet) = guest else {
            panic!("{holder:?} is not idle");
        };
        let asking = asking(puppet, opened, key.into(), wait);
        self.guests[holder.0] = Guest::Asking(ask, asking);
        self.poll(holder);
        ask
    }

    fn answer(&mut self, ask: Ask) -> Answer {
        match self.polled(ask) {
            State::Waiting => Answer::Waiting,
            State::Held { fence, .. } | State::Gone(fence) => Answer::Held(fence),
            State::Refused(why) => Answer::Refused(why),
        }
    }

    fn cancel(&mut self, ask: Ask) {
        let holder = self.asks[ask.0].0;
        if matches!(&self.guests[holder.0], Guest::Asking(asked, _) if *asked == ask) {
            // The call is dropped, and its wasmtime store with it.
            self.guests[holder.0] = Guest::Ended(None);
        } else if let State::Held { lease, .. } = self.asks[ask.0].1 {
            call!(self.idle(holder), call_drop_lease(lease));
        }
        self.asks[ask.0].1.drop();
    }

    fn release(&mut self, ask: Ask) -> Result<(), Ending> {
        let State::Held { lease, .. } = self.polled(ask) else {
            panic!("{ask:?} has no lease");
        };
        let holder = self.asks[ask.0].0;
        call!(self.idle(holder), call_release(lease)).map_err(ending)
    }

    fn ended(&mut self, ask: Ask) -> Option<Ending> {
        match self.polled(ask) {
            State::Held { lease, .. } => {
                let holder = self.asks[ask.0].0;
                call!(self.idle(holder), call_ended(lease)).map(ending)
            }
            State::Gone(_) => Some(Ending::Released),
            State::Waiting | State::Refused(_) => None,
        }
    }
}

impl Guests {
    /// A guest that can be called.
    fn idle(&mut self, holder: Holder) -> &mut Puppet {
        self.poll(holder);
        match &mut self.guests[holder.0] {
            Guest::Idle(puppet) => puppet,
            Guest::Asking(ask, _) => panic!("{holder:?} stands still with {ask:?}"),
            Guest::Ended(_) => panic!("{holder:?} has ended"),
        }
    }

    fn polled(&mut self, ask: Ask) -> State {
        let (holder, state) = self.asks[ask.0].clone();
        if matches!(state, State::Waiting) {
            self.poll(holder);
        }
        self.asks[ask.0].1.clone()
    }

    /// Looks whether what a guest asked has been answered.
    fn poll(&mut self, holder: Holder) {
        let Guest::Asking(ask, asking) = &mut self.guests[holder.0] else {
            return;
        };
        let mut context = Context::from_waker(Waker::noop());
        let Poll::Ready((mut puppet, answer)) = asking.as_mut().poll(&mut context) else {
            return;
        };
        let ask = *ask;
        self.asks[ask.0].1 = match answer {
            Ok(lease) => State::Held {
                lease,
                fence: call!(&mut puppet, call_fence(lease)),
            },
            Err(error) => State::Refused(why(error)),
        };
        self.guests[holder.0] = Guest::Idle(puppet);
    }
}

impl State {
    fn drop(&mut self) {
        *self = match *self {
            State::Waiting => State::Refused(Why::Closed),
            State::Held { fence, .. } => State::Gone(fence),
            State::Refused(_) | State::Gone(_) => return,
        };
    }
}

/// Compiled once.
fn puppets() -> &'static Puppets {
    static PUPPETS: OnceLock<Puppets> = OnceLock::new();
    PUPPETS.get_or_init(|| Puppets::new().expect("the puppet fits"))
}

fn asking(mut puppet: Box<Puppet>, opened: u32, key: String, wait: Wait) -> Asking {
    Box::pin(async move {
        let (strings, store) = puppet.strings();
        let answer = match wait {
            Wait::AsOpened => strings.call_hold(store, opened, &key, None).await,
            Wait::For(wait) => strings.call_hold(store, opened, &key, Some(wait)).await,
            Wait::Try => {
                let tried = strings.call_try_hold(store, opened, &key).await;
                tried.map(|tried| tried.and_then(|lease| lease.ok_or(LockError::InUse)))
            }
        };
        (puppet, answer.expect("no trap"))
    })
}

fn why(error: LockError) -> Why {
    match error {
        LockError::InUse => Why::InUse,
        LockError::HeldByCaller => Why::HeldByCaller,
        LockError::Invalid(why) => Why::Invalid(why),
        LockError::TooMany(why) => Why::TooMany(why),
        LockError::Closed => Why::Closed,
        LockError::Unavailable(why) => Why::Unavailable(why),
    }
}

fn ending(ending: puppet::Ending) -> Ending {
    match ending {
        puppet::Ending::Released => Ending::Released,
        puppet::Ending::Expired => Ending::Expired,
        puppet::Ending::Revoked => Ending::Revoked,
        puppet::Ending::Broken => Ending::Broken,
        puppet::Ending::Closed => Ending::Closed,
        puppet::Ending::Unreachable => panic!("nothing is unreachable in this process"),
    }
}
