//! A connection, behind a store's handle.

use std::sync::Arc;

use witlock_engine::{Options, bounds};
use witlock_session::client::Terms as Asked;
use witlock_session::wire::{self, to_client::Body, to_store};

use super::answers;
use super::remote::Remote;
use crate::LockError;
use crate::backend::{Answer, Backend};
use crate::driver::{Ask, Hold, Phase, wit};
use crate::error::{BreakError, ListError};
use crate::listing::{Counts, Holding, HoldingsCursor, LeaseRef, Page, WaitersCursor, Waiting};
use crate::lock::Terms;

impl Backend for Remote {
    fn now(&self) -> u64 {
        self.clock_now()
    }

    fn open_session(&self, max_held: Option<u32>, max_waiting: Option<u32>) -> u64 {
        self.with(|state, _| state.open_session(max_held, max_waiting))
    }

    fn end_session(&self, session: u64) {
        self.with(|state, now| state.client.end_session(now, session));
    }

    fn check(&self, terms: &Terms) -> Result<(), LockError> {
        if self.is_closed() {
            return Err(LockError::Closed);
        }
        let checked = bounds::check(&terms.name, terms.limit, &options(&terms.options));
        checked.map_err(|why| LockError::Invalid(why.to_string()))
    }

    fn ask(&self, hold: &Hold) -> Result<Arc<Ask>, LockError> {
        let terms = Asked {
            name: hold.name,
            limit: hold.limit,
            key: hold.key,
            wait: hold.wait,
            options: options(hold.options),
            alone: hold.alone,
        };
        self.with(|state, now| {
            if state.closed {
                return Err(LockError::Closed);
            }
            let number = state.number();
            let asked = state.client.ask(now, hold.session, number, terms);
            asked.map_err(|why| LockError::Invalid(why.to_string()))?;
            let ask = Arc::new(Ask::new(number));
            state.asks.insert(number, ask.clone());
            Ok(ask)
        })
    }

    fn abandon(&self, ask: &Ask) {
        match ask.abandon() {
            Phase::Waiting => self.with(|state, now| {
                // It may have been granted just now.
                state.client.cancel(now, ask.number);
                state.client.release(now, ask.number);
                state.asks.remove(&ask.number);
            }),
            Phase::Granted(_) | Phase::Ended(..) => self.release(ask),
            Phase::Refused(_) => {}
        }
    }

    fn release(&self, ask: &Ask) {
        self.with(|state, now| state.client.release(now, ask.number));
    }

    fn settle(&self, _: &Ask) {
        self.go_ahead();
    }

    fn holdings(
        &self,
        from: Option<HoldingsCursor>,
    ) -> Answer<'_, Result<Page<Holding, HoldingsCursor>, ListError>> {
        let cursor = from.map_or(0, |from| from.0);
        let list = move |tag| to_store::Body::ListHoldings(wire::ListHoldings { tag, cursor });
        Box::pin(async move {
            match self.question(list).await? {
                Body::Holdings(page) => Ok(Page {
                    items: page.items.into_iter().map(answers::holding).collect(),
                    next: page.next.map(HoldingsCursor),
                }),
                _ => Err(unexpected()),
            }
        })
    }

    fn waiters(
        &self,
        from: Option<WaitersCursor>,
    ) -> Answer<'_, Result<Page<Waiting, WaitersCursor>, ListError>> {
        let (key, arrival) = from.map_or((0, 0), |from| (from.key, from.arrival));
        let list = move |tag| to_store::Body::ListWaiters(wire::ListWaiters { tag, key, arrival });
        Box::pin(async move {
            match self.question(list).await? {
                Body::Waiters(page) => Ok(Page {
                    items: page.items.into_iter().map(answers::waiting).collect(),
                    next: page.next.map(|at| WaitersCursor {
                        key: at.key,
                        arrival: at.arrival,
                    }),
                }),
                _ => Err(unexpected()),
            }
        })
    }

    fn break_lease(&self, lease: LeaseRef) -> Answer<'_, Result<(), BreakError>> {
        let LeaseRef { fence, place } = lease;
        let body = move |tag| to_store::Body::Break(wire::Break { tag, fence, place });
        Box::pin(async move {
            match self.question(body).await? {
                Body::Broke(broke) if broke.held => Ok(()),
                Body::Broke(_) => Err(BreakError::NotHeld),
                _ => Err(unexpected().into()),
            }
        })
    }

    fn counts(&self) -> Answer<'_, Result<Counts, ListError>> {
        let count = |tag| to_store::Body::Count(wire::Count { tag });
        Box::pin(async move {
            match self.question(count).await? {
                Body::Counted(counted) => Ok(answers::counts(&counted)),
                _ => Err(unexpected()),
            }
        })
    }
}

fn unexpected() -> ListError {
    ListError::Unavailable("the server answered what was not asked".into())
}

fn options(options: &wit::Options) -> Options {
    Options {
        ttl: options.ttl,
        max_hold: options.max_hold,
        label: options.label.clone(),
    }
}
