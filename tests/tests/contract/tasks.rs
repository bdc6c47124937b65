//! Guests of WASI 0.3: one instance of the program `tasks` for each holder.

use witlock::Store;
use witlock_tests::tasks::Tasks;

use crate::face::{Answer, Ask, Ending, Holder, Kind, Lock, Need, Terms, Wait, Why};
use crate::hosted::{self, Users};
use crate::lines::{self, Dropped};
use crate::reached::Reached;

/// Guests, and what they asked.
#[derive(Default)]
pub struct TaskGuests {
    /// None where it ended.
    guests: Vec<Option<Guest>>,
    /// Whose it is, and its number there.
    locks: Vec<(Holder, usize)>,
    asks: Vec<Asked>,
}

struct Guest {
    tasks: Tasks,
    opened: usize,
    asked: usize,
}

#[derive(Clone, Copy)]
struct Asked {
    holder: Holder,
    number: usize,
    /// Once it is cancelled, or its holder ended.
    dropped: Option<Dropped>,
}

impl Users for TaskGuests {
    const NAME: &'static str = "p3 guest";

    fn cannot(need: Need) -> Option<&'static str> {
        match need {
            Need::Ttl => Some("leases of a store in this process last until they are released"),
            Need::Connection => Some("there is no connection in this process"),
            Need::Alone => {
                Some("a guest of WASI 0.3 goes on while it waits; of both WASIs: tests/tasks.rs")
            }
            Need::Crowd => Some("thousands of instances take minutes; of tasks: tests/tasks.rs"),
            Need::Fences => Some("host/tests/store.rs has storages that fail in their own time"),
            Need::InProcess
            | Need::SameClock
            | Need::Leave
            | Need::Tasks
            | Need::HolderBounds
            | Need::Reopen
            | Need::Close
            | Need::Listing => None,
        }
    }

    fn holder(&mut self, reached: &impl Reached, kind: Kind) -> Holder {
        self.guests.push(Some(Guest {
            tasks: Tasks::hosted(hosted::ctx(reached.store(), kind)),
            opened: 0,
            asked: 0,
        }));
        Holder(self.guests.len() - 1)
    }

    /// By turns as guests end: returning, and by a trap.
    fn end(&mut self, holder: Holder) {
        for ask in 0..self.asks.len() {
            if self.asks[ask].holder == holder {
                self.note_dropped(ask);
            }
        }
        let Some(mut guest) = self.guests[holder.0].take() else {
            return;
        };
        let traps = holder.0 % 2 == 1;
        if traps {
            assert_eq!(guest.tasks.try_say("trap"), None);
        }
        assert_eq!(guest.tasks.end().is_err(), traps);
    }

    fn open(&mut self, _: &Store, holder: Holder, terms: &Terms) -> Result<Lock, Why> {
        let guest = self.guest(holder);
        lines::open(&mut guest.tasks, terms)?;
        let number = guest.opened;
        guest.opened += 1;
        self.locks.push((holder, number));
        Ok(Lock(self.locks.len() - 1))
    }

    fn ask(&mut self, lock: Lock, key: &str, wait: Wait) -> Ask {
        let (holder, opened) = self.locks[lock.0];
        let guest = self.guest(holder);
        lines::ask(&mut guest.tasks, opened, key, wait);
        let number = guest.asked;
        guest.asked += 1;
        self.asks.push(Asked {
            holder,
            number,
            dropped: None,
        });
        Ask(self.asks.len() - 1)
    }

    fn answer(&mut self, ask: Ask) -> Answer {
        let asked = self.asks[ask.0];
        match asked.dropped {
            Some(dropped) => dropped.answer(),
            None => lines::answer(&mut self.guest(asked.holder).tasks, asked.number),
        }
    }

    fn cancel(&mut self, ask: Ask) {
        self.note_dropped(ask.0);
        let Asked { holder, number, .. } = self.asks[ask.0];
        if let Some(guest) = &mut self.guests[holder.0] {
            lines::cancel(&mut guest.tasks, number);
        }
    }

    fn release(&mut self, ask: Ask) -> Result<(), Ending> {
        let Asked { holder, number, .. } = self.asks[ask.0];
        lines::release(&mut self.guest(holder).tasks, number)
    }

    fn ended(&mut self, ask: Ask) -> Option<Ending> {
        let asked = self.asks[ask.0];
        match asked.dropped {
            Some(dropped) => dropped.ended(),
            None => lines::ended(&mut self.guest(asked.holder).tasks, asked.number),
        }
    }
}

impl TaskGuests {
    fn guest(&mut self, holder: Holder) -> &mut Guest {
        self.guests[holder.0].as_mut().expect("it has not ended")
    }

    fn note_dropped(&mut self, ask: usize) {
        if self.asks[ask].dropped.is_none() {
            let dropped = Dropped::after(&Users::answer(self, Ask(ask)));
            self.asks[ask].dropped = Some(dropped);
        }
    }
}
