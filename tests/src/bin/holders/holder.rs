//! One holder: it asks, holds, writes while its lease lasts, and lets go.

use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use witlock::clock::{BootClock, Clock};
use witlock::{Ending, Lease, LockError};
use witlock_tests::record::{Answer, AskNumber, Claim, Moment, Part, Record};

use crate::patience::within;
use crate::plan::{Plan, Plans};
use crate::teller::Teller;
use crate::{Process, stops};

/// In microseconds. A lease's own deadline comes 10 ms before the store's: that much
/// later than having looked is not too late.
const LONGEST_DALLYING: u64 = 5_000;

pub struct Holder<'a> {
    process: &'a Process,
    teller: Teller,
    random: Rng,
}

/// A key held.
struct Hold<'a> {
    teller: &'a Teller,
    plan: Plan,
    ask: AskNumber,
    lease: Lease,
    gap: u64,
}

fn now() -> Moment {
    BootClock.now()
}

impl<'a> Holder<'a> {
    pub fn new(process: &'a Process, teller: Teller) -> Self {
        Holder {
            process,
            teller,
            random: Rng::new(),
        }
    }

    pub fn go_on(mut self, mut plans: Box<dyn Plans + Send>) {
        while !stops() {
            let plan = plans.next();
            let ask = self.process.next_ask();
            if let Some(lease) = self.ask(&plan, ask) {
                let teller = &self.teller;
                let hold = Hold {
                    teller,
                    plan,
                    ask,
                    lease,
                    gap: 0,
                };
                hold.live(&mut self.random);
            }
        }
    }

    fn ask(&self, plan: &Plan, ask: AskNumber) -> Option<Lease> {
        let wait = plan.wait.as_nanos() as u64;
        let at = now();
        self.teller.tell(&Record::Asked { ask, at, wait });
        let lock = plan.lock.with_wait(plan.wait);
        let answered = within(plan.patience, lock.lease(&plan.key));
        let at = now();
        let answer = match &answered {
            None => Answer::Cancelled,
            Some(Ok(_)) => Answer::Granted,
            Some(Err(LockError::InUse)) => Answer::InUse,
            Some(Err(LockError::Unavailable(_))) => Answer::Unavailable,
            Some(Err(_)) => Answer::Other,
        };
        self.teller.tell(&Record::Answered { ask, at, answer });
        answered?.ok()
    }
}

impl Hold<'_> {
    fn live(mut self, random: &mut Rng) {
        if let Err(how) = self.work(random) {
            let (ask, at, how, gap) = (self.ask, now(), format!("{how:?}"), self.gap);
            self.teller.tell(&Record::Lost { ask, at, how, gap });
        } else {
            self.release(random);
        }
    }

    /// Writes until it is done, or its lease ended.
    fn work(&mut self, random: &mut Rng) -> Result<(), Ending> {
        self.claim(Part::Begin, Duration::ZERO)?;
        let begun = Instant::now();
        while begun.elapsed() < self.plan.work && !stops() {
            let dallying = match self.plan.dallies {
                true => Duration::from_micros(random.u64(0..LONGEST_DALLYING)),
                false => Duration::ZERO,
            };
            self.claim(Part::Write, dallying)?;
            thread::sleep(Duration::from_micros(random.u64(200..1_500)));
        }
        self.claim(Part::End, Duration::ZERO)
    }

    /// Says that it holds the key, if it does. Whether the resource accepts that
    /// changes nothing: of a loss, the holder is to learn from its lease.
    fn claim(&mut self, part: Part, dallying: Duration) -> Result<(), Ending> {
        let checked = now();
        if let Some(how) = self.lease.ended() {
            return Err(how);
        }
        let claim = Claim {
            part,
            ask: self.ask,
            key: self.plan.place.clone(),
            limit: self.plan.limit,
            ttl: self.plan.ttl.as_nanos() as u64,
            fence: self.lease.fence(),
            checked,
            // Read after it was looked at: what it may have been renewed to meanwhile.
            deadline: self.lease.deadline().unwrap_or(0),
            gap: self.gap,
        };
        if !dallying.is_zero() {
            thread::sleep(dallying);
        }
        let gap = &mut self.gap;
        // All that it took beyond the time that it meant to take.
        let meant = checked + dallying.as_nanos() as u64;
        self.teller
            .claim(claim, || *gap = now().saturating_sub(meant));
        Ok(())
    }

    fn release(self, random: &mut Rng) {
        let how = match random.u32(0..4) {
            0 => "Released".into(), // by dropping it
            _ => match self.lease.blocking_release() {
                Ok(()) => "Released".into(),
                Err(how) => format!("{how:?}"),
            },
        };
        drop(self.lease);
        let (ask, gap) = (self.ask, self.gap);
        self.teller.tell(&Record::Released { ask, how, gap });
    }
}
