//! The engine: what is kept, and one step. What a step does is told in the
//! modules: asking, granting (and ending), sessions, the grace.

mod asking;
mod grace;
mod granting;
mod leases;
mod restoring;
mod sessions;

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use crate::bounds::{
    EVENTS_FOR_DEADLINES, EVENTS_FOR_WORK, EVENTS_PER_COMMAND, STEP_COMMANDS, STEP_DEADLINES,
    STEP_EVENTS,
};
use crate::command::Command;
use crate::deadlines::{Deadlines, Ends};
use crate::event::{Counts, Event, Outcome, Stepped};
use crate::fences::Fences;
use crate::keys::Keys;
use crate::leases::Leases;
use crate::parts::Map;
use crate::sessions::Sessions;
use crate::slab::Place;
use crate::tickets::Tickets;
use crate::{Nanoseconds, Request, Seed};

/// What a request came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    InLine(Place),
    Held(Place),
}

/// Locks and semaphores, their keys, and who holds and waits.
#[derive(Debug)]
pub struct Engine {
    seed: Seed,
    now: Nanoseconds,
    pub(crate) keys: Keys,
    pub(crate) leases: Leases,
    pub(crate) tickets: Tickets,
    pub(crate) sessions: Sessions,
    deadlines: Deadlines,
    fences: Fences,
    /// Asks and leases by their client's own name for them.
    requests: Map<(Place, Request), Asked, Seed>,
    /// How many asks in a key's line, and how many leases of a semaphore's key,
    /// a session has. (Who has the one lease of a lock's key, the key tells.)
    stakes: Map<(Place, Place), u32, Seed>,
    /// Why no fence can be had, until everyone was told who waits for one.
    no_fences: Option<String>,
    /// Someone waits for a fence.
    fence_wanted: bool,
    /// Until when no key is given.
    grace: Option<Nanoseconds>,
    /// Sessions of which something is over and not ended yet.
    sweeping: VecDeque<Place>,
    /// How far closing has got among the sessions.
    closing: Option<Place>,
    /// Those of the step under way.
    events: Vec<Event>,
}

impl Engine {
    /// An engine without locks and without fences.
    pub fn new(seed: Seed) -> Self {
        Engine {
            seed,
            now: 0,
            keys: Keys::new(seed),
            leases: Leases::default(),
            tickets: Tickets::default(),
            sessions: Sessions::default(),
            deadlines: Deadlines::default(),
            fences: Fences::default(),
            requests: Map::with_hasher(seed),
            stakes: Map::with_hasher(seed),
            no_fences: None,
            fence_wanted: false,
            grace: None,
            sweeping: VecDeque::new(),
            closing: None,
            events: Vec::new(),
        }
    }

    /// Moves the time to `now` (one earlier than a time seen before counts as
    /// that one), ends what is due, then handles the commands in their order,
    /// as many as the step has room for.
    pub fn step(&mut self, now: Nanoseconds, commands: &[Command]) -> Outcome {
        let mut events = Vec::new();
        let Stepped {
            handled,
            next_deadline,
        } = self.step_into(now, commands, &mut events);
        Outcome {
            handled,
            events,
            next_deadline,
        }
    }

    /// As [`step`](Engine::step), with the events added to `events`, which is
    /// empty: who steps often keeps its room.
    pub fn step_into(
        &mut self,
        now: Nanoseconds,
        commands: &[Command],
        events: &mut Vec<Event>,
    ) -> Stepped {
        debug_assert!(events.is_empty(), "events of another step count for this");
        core::mem::swap(&mut self.events, events);
        self.now = self.now.max(now);
        self.end_due();
        self.end_overdue_grace();
        self.work_off();
        let handled = self.handle(commands);
        if self.fences.ask(core::mem::take(&mut self.fence_wanted)) {
            let left = self.fences.left();
            self.events.push(Event::FencesLow { left });
        }
        let next_deadline = if self.is_behind() {
            Some(self.now)
        } else {
            self.deadlines.next()
        };
        core::mem::swap(&mut self.events, events);
        Stepped {
            handled,
            next_deadline,
        }
    }

    /// What is kept.
    pub fn counts(&self) -> Counts {
        Counts {
            keys: self.keys.len() as u64,
            leases: self.leases.slab.len() as u64,
            waiters: self.tickets.len() as u64,
            sessions: self.sessions.slab.len() as u64,
            fences: self.fences.left(),
        }
    }

