//! What holders and operators ask: each command is of the session whose it is to ask.

use witlock_engine::{Command, LeaseId, Request};
use witlock_session::wire;
use witlock_session::wire::to_store::Body as Said;

use crate::heard::Hearing;
use crate::ledger::{Ask, Tag};

impl Hearing<'_> {
    pub fn hold(&mut self, number: u64, said: &wire::Hold) {
        let Some(command) = self.take(|it| matches!(it, Command::Hold(_))) else {
            return assert!(!self.is_whole, "an ask came to nothing");
        };
        let Command::Hold(hold) = &command else {
            return;
        };
        assert_eq!(hold.session, number);
        assert_eq!(hold.request, Some(Request::from(said.ask)));
        assert_eq!((&*hold.name, &*hold.key), (&*said.name, &*said.key));
        assert_eq!((hold.limit, hold.wait), (said.limit, said.wait));
        let options = &hold.options;
        assert_eq!((options.ttl, options.max_hold), (said.ttl, said.max_hold));
        let is_stale = self.store.driven.has_untold_trap();
        self.store.driven.ledger.note_hold(&command, is_stale);
        self.store.tally.count("asks");
    }

    pub fn cancel(&mut self, number: u64, ask: u64) {
        let ledger = &self.store.driven.ledger;
        let is_it = |it: &Ask| (it.session, it.ask) == (number, ask);
        let waits = ledger.of(number).any(|it| is_it(it) && it.fence.is_none());
        let known = ledger.asks.clone();
        let is_asked = |it: &Command| match it {
            Command::Cancel(ticket) => known.get(ticket).is_none_or(is_it),
            _ => false,
        };
        let cancelled = self.take(is_asked);
        // Asked again, it has two tickets until the engine has said more.
        while self.take(is_asked).is_some() {}
        let must = self.is_alone && self.is_whole && waits;
        assert!(!must || cancelled.is_some(), "it waits on");
        if must {
            self.store.tally.count("cancelled");
        }
    }

    pub fn renew(&mut self, number: u64, lease: wire::Lease) {
        let known = self.known(number, lease.into());
        let is_it =
            |it: &Command| matches!(it, Command::Renew { lease, .. } if Some(*lease) == known);
        let Some(Command::Renew { tag, lease }) = self.take(is_it) else {
            return self.assert_not_had(number, lease.into());
        };
        let (session, fence) = (number, lease.fence);
        self.assert_may_have(session, fence);
        let tags = &mut self.store.driven.ledger.tags;
        tags.insert(tag, Tag::Renew { session, fence });
    }

    pub fn release(&mut self, number: u64, lease: wire::Lease) {
        let known = self.known(number, lease.into());
        let is_it =
            |it: &Command| matches!(it, Command::Release { lease, .. } if Some(*lease) == known);
        let Some(Command::Release { tag, lease }) = self.take(is_it) else {
            return self.assert_not_had(number, lease.into());
        };
        let (session, fence) = (number, lease.fence);
        self.assert_may_have(session, fence);
        let tags = &mut self.store.driven.ledger.tags;
        tags.insert(tag, Tag::Release { session, fence });
    }

    /// LOCK-10: what the engine knows a lease by, if it is the session's and named as
    /// it was told.
    fn known(&self, number: u64, named: LeaseId) -> Option<LeaseId> {
        let given = self.store.driven.ledger.given.get(&named.fence)?;
        ((given.session, given.told) == (number, named)).then_some(given.id)
    }

    /// The engine hears nothing of a lease that ended.
    fn assert_may_have(&self, session: u64, fence: u64) {
        let has = self.store.driven.ledger.has(session, fence);
        assert!(
            has || !self.is_alone,
            "the engine hears of a lease that ended"
        );
    }

    /// The engine hears nothing of what a session has not, or does not know.
    fn assert_not_had(&mut self, number: u64, named: LeaseId) {
        let ledger = &self.store.driven.ledger;
        let given = ledger.given.get(&named.fence);
        if given.is_some_and(|given| given.told != named) {
            self.wrong.insert(named.fence);
            return;
        }
        let must = self.is_alone && self.is_whole && ledger.has(number, named.fence);
        assert!(!must, "the engine does not hear of a lease");
        if ledger.held.contains(&named.fence) {
            self.store.tally.count("another's");
        }
    }

    pub fn leave(&mut self, own: u64, number: u64) {
        let left = self.take(|it| *it == Command::EndSession(number));
        if left.is_none() {
            return assert!(!self.is_whole, "it is kept");
        }
        self.store.sessions.remove(&number);
        let ear = self.store.ears.get_mut(&self.id).expect("a connection");
        ear.sessions.remove(&own);
        self.store.tally.count("left");
    }

    /// Whether it is an operator's to say.
    pub fn operate(&mut self, said: &Said) -> bool {
        let own = match said {
            Said::ListHoldings(it) => it.tag,
            Said::ListWaiters(it) => it.tag,
            Said::Break(it) => it.tag,
            Said::Count(it) => it.tag,
            _ => return false,
        };
        let is_operator = self.store.ears[&self.id].is_operator;
        let tag = self.commands.peek().and_then(operators_tag);
        if let Some(tag) = tag {
            assert!(is_operator, "it is no operator");
            self.commands.next();
            let tags = &mut self.store.driven.ledger.tags;
            tags.insert(tag, Tag::Operator(self.id, own));
        }
        assert!(tag.is_some() || !is_operator || !self.is_whole);
        true
    }
}

fn operators_tag(command: &Command) -> Option<u64> {
    match command {
        Command::ListHoldings { tag, .. }
        | Command::ListWaiters { tag, .. }
        | Command::Break { tag, .. }
        | Command::Count { tag } => Some(*tag),
        _ => None,
    }
}
