//! The engine as a face.

use witlock_engine::{OpenSession, Options, Request, Resume};
use witlock_tests::{Command, Event, Hold, Machine};

use crate::driver::{Asked, Driven};
use crate::face::{
    Act, Answer, Ask, Counts, Ending, Face, Fences, Holder, Holding, Kind, Lock, Need, Page, Terms,
    Wait, Waiting, Why,
};

const NS_PER_MS: u64 = 1_000_000;

impl<M: Machine> Face for Driven<M> {
    fn name() -> String {
        M::NAME.into()
    }

    fn cannot(_: Need) -> Option<&'static str> {
        None
    }

    fn start() -> Self {
        Driven::new()
    }

    fn holder(&mut self, kind: Kind) -> Holder {
        let session = self.number();
        self.command(Command::OpenSession(OpenSession {
            session,
            remote: kind.ttl,
            max_held: kind.max_held,
            max_waiting: kind.max_waiting,
        }));
        self.holders.push((session, kind));
        Holder(self.holders.len() - 1)
    }

    fn end(&mut self, holder: Holder) {
        let session = self.session(holder);
        self.command(Command::EndSession(session));
    }

    fn open(&mut self, holder: Holder, terms: &Terms) -> Result<Lock, Why> {
        let answer = self.query(|tag| {
            Command::Check(witlock_engine::Check {
                tag,
                name: terms.name.clone(),
                limit: terms.limit,
                options: options(terms),
            })
        });
        match answer {
            Some(Event::Fine { .. }) => {}
            Some(Event::Invalid { why, .. }) => return Err(Why::Invalid(why)),
            other => panic!("a check was answered by {other:?}"),
        }
        self.locks.push((holder.0, terms.clone()));
        Ok(Lock(self.locks.len() - 1))
    }

    fn ask(&mut self, lock: Lock, key: &str, wait: Wait) -> Ask {
        let (holder, terms) = &self.locks[lock.0];
        let wait = match wait {
            Wait::AsOpened => terms.wait,
            Wait::For(wait) => Some(wait),
            Wait::Try => Some(0),
        };
        // Only over a connection is anything asked again.
        let is_remote = self.holders[*holder].1.ttl;
        let request = is_remote.then_some(Request::MAX - self.asks.len() as u128);
        self.send(Asked {
            lock: lock.0,
            key: key.to_owned(),
            wait,
            request,
            grant: None,
            refused: None,
            ended: None,
        })
    }

    fn answer(&mut self, ask: Ask) -> Answer {
        let asked = &self.asks[ask.0];
        match (&asked.grant, &asked.refused) {
            (Some(grant), _) => Answer::Held(grant.lease.fence),
            (None, Some(why)) => Answer::Refused(why.clone()),
            (None, None) => Answer::Waiting,
        }
    }

    fn cancel(&mut self, ask: Ask) {
        self.together(&[Act::Cancel(ask)]);
    }

    fn release(&mut self, ask: Ask) -> Result<(), Ending> {
        let lease = self.lease(ask);
        match self.query(|tag| Command::Release { tag, lease }) {
            None => Ok(()),
            Some(Event::NotHeld { .. }) => Err(self.how(ask)),
            other => panic!("a release was answered by {other:?}"),
        }
    }

    fn ended(&mut self, ask: Ask) -> Option<Ending> {
        self.asks[ask.0].ended
    }

    fn together(&mut self, acts: &[Act]) {
        for act in acts {
            let command = match *act {
                Act::Cancel(ask) => Command::Cancel(ask.0 as u64),
                Act::End(holder) => Command::EndSession(self.session(holder)),
                Act::Release(ask) => Command::Release {
                    tag: self.number(),
                    lease: self.lease(ask),
                },
            };
            self.queue(command);
        }
        self.run();
        self.let_go_of_cancelled(acts);
    }

    fn holdings(&mut self, cursor: Option<u64>) -> Page<Holding, u64> {
        let cursor = cursor.unwrap_or(0);
        match self.query(|tag| Command::ListHoldings { tag, cursor }) {
            Some(Event::Holdings { page, .. }) => Page {
                items: page.items.into_iter().map(holding).collect(),
                next: page.next,
            },
            other => panic!("a listing was answered by {other:?}"),
        }
    }

    fn waiters(&mut self, cursor: Option<(u64, u64)>) -> Page<Waiting, (u64, u64)> {
        let cursor = cursor.unwrap_or((0, 0));
        match self.query(|tag| Command::ListWaiters { tag, cursor }) {
            Some(Event::Waiters { page, .. }) => Page {
                items: page.items.into_iter().map(waiting).collect(),
                next: page.next,
            },
            other => panic!("a listing was answered by {other:?}"),
        }
    }

    fn break_lease(&mut self, held: &Holding) -> bool {
        let (fence, place) = (held.fence, held.place);
        let answer = self.query(|tag| Command::Break { tag, fence, place });
        is_fine(answer)
    }

    fn counts(&mut self) -> Counts {
        match self.query(|tag| Command::Count { tag }) {
            Some(Event::Counted { counts, .. }) => counts,
            other => panic!("a count was answered by {other:?}"),
        }
    }

    fn advance(&mut self, milliseconds: u64) {
        self.run_until(self.now + milliseconds * NS_PER_MS);
    }

    fn sleep(&mut self, milliseconds: u64) {
        self.now += milliseconds * NS_PER_MS;
    }

    fn close(&mut self) {
        self.command(Command::Close);
    }

    fn reopen(&mut self) {
        self.restart();
    }

    fn set_fences(&mut self, fences: Fences) {
        self.fences = fences;
        self.run();
    }

    fn renew(&mut self, ask: Ask) -> Result<Option<u64>, Ending> {
        let lease = self.lease(ask);
        match self.query(|tag| Command::Renew { tag, lease }) {
            Some(Event::Renewed { deadline, .. }) => {
                Ok(deadline.map(|at| (at - self.now) / NS_PER_MS))
            }
            Some(Event::NotHeld { .. }) => Err(self.how(ask)),
            other => panic!("a renewal was answered by {other:?}"),
        }
    }

    fn ask_again(&mut self, ask: Ask) -> Ask {
        let asked = &self.asks[ask.0];
        let again = Asked {
            key: asked.key.clone(),
            grant: None,
            refused: None,
            ended: None,
            ..*asked
        };
        self.send(again)
    }

    fn cut(&mut self, holder: Holder) {
        let session = self.session(holder);
        self.command(Command::Suspend(session));
    }

    fn come_back(&mut self, holder: Holder, leases: &[Ask], asks: &[Ask]) -> bool {
        let session = self.session(holder);
        let leases = leases.iter().map(|ask| self.lease(*ask)).collect();
        let requests = asks.iter().filter_map(|ask| self.asks[ask.0].request);
        let requests = requests.collect();
        let answer = self.query(|tag| {
            Command::Resume(Resume {
                tag,
                session,
                leases,
                requests,
            })
        });
        is_fine(answer)
    }
}

