//! The engine in this process, behind a store's handle.

use std::sync::Arc;
use std::time::Duration;

use super::asks::{Ask, Phase, lock};
use super::machine::{Hold, Machine, wit};
use super::{Driver, block_on};
use crate::LockError;
use crate::backend::{Answer, Backend};
use crate::error::{BreakError, ListError};
use crate::listing::{Counts, Holding, HoldingsCursor, LeaseRef, Page, WaitersCursor, Waiting};
use crate::lock::Terms;

impl Backend for Driver {
    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn open_session(&self, max_held: Option<u32>, max_waiting: Option<u32>) -> u64 {
        let mut queue = lock(&self.queue);
        queue.last_session += 1;
        let open = wit::OpenSession {
            session: queue.last_session,
            remote: false,
            max_held,
            max_waiting,
        };
        queue.sessions.insert(open.session, open);
        queue.commands.push(wit::Command::OpenSession(open));
        open.session
    }

    fn end_session(&self, session: u64) {
        lock(&self.queue).sessions.remove(&session);
        self.command(wit::Command::EndSession(session));
    }

    fn check(&self, terms: &Terms) -> Result<(), LockError> {
        let check = |tag| {
            wit::Command::Check(wit::Check {
                tag,
                name: terms.name.clone(),
                limit: terms.limit,
                options: terms.options.clone(),
            })
        };
        // The engine answers at once.
        match block_on(self.request(check))? {
            wit::Event::Invalid(wit::Invalid { why, .. }) => Err(LockError::Invalid(why)),
            _ => Ok(()),
        }
    }

    fn ask(&self, hold: &Hold) -> Result<Arc<Ask>, LockError> {
        let (ask, is_next) = {
            let mut queue = lock(&self.queue);
            if queue.closed {
                return Err(LockError::Closed);
            }
            (queue.asks.add_ask(), queue.commands.is_empty())
        };
        let is_plain = hold.options.label.is_none();
        let call = |machine: &mut Machine, now| machine.hold(now, ask.number, hold);
        if !(is_next && is_plain && self.step_at_once(call)) {
            self.command(hold.command(ask.number));
        }
        Ok(ask)
    }

    fn abandon(&self, ask: &Ask) {
        match ask.abandon() {
            Phase::Waiting => self.command(wit::Command::Cancel(ask.number)),
            Phase::Granted(granted) => self.release_by(granted.id),
            Phase::Refused(_) | Phase::Ended(..) => {}
        }
    }

    fn release(&self, ask: &Ask) {
        if let Phase::Granted(granted) = ask.phase() {
            self.release_by(granted.id);
        }
    }

    fn settle(&self, _: &Ask) {
        // Of a lease here nothing can be known that its deadline does not tell.
    }

    fn holdings(
        &self,
        from: Option<HoldingsCursor>,
    ) -> Answer<'_, Result<Page<Holding, HoldingsCursor>, ListError>> {
        let cursor = from.map_or(0, |cursor| cursor.0);
        let list = move |tag| wit::Command::ListHoldings(wit::ListHoldings { tag, cursor });
        Box::pin(async move {
            match self.request(list).await? {
                wit::Event::Holdings(page) => Ok(Page {
                    items: page.items.into_iter().map(holding).collect(),
                    next: page.next.map(HoldingsCursor),
                }),
                _ => Err(ListError::Closed),
            }
        })
    }

    fn waiters(
        &self,
        from: Option<WaitersCursor>,
    ) -> Answer<'_, Result<Page<Waiting, WaitersCursor>, ListError>> {
        let (key, arrival) = from.map_or((0, 0), |from| (from.key, from.arrival));
        let cursor = wit::WaitersCursor { key, arrival };
        let list = move |tag| wit::Command::ListWaiters(wit::ListWaiters { tag, cursor });
        Box::pin(async move {
            match self.request(list).await? {
                wit::Event::Waiters(page) => Ok(Page {
                    items: page.items.into_iter().map(waiting).collect(),
                    next: page.next.map(|at| WaitersCursor {
                        key: at.key,
                        arrival: at.arrival,
                    }),
                }),
                _ => Err(ListError::Closed),
            }
        })
    }

    fn break_lease(&self, lease: LeaseRef) -> Answer<'_, Result<(), BreakError>> {
        let LeaseRef { fence, place } = lease;
        let command = move |tag| wit::Command::BreakLease(wit::BreakLease { tag, fence, place });
        Box::pin(async move {
            match self.request(command).await.map_err(ListError::from)? {
                wit::Event::Fine(_) => Ok(()),
                _ => Err(BreakError::NotHeld),
            }
        })
    }

    fn counts(&self) -> Answer<'_, Result<Counts, ListError>> {
        Box::pin(async move {
            match self.request(wit::Command::Count).await? {
                wit::Event::Counted(counts) => Ok(Counts {
                    keys: counts.keys,
                    leases: counts.leases,
                    waiters: counts.waiters,
                    sessions: counts.sessions,
                }),
                _ => Err(ListError::Closed),
            }
        })
    }
}

fn holding(held: wit::Holding) -> Holding {
    Holding {
        name: held.name,
        limit: held.limit,
        key: held.key,
        label: held.label,
        client: None,
        lease: LeaseRef {
            fence: held.fence,
            place: held.place,
        },
        held: Duration::from_nanos(held.held),
        left: held.left.map(Duration::from_nanos),
    }
}

fn waiting(waiting: wit::Waiting) -> Waiting {
    Waiting {
        name: waiting.name,
        limit: waiting.limit,
        key: waiting.key,
        label: waiting.label,
        client: None,
        waited: Duration::from_nanos(waiting.waited),
        left: Duration::from_nanos(waiting.left),
    }
}
