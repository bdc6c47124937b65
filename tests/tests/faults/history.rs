//! What was recorded, put together by ask and hold.

use std::collections::HashMap;

use witlock_tests::record::{Answer, AskNumber, Claim, Moment, Part, Record};

/// From how long on a holder counts as not having run. What takes less happens to
/// any program; the store's deadline, and the next holder's way to the resource, come
/// that much after the holder's own.
pub const GAP: u64 = 200_000;

#[derive(Default)]
pub struct History {
    /// Those that are not answered.
    pub open: HashMap<AskNumber, Asked>,
    pub answered: Vec<Answered>,
    pub holds: HashMap<AskNumber, Hold>,
    /// Records that don't fit those before, and claims that the guard should have
    /// answered otherwise.
    pub misfits: Vec<String>,
    /// The newest fence by which each key of a lock was claimed.
    newest: HashMap<String, u64>,
}

#[derive(Debug, Clone, Copy)]
pub struct Asked {
    pub at: Moment,
    pub wait: u64,
}

#[derive(Debug, Clone, Copy)]
pub struct Answered {
    pub ask: AskNumber,
    pub asked: Asked,
    pub at: Moment,
    pub answer: Answer,
}

/// One hold, as its claims tell it.
#[derive(Debug, Clone)]
pub struct Hold {
    pub ask: AskNumber,
    pub key: String,
    pub limit: u32,
    pub ttl: u64,
    pub fence: u64,
    /// Read before it was asked for: the grant came later.
    pub asked: Moment,
    /// When its holder first looked whether it lasts: the grant came earlier.
    pub began: Moment,
    /// When the resource heard of it: later than it began.
    pub heard: Moment,
    /// The latest moment for which the resource has the holder's word. Between its
    /// claims, and from the last on, a holder may go on without one: that errs to
    /// earlier, by which an overlap can be missed, but not one with who came
    /// before the `deadline`.
    pub live_until: Moment,
    /// The lease's own deadline, as it was known at the last claim: renewed since,
    /// it is later.
    pub deadline: Moment,
    /// A claim by a lease whose deadline had come as the holder looked.
    pub believed: Option<Said>,
    /// When it said that it lets go, which it does after that: whether it came to it,
    /// and to say how that went, is open where it was killed.
    pub let_go: Option<Moment>,
    pub over: Option<Over>,
    /// Whether its holder did not run between looking and beginning.
    pub began_late: bool,
    /// Claims before which the holder did not run, and that were refused.
    pub refused: Vec<Said>,
    /// The last claim, of which the holder has not said how long it took. Who was
    /// killed never says it.
    unsettled: Option<Said>,
}

/// A claim as the resource heard it.
#[derive(Debug, Clone, Copy)]
pub struct Said {
    pub part: Part,
    pub checked: Moment,
    pub stamp: Moment,
    pub accepted: bool,
}

/// How a hold ended, as its holder said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Over {
    /// It was let go, and this is how that went.
    Released(String),
    /// The holder saw at this moment that its lease had ended.
    Lost(Moment, String),
}

impl History {
    /// A record was read at this moment; of a claim, whether it was accepted.
    pub fn add(&mut self, stamp: Moment, record: Record, accepted: Option<bool>) {
        let text = record.to_string();
        if self.fits(stamp, record, accepted).is_none() {
            self.misfits.push(text);
        }
    }

    fn fits(&mut self, stamp: Moment, record: Record, accepted: Option<bool>) -> Option<()> {
        match record {
            Record::Asked { ask, at, wait } => {
                let before = self.open.insert(ask, Asked { at, wait });
                before.is_none().then_some(())
            }
            Record::Answered { ask, at, answer } => {
                let asked = self.open.remove(&ask)?;
                self.answered.push(Answered {
                    ask,
                    asked,
                    at,
                    answer,
                });
                Some(())
            }
            Record::Claim(claim) => self.claim(stamp, claim, accepted?),
            Record::Lost { ask, at, how, gap } => {
                // One that ended before it began at the resource is nothing to it.
                let Some(hold) = self.holds.get_mut(&ask) else {
                    return Some(());
                };
                hold.end(gap, Over::Lost(at, how))
            }
            Record::Released { ask, how, gap } => {
                let hold = self.holds.get_mut(&ask)?;
                hold.let_go?;
                hold.end(gap, Over::Released(how))
            }
        }
    }

    fn claim(&mut self, stamp: Moment, claim: Claim, accepted: bool) -> Option<()> {
        let newest = self.newest.entry(claim.key.clone()).or_default();
        let is_older = claim.fence < *newest;
        *newest = claim.fence.max(*newest);
        if accepted == (is_older && claim.limit == 1) {
            return None;
        }
        match claim.part {
            Part::Begin => self.begin(stamp, claim, accepted),
            _ => self
                .holds
                .get_mut(&claim.ask)?
                .claim(stamp, &claim, accepted),
        }
    }

    fn begin(&mut self, stamp: Moment, claim: Claim, accepted: bool) -> Option<()> {
        let is_granted = |answered: &&Answered| answered.ask == claim.ask;
        let answered = self.answered.iter().rev().find(is_granted)?;
        let mut hold = Hold {
            ask: claim.ask,
            key: claim.key.clone(),
            limit: claim.limit,
            ttl: claim.ttl,
            fence: claim.fence,
            asked: answered.asked.at,
            began: claim.checked,
            heard: stamp,
            live_until: 0,
            deadline: 0,
            believed: None,
            let_go: None,
            over: None,
            began_late: false,
            refused: Vec::new(),
            unsettled: None,
        };
        hold.claim(stamp, &claim, accepted)?;
        self.holds.insert(claim.ask, hold).is_none().then_some(())
    }
}

impl Hold {
    fn claim(&mut self, stamp: Moment, claim: &Claim, accepted: bool) -> Option<()> {
        self.settle(claim.gap);
        let is_over = self.over.is_some() || self.let_go.is_some();
        let said = Said {
            part: claim.part,
            checked: claim.checked,
            stamp,
            accepted,
        };
        self.unsettled = Some(said);
        if claim.part == Part::End {
            self.let_go = Some(stamp);
        }
        if claim.deadline <= claim.checked {
            self.believed = Some(said);
        }
        self.deadline = self.deadline.max(claim.deadline);
        (!is_over && self.fence == claim.fence).then_some(())
    }

    fn end(&mut self, gap: u64, over: Over) -> Option<()> {
        self.settle(gap);
        self.over.replace(over).is_none().then_some(())
    }

    /// The holder said how long it did not run as it made its last claim. A claim is
    /// good for the moment at which it came to the resource. If its holder did not
    /// run in between, it is good only for the moment of looking.
    fn settle(&mut self, gap: u64) {
        let Some(claim) = self.unsettled.take() else {
            return;
        };
        if gap < GAP {
            self.live_until = self.live_until.max(claim.stamp);
        } else {
            self.live_until = self.live_until.max(claim.checked);
            self.began_late |= claim.part == Part::Begin;
            self.refused.extend((!claim.accepted).then_some(claim));
        }
    }

    /// As if the holder had said how long its last claim took: no time, unless it was
    /// paused meanwhile.
    pub fn settled(&self, was_paused: impl Fn(Moment, Moment) -> bool) -> Hold {
        let mut hold = self.clone();
        if let Some(Said { checked, stamp, .. }) = self.unsettled {
            let paused = was_paused(checked, stamp);
            hold.settle(if paused { stamp - checked } else { 0 });
        }
        hold
    }
}