    /// Ends what is due, in the order of its deadlines.
    fn end_due(&mut self) {
        for _ in 0..STEP_DEADLINES {
            if self.events.len() >= EVENTS_FOR_DEADLINES {
                return;
            }
            let Some(due) = self.deadlines.due(self.now) else {
                return;
            };
            match due.ends {
                Ends::Grace => self.end_grace(),
                Ends::Lease => self.end_overdue(due.place),
                Ends::Wait => self.wait_ran_out(due.place),
                Ends::Reconnect => self.give_up_places(due.place),
            }
        }
    }

    /// Goes on with what earlier steps and commands had no room for: mostly there
    /// is nothing, which costs two looks a command.
    #[inline]
    fn work_off(&mut self) {
        let over = self.closing.is_some() || !self.sweeping.is_empty();
        if over || self.keys.has_unsettled() || self.no_fences.is_some() {
            self.close_sessions();
            self.sweep_sessions();
            self.settle_unsettled(self.now.saturating_add(1));
        }
    }

    fn handle(&mut self, commands: &[Command]) -> usize {
        let mut handled = 0;
        let mut listed = false;
        for command in commands.iter().take(STEP_COMMANDS) {
            if !self.has_room_for(command, &mut listed) {
                break;
            }
            self.apply(command);
            handled += 1;
        }
        handled
    }

    /// Whether this step can still handle a command: a listing only if it is the
    /// step's first, a hold only once what is overdue of its key has ended, and
    /// what its own session gave up where that could be in its way.
    fn has_room_for(&mut self, command: &Command, listed: &mut bool) -> bool {
        match command {
            Command::ListHoldings { .. } | Command::ListWaiters { .. } if *listed => return false,
            Command::ListHoldings { .. } | Command::ListWaiters { .. } => *listed = true,
            Command::Hold(hold) if hold.alone && self.is_sweeping(hold.session) => return false,
            Command::Hold(hold) if !self.end_overdue_of(hold) => return false,
            _ => {}
        }
        self.room(STEP_EVENTS) >= EVENTS_PER_COMMAND
    }

    fn apply(&mut self, command: &Command) {
        match command {
            Command::OpenSession(open) => self.sessions.open(open),
            Command::Check(check) => self.check(check),
            Command::Hold(hold) => self.hold(hold),
            Command::Restore(restore) => self.restore(restore),
            Command::Cancel(ticket) => self.cancel(*ticket),
            Command::Renew { tag, lease } => self.renew(*tag, *lease),
            Command::Release { tag, lease } => self.release(*tag, *lease),
            Command::EndSession(session) => self.end_session(*session),
            Command::Suspend(session) => self.suspend(*session),
            Command::Resume(resume) => self.resume(resume),
            Command::Break { tag, fence, place } => self.break_lease(*tag, *fence, *place),
            Command::ListHoldings { tag, cursor } => {
                let (tag, page) = (*tag, self.holdings(*cursor));
                self.events.push(Event::Holdings { tag, page });
            }
            Command::ListWaiters { tag, cursor } => {
                let (tag, page) = (*tag, self.waiters(*cursor));
                self.events.push(Event::Waiters { tag, page });
            }
            Command::Count { tag } => {
                let (tag, counts) = (*tag, self.counts());
                self.events.push(Event::Counted { tag, counts });
            }
            Command::AddFences(range) => self.add_fences(range.clone()),
            Command::FencesFailed(why) => self.fences_failed(why.clone()),
            Command::Grace(until) => self.begin_grace(*until),
            Command::Close => self.closing = self.closing.or(Some(0)),
        }
        // Closing, and sessions that this command ended, begin at once.
        self.work_off();
    }

    pub(crate) fn now(&self) -> Nanoseconds {
        self.now
    }

    /// How many events fit before there are `most`; one stays for asking for
    /// fences.
    fn room(&self, most: usize) -> usize {
        (most - 1).saturating_sub(self.events.len())
    }

    /// Whether work that doesn't wait for a command has room left in this step.
    fn may_work(&self) -> bool {
        self.room(EVENTS_FOR_WORK) > 0
    }

    /// Whether there is something to do now for which a step had no room.
    fn is_behind(&self) -> bool {
        self.deadlines.is_due(self.now)
            || !self.sweeping.is_empty()
            || self.is_closing_sessions()
            || self.can_settle()
    }
}
