//! What an engine lists, beside what the model has.

use witlock_engine::{Holding, Page, Waiting};

use super::model::Entry;
use super::world::{World, same};
use crate::{Command, Event, Machine};

impl<M: Machine> World<'_, M> {
    /// What is listed, beside what the model has.
    pub(super) fn compare_listings(&mut self) -> Result<(), String> {
        let holdings = self.list_holdings()?;
        self.places = holdings.iter().map(|it| (it.fence, it.place)).collect();
        let mut listed: Vec<_> = holdings.iter().map(shown_lease).collect();
        listed.sort_unstable();
        let mut held: Vec<_> = self.model.held.iter().collect();
        held.sort_by_key(|it| it.serial);
        let held: Vec<_> = held.into_iter().map(|it| self.shown(it)).collect();
        same("what is held", &listed, &held)?;
        let mut waiting: Vec<_> = self.list_waiters()?.iter().map(shown_waiter).collect();
        // Lines come one behind the other, in whatever order.
        waiting.sort_by_key(|it| (it.1, it.2.clone()));
        let mut line: Vec<_> = self.model.line.iter().map(|it| self.shown(it)).collect();
        line.iter_mut().for_each(|it| it.0 = 0);
        line.sort_by_key(|it| (it.1, it.2.clone()));
        same("who waits", &waiting, &line)
    }

    fn list_holdings(&mut self) -> Result<Vec<Holding>, String> {
        match self.list(Command::ListHoldings { tag: 0, cursor: 0 }) {
            Some(Event::Holdings {
                page: Page { items, next: None },
                ..
            }) => Ok(items),
            other => Err(format!("a listing gave {other:?}")),
        }
    }

    fn list_waiters(&mut self) -> Result<Vec<Waiting>, String> {
        let cursor = (0, 0);
        match self.list(Command::ListWaiters { tag: 0, cursor }) {
            Some(Event::Waiters {
                page: Page { items, next: None },
                ..
            }) => Ok(items),
            other => Err(format!("a listing gave {other:?}")),
        }
    }

    fn list(&mut self, listing: Command) -> Option<Event> {
        let outcome = self.machine.step(self.model.now, vec![listing]);
        outcome.events.into_iter().next()
    }

    fn shown(&self, it: &Entry) -> Shown {
        let left = (it.until() < u64::MAX).then(|| it.until() - self.model.now);
        let since = self.model.now - it.since;
        let key = it.ask.key.to_string();
        (it.serial, it.ask.limit, key, it.ask.session, since, left)
    }
}

/// Fence, limit, key, session, for how long so far, and how long yet.
type Shown = (u64, Option<u32>, String, u64, u64, Option<u64>);

fn shown_lease(it: &Holding) -> Shown {
    let key = it.key.clone();
    (it.fence, it.limit, key, it.session, it.held, it.left)
}

fn shown_waiter(it: &Waiting) -> Shown {
    let key = it.key.clone();
    (0, it.limit, key, it.session, it.waited, Some(it.left))
}
