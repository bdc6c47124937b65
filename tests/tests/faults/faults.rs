//! What was done to the processes of a run, and when.

use std::collections::HashSet;

use witlock_tests::record::{Moment, process_of};

use crate::history::Hold;

/// From a moment before it began to one after it was over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub from: Moment,
    pub until: Moment,
}

/// A server that was killed, and the next one.
#[derive(Debug, Clone, Copy)]
pub struct Restart {
    /// When the next one said that it listens.
    pub listening: Moment,
    /// When somebody was given a key that nobody had; none, if nobody was by the
    /// end of the wait.
    pub first_grant: Option<Moment>,
}

/// All faults that the test made itself.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    pub killed: HashSet<u32>,
    /// Processes that were stopped for a while.
    pub paused: Vec<(u32, Span)>,
    /// When the server was stopped, or was not there.
    pub server: Vec<Span>,
    pub restarts: Vec<Restart>,
}

impl Span {
    /// How much of it lies between two moments.
    fn within(&self, from: Moment, until: Moment) -> u64 {
        self.until.min(until).saturating_sub(self.from.max(from))
    }
}

impl Faults {
    pub fn was_paused(&self, process: u32, from: Moment, until: Moment) -> bool {
        self.pauses_of(process, from, until) > 0
    }

    /// For how long a process was stopped between two moments.
    pub fn pauses_of(&self, process: u32, from: Moment, until: Moment) -> u64 {
        let own = self.paused.iter().filter(|(paused, _)| *paused == process);
        own.map(|(_, span)| span.within(from, until)).sum()
    }

    /// For how long a hold's process or its server were stopped, or not there, in
    /// the time in which its lease could be renewed last.
    pub fn trouble_of(&self, hold: &Hold) -> u64 {
        let (from, until) = (hold.deadline.saturating_sub(hold.ttl), hold.deadline);
        let server = self.server.iter().map(|span| span.within(from, until));
        server.sum::<u64>() + self.pauses_of(process_of(hold.ask), from, until)
    }

    /// How long each server that started took to give a key that nobody had, if
    /// nothing more was done to it meanwhile.
    pub fn first_grants(&self) -> impl Iterator<Item = u64> {
        self.restarts.iter().filter_map(|restart| {
            let granted = restart.first_grant.unwrap_or(Moment::MAX);
            let again = |span: &Span| span.from > restart.listening && span.from < granted;
            let is_clear = !self.server.iter().any(again);
            is_clear.then_some(granted.saturating_sub(restart.listening))
        })
    }

    pub fn was_killed(&self, process: u32) -> bool {
        self.killed.contains(&process)
    }
}
