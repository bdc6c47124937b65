//! Whether what was recorded is what is promised.
//!
//! All moments are of one clock, which every process of the machine reads. A holder's
//! own moments are read *before* it looks at its lease, so they err to earlier; the
//! resource's stamps err to later, but their order is the order in which things
//! were said.
//!
//! What is excused is one thing: a claim that was made before the holder's own deadline
//! and said after it, where the holder measured that it did not run in between (or the
//! test stopped it, and then killed it before it could say so). Nothing that is done
//! to a connection excuses anything.

use std::collections::{HashMap, HashSet};

use witlock_tests::record::{Answer, process_of};

use crate::breach::{Breach, What};
use crate::crowds::{Presence, crowds};
use crate::faults::Faults;
use crate::history::{Answered, History, Hold, Said};

/// What a client adds to a wait before it gives an ask up without an answer.
const ANSWER_WAIT: u64 = 5 * SECOND;

/// What is this late hangs, on the slowest of machines.
const HANG: u64 = 20 * SECOND;

/// A steady lease has a ttl of at least this, and is lost neither by less trouble
/// than [`BEARABLE`], nor by how long a client then takes to notice that a
/// server is back: at most one and a half times as long.
pub const STEADY_TTL: u64 = 5 * SECOND;
const BEARABLE: u64 = SECOND;

/// How long after its start a server gives a key that nobody has.
const FIRST_GRANT: u64 = SECOND;

const SECOND: u64 = 1_000_000_000;

/// A history that is over.
pub struct Checker<'a> {
    history: &'a History,
    faults: &'a Faults,
    holds: Vec<Hold>,
    breaches: Vec<Breach>,
    /// How many claims came to the resource under a fence that was not the newest any
    /// more, from holders that had not run.
    pub refused: usize,
    /// How many of them were stopped by the test.
    pub refused_after_pause: usize,
}

impl<'a> Checker<'a> {
    pub fn new(history: &'a History, faults: &'a Faults) -> Self {
        let settled = |hold: &Hold| {
            let process = process_of(hold.ask);
            hold.settled(|from, until| faults.was_paused(process, from, until))
        };
        let mut holds: Vec<_> = history.holds.values().map(settled).collect();
        holds.sort_by_key(|hold| hold.heard);
        Checker {
            history,
            faults,
            holds,
            breaches: Vec::new(),
            refused: 0,
            refused_after_pause: 0,
        }
    }

    /// What holds of any server, at any time.
    pub fn check(&mut self) -> &mut Self {
        self.no_misfits();
        self.never_too_many();
        self.deadlines();
        self.fences();
        self.late_claims();
        self.answers();
        self
    }

    /// What holds of a run that is over.
    pub fn check_end(&mut self) -> &mut Self {
        let lived = |ask: &u64| !self.faults.was_killed(process_of(*ask));
        let open = self.history.open.iter().filter(|(ask, _)| lived(ask));
        let unanswered = open.map(|(ask, asked)| format!("ask {ask}, {asked:?}"));
        let unended = self.holds.iter().filter(|it| it.over.is_none());
        let unended = unended.filter(|hold| lived(&hold.ask));
        let unended = unended.map(|hold| format!("{hold:?}"));
        let stories: Vec<_> = unanswered.chain(unended).collect();
        self.tell_all(What::Unanswered, stories)
    }

    /// What holds of a server that keeps a journal: that it starts again costs nobody
    /// a lease, and nobody waits for it.
    pub fn check_restarts(&mut self) -> &mut Self {
        let steady = self.holds.iter().filter(|hold| hold.ttl >= STEADY_TTL);
        let lost = steady.filter(|hold| hold.is_lost_in_time());
        let lost = lost.filter(|hold| self.faults.trouble_of(hold) < BEARABLE);
        let lost = lost.map(|hold| format!("{hold:?}")).collect();
        self.tell_all(What::LostForNothing, lost);
        let slow = self
            .faults
            .first_grants()
            .filter(|took| *took > FIRST_GRANT);
        let slow = slow
            .map(|took| format!("{} ms", took / 1_000_000))
            .collect();
        self.tell_all(What::SlowStart, slow)
    }

    pub fn breaches(&self) -> &[Breach] {
        &self.breaches
    }