impl<M: Machine> Driven<M> {
    fn session(&self, holder: Holder) -> u64 {
        self.holders[holder.0].0
    }

    fn lease(&self, ask: Ask) -> witlock_engine::LeaseId {
        self.asks[ask.0].grant.expect("a lease").lease
    }

    /// How a lease ended that the engine says is not held.
    fn how(&self, ask: Ask) -> Ending {
        self.asks[ask.0].ended.expect("an end of what is not held")
    }

    fn send(&mut self, asked: Asked) -> Ask {
        let ask = Ask(self.asks.len());
        let (holder, terms) = &self.locks[asked.lock];
        let (session, kind) = self.holders[*holder];
        let hold = Hold {
            ticket: ask.0 as u64,
            session,
            name: terms.name.clone().into(),
            limit: terms.limit,
            key: asked.key.clone().into(),
            wait: asked.wait,
            options: options(terms),
            request: asked.request,
            alone: kind.alone && asked.wait != Some(0),
        };
        self.asks.push(asked);
        self.command(Command::Hold(hold));
        ask
    }

    /// What was granted to who was cancelled is released, as every host does.
    fn let_go_of_cancelled(&mut self, acts: &[Act]) {
        for act in acts {
            if let Act::Cancel(ask) = *act
                && self.asks[ask.0].grant.is_some()
                && self.asks[ask.0].ended.is_none()
            {
                let (tag, lease) = (self.number(), self.lease(ask));
                self.queue(Command::Release { tag, lease });
            }
        }
        self.run();
    }
}

fn options(terms: &Terms) -> Options {
    Options {
        ttl: terms.ttl,
        max_hold: terms.max_hold,
        label: terms.label.clone(),
    }
}

fn is_fine(answer: Option<Event>) -> bool {
    match answer {
        Some(Event::Fine { .. }) => true,
        Some(Event::NotHeld { .. }) => false,
        other => panic!("answered by {other:?}"),
    }
}

fn holding(held: witlock_engine::Holding) -> Holding {
    Holding {
        name: held.name,
        limit: held.limit,
        key: held.key,
        label: held.label,
        fence: held.fence,
        place: held.place,
        held: held.held / NS_PER_MS,
        left: held.left.map(|left| left / NS_PER_MS),
    }
}

fn waiting(waiting: witlock_engine::Waiting) -> Waiting {
    Waiting {
        name: waiting.name,
        limit: waiting.limit,
        key: waiting.key,
        label: waiting.label,
        waited: waiting.waited / NS_PER_MS,
        left: waiting.left / NS_PER_MS,
    }
}
