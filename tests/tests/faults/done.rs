//! What a run did, and whether that was enough to say anything.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use witlock_tests::record::process_of;

use crate::checker::STEADY_TTL;
use crate::faults::{Faults, Restart};
use crate::history::{History, Hold, Over};

/// Faster than a key goes from hand to hand by a ttl.
const HAND_OVER: u64 = 100_000_000;

#[derive(Debug, Clone, Default)]
pub struct Done {
    pub cuts: usize,
    pub holes: usize,
    pub delays: usize,
    pub client_pauses: usize,
    pub client_kills: usize,
    pub server_pauses: usize,
    pub server_kills: usize,
    /// Claims of holders that had not run, which the guard refused; and those of
    /// which the test itself stopped the holder.
    pub refused: usize,
    pub refused_after_pause: usize,
    holds: usize,
    hand_overs: usize,
    /// How often a lease with a long ttl was held before a restart of the server, and
    /// longer after than it lasts by itself.
    outlasted_restarts: usize,
    answers: BTreeMap<String, usize>,
    endings: BTreeMap<String, usize>,
}

impl Done {
    /// What the records tell of it.
    pub fn count(&mut self, history: &History, faults: &Faults) {
        self.holds = history.holds.len();
        for answered in &history.answered {
            count(&mut self.answers, format!("{:?}", answered.answer));
        }
        for hold in history.holds.values() {
            count(&mut self.endings, ending(hold).to_owned());
        }
        self.hand_overs = hand_overs(history);
        let steady = history.holds.values().filter(|hold| hold.ttl >= STEADY_TTL);
        let outlasted = |hold: &Hold| {
            let during = |restart: &&Restart| {
                hold.heard < restart.listening && hold.live_until > restart.listening + hold.ttl
            };
            faults.restarts.iter().filter(during).count()
        };
        self.outlasted_restarts = steady.map(outlasted).sum();
    }

    /// Checks that leases outlasted restarts of the server often enough.
    pub fn outlasted_enough(&self, time: Duration) {
        // A lease outlasts a restart once its ttl is over: not in a short run.
        let least = time.as_secs().saturating_sub(30) / 5;
        assert!(self.outlasted_restarts as u64 >= least, "{least}");
    }

    /// Checks that all of it was done often enough in so much time.
    pub fn is_enough(&self, time: Duration) {
        let least = |number: usize, in_ten_minutes: u64, what: &str| {
            let least = in_ten_minutes * time.as_secs() / 600;
            assert!(number as u64 >= least, "{what}: {number} < {least}");
        };
        let of = |counts: &BTreeMap<String, usize>, what: &str| {
            counts.get(what).copied().unwrap_or_default()
        };
        // A third of what the pack of faults has, and of what a loaded machine does.
        least(self.cuts, 120, "cuts");
        least(self.holes, 150, "black holes");
        least(self.delays, 240, "delays");
        least(self.client_pauses, 180, "paused clients");
        least(self.client_kills, 90, "killed clients");
        least(self.server_pauses, 25, "paused servers");
        least(self.server_kills, 25, "killed servers");
        least(self.holds, 5_000, "holds");
        least(self.hand_overs, 600, "hand-overs");
        least(self.refused, 5, "late claims that were refused");
        least(self.refused_after_pause, 5, "refused after a pause");
        for (answer, often) in [("Granted", 5_000), ("InUse", 1_000), ("Cancelled", 200)] {
            least(of(&self.answers, answer), often, answer);
        }
        let endings = [
            ("Released", 4_000),
            ("Unreachable", 50),
            ("Expired", 50),
            ("Revoked", 25),
        ];
        for (how, often) in endings {
            least(of(&self.endings, how), often, how);
        }
    }
}

fn count(counts: &mut BTreeMap<String, usize>, what: String) {
    *counts.entry(what).or_default() += 1;
}

fn ending(hold: &Hold) -> &str {
    match &hold.over {
        Some(Over::Lost(_, how) | Over::Released(how)) => how,
        None => "killed",
    }
}

/// How often a key of a lock went at once from one process to another.
fn hand_overs(history: &History) -> usize {
    let mut keys: HashMap<&str, Vec<&Hold>> = HashMap::new();
    for hold in history.holds.values().filter(|hold| hold.limit == 1) {
        keys.entry(&hold.key).or_default().push(hold);
    }
    let of_key = |holds: &mut Vec<&Hold>| {
        holds.sort_by_key(|hold| hold.heard);
        let pairs = holds.windows(2);
        let goes_on = |pair: &&[&Hold]| {
            let (one, next) = (pair[0], pair[1]);
            let is_other = process_of(one.ask) != process_of(next.ask);
            is_other && next.heard.saturating_sub(one.live_until) < HAND_OVER
        };
        pairs.filter(goes_on).count()
    };
    keys.values_mut().map(of_key).sum()
}
