//! The engine linked into the test.

use witlock_engine::{Engine, Nanoseconds, Refusal, Seed};

use crate::machine::{Command, Event, Machine, Outcome, Why};

/// The engine, natively.
#[derive(Debug)]
pub struct Native(Engine);

impl Machine for Native {
    const NAME: &'static str = "the engine, natively";

    fn start(seed: Seed) -> Self {
        Native(Engine::new(seed))
    }

    fn step(&mut self, now: Nanoseconds, commands: Vec<Command>) -> Outcome {
        let outcome = self.0.step(now, &commands);
        Outcome {
            handled: outcome.handled,
            events: outcome.events.into_iter().map(event).collect(),
            next_deadline: outcome.next_deadline,
        }
    }
}

fn event(event: witlock_engine::Event) -> Event {
    use witlock_engine::Event as From;
    match event {
        From::Granted(grant) => Event::Granted(grant),
        From::Refused { ticket, why } => Event::Refused {
            ticket,
            why: why_of(why),
        },
        From::Ended { ticket, how } => Event::Ended { ticket, how },
        From::Superseded(ticket) => Event::Superseded(ticket),
        From::Renewed { tag, deadline } => Event::Renewed { tag, deadline },
        From::NotHeld { tag } => Event::NotHeld { tag },
        From::Fine { tag } => Event::Fine { tag },
        From::Invalid { tag, why } => Event::Invalid {
            tag,
            why: why.to_string(),
        },
        From::Holdings { tag, page } => Event::Holdings { tag, page },
        From::Waiters { tag, page } => Event::Waiters { tag, page },
        From::Counted { tag, counts } => Event::Counted { tag, counts },
        From::FencesLow { left } => Event::FencesLow { left },
    }
}

fn why_of(why: Refusal) -> Why {
    match why {
        Refusal::InUse => Why::InUse,
        Refusal::HeldByCaller => Why::HeldByCaller,
        Refusal::Invalid(why) => Why::Invalid(why.to_string()),
        Refusal::TooMany(why) => Why::TooMany(why.to_string()),
        Refusal::Closed => Why::Closed,
        Refusal::Unavailable(why) => Why::Unavailable(why),
        Refusal::Cancelled => Why::Cancelled,
    }
}