    fn tell(&mut self, what: What, story: String) {
        self.breaches.push(Breach { what, story });
    }

    fn tell_all(&mut self, what: What, stories: Vec<String>) -> &mut Self {
        for story in stories {
            self.tell(what, story);
        }
        self
    }

    fn no_misfits(&mut self) {
        self.tell_all(What::Record, self.history.misfits.clone());
    }

    /// By the holders' words, as the resource heard them; and by their deadlines,
    /// whatever they said.
    fn never_too_many(&mut self) {
        self.tell_crowds(What::Overlap, Hold::word);
        self.tell_crowds(What::GivenEarly, Hold::belief);
    }

    fn tell_crowds(&mut self, what: What, presence: impl Fn(&Hold) -> Presence) {
        let mut keys: HashMap<&str, Vec<&Hold>> = HashMap::new();
        for hold in &self.holds {
            keys.entry(&hold.key).or_default().push(hold);
        }
        let found: Vec<_> = keys
            .values()
            .flat_map(|holds| crowds(holds, &presence))
            .collect();
        self.tell_all(what, found);
    }

    fn deadlines(&mut self) {
        let believed = self.holds.iter().filter(|hold| hold.believed.is_some());
        let believed: Vec<_> = believed.map(|hold| format!("{hold:?}")).collect();
        self.tell_all(What::Believed, believed);
        let early = self.holds.iter().filter(|hold| hold.ended_early());
        let early: Vec<_> = early.map(|hold| format!("{hold:?}")).collect();
        self.tell_all(What::EndedEarly, early);
    }

    fn fences(&mut self) {
        let mut by_ask: Vec<_> = self.holds.iter().collect();
        by_ask.sort_by_key(|hold| hold.asked);
        // What was heard of before something was asked for was given before it.
        let (mut given, mut largest) = (self.holds.iter().peekable(), 0);
        let mut late = Vec::new();
        for hold in by_ask {
            while let Some(before) = given.next_if(|given| given.heard < hold.asked) {
                largest = largest.max(before.fence);
            }
            if hold.fence <= largest {
                late.push(format!("{} was given before: {hold:?}", largest));
            }
        }
        self.tell_all(What::Fence, late);
        self.fences_of_keys();
    }

    /// Holders of one key of a lock come to the resource in the order of their fences,
    /// unless they did not run on their way.
    fn fences_of_keys(&mut self) {
        let mut newest: HashMap<&str, u64> = HashMap::new();
        let mut seen = HashSet::new();
        let mut wrong = Vec::new();
        for hold in &self.holds {
            let newest = newest.entry(&hold.key).or_default();
            let is_older = hold.limit == 1 && hold.fence <= *newest && !hold.began_late;
            if is_older || !seen.insert(hold.fence) {
                wrong.push(format!("{newest} was seen before: {hold:?}"));
            }
            *newest = hold.fence.max(*newest);
        }
        self.tell_all(What::Fence, wrong);
    }

    /// Who did not run between looking and writing may come too late; the history has
    /// made sure that the guard refused what came after a newer fence.
    fn late_claims(&mut self) {
        for hold in &self.holds {
            let process = process_of(hold.ask);
            let was_paused =
                |said: &&Said| self.faults.was_paused(process, said.checked, said.stamp);
            self.refused += hold.refused.len();
            self.refused_after_pause += hold.refused.iter().filter(was_paused).count();
        }
    }

    fn answers(&mut self) {
        let impatient = |it: &&Answered| it.answer == Answer::InUse && it.took() < it.asked.wait;
        let hangs = |it: &&Answered| {
            let paused = || {
                self.faults
                    .pauses_of(process_of(it.ask), it.asked.at, it.at)
            };
            let bound = it.asked.wait + ANSWER_WAIT + HANG;
            it.took() > bound && it.took() > bound + paused()
        };
        let story = |it: &Answered| format!("{it:?}");
        let answered = &self.history.answered;
        let impatient: Vec<_> = answered.iter().filter(impatient).map(story).collect();
        let hanging: Vec<_> = answered.iter().filter(hangs).map(story).collect();
        self.tell_all(What::Impatient, impatient);
        self.tell_all(What::Hang, hanging);
    }
}

impl Answered {
    fn took(&self) -> u64 {
        self.at.saturating_sub(self.asked.at)
    }
}
