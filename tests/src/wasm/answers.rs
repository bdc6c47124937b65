//! Steps of one command, by the functions that the engine has for them.

use witlock_engine::{Grant, LeaseId, Nanoseconds};

use super::{Wasm, commands, events, wit};
use crate::machine::{Command, Event, Hold, Outcome, Why};

impl Wasm {
    /// Steps with a command for which there is a function; none if there is not.
    pub(super) fn answer(&mut self, now: Nanoseconds, command: &Command) -> Option<Outcome> {
        let (answer, tag) = match command {
            Command::Hold(hold) if hold.request.is_none() && hold.options.label.is_none() => {
                (self.hold(now, hold), 0)
            }
            Command::Release { tag, lease } => (self.release(now, *lease), *tag),
            _ => return None,
        };
        Some(Outcome {
            handled: 1,
            events: self.told(&answer, tag),
            next_deadline: moment(answer.next_deadline),
        })
    }

    /// The call of `step-hold`, as a driver makes it.
    pub fn hold(&mut self, now: Nanoseconds, hold: &Hold) -> wit::Answer {
        let answer = self.machine.witlock_engine_engine().call_step_hold(
            &mut self.store,
            now,
            hold.ticket,
            hold.session,
            &[&*hold.name, &*hold.key].concat(),
            hold.name.len() as u32,
            hold.limit,
            hold.wait,
            hold.options.ttl,
            hold.options.max_hold,
            hold.alone,
        );
        answer.expect("a hold without a trap")
    }

    /// The call of `step-release`, as a driver makes it.
    pub fn release(&mut self, now: Nanoseconds, lease: LeaseId) -> wit::Answer {
        let exports = self.machine.witlock_engine_engine();
        let answer = exports.call_step_release(&mut self.store, now, commands::lease_id(lease));
        answer.expect("a release without a trap")
    }

    fn told(&mut self, answer: &wit::Answer, tag: u64) -> Vec<Event> {
        use wit::Told::{Ended, EndedAndGranted, Granted, InUse, More, NotHeld, Nothing};
        match answer.told {
            Nothing => vec![],
            Granted => vec![granted(answer)],
            Ended => vec![ended(answer)],
            EndedAndGranted => vec![ended(answer), granted(answer)],
            InUse => vec![Event::Refused {
                ticket: answer.ticket,
                why: Why::InUse,
            }],
            NotHeld => vec![Event::NotHeld { tag }],
            More => self
                .untold()
                .into_iter()
                .map(|it| tagged(it, tag))
                .collect(),
        }
    }

    fn untold(&mut self) -> Vec<Event> {
        let exports = self.machine.witlock_engine_engine();
        let untold = exports.call_untold(&mut self.store);
        let untold = untold.expect("events without a trap");
        untold.into_iter().map(events::from_wit).collect()
    }
}

fn granted(answer: &wit::Answer) -> Event {
    Event::Granted(Grant {
        ticket: answer.ticket,
        lease: LeaseId {
            fence: answer.lease.fence,
            secret: answer.lease.secret,
        },
        expires: moment(answer.expires),
        revoked: moment(answer.revoked),
    })
}

fn ended(answer: &wit::Answer) -> Event {
    Event::Ended {
        ticket: answer.ended,
        how: events::ending(answer.how),
    }
}

/// A release by its own function has no tag.
fn tagged(event: Event, tag: u64) -> Event {
    match event {
        Event::NotHeld { .. } => Event::NotHeld { tag },
        event => event,
    }
}

/// 2^64 - 1 is a moment that never comes.
fn moment(at: Nanoseconds) -> Option<Nanoseconds> {
    (at != Nanoseconds::MAX).then_some(at)
}
