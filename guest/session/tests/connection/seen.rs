//! What became of asks, as their holders were told.

use witlock_session::client::{Ending, Event};
use witlock_session::wire::refused::Why;

use crate::world::World;

impl World {
    /// What was told of an ask.
    pub fn told(&self, ask: u64) -> Vec<Event> {
        let told = self.times(ask);
        told.into_iter().map(|(_, event)| event).collect()
    }

    /// The same, with when.
    pub fn times(&self, ask: u64) -> Vec<(u64, Event)> {
        let (who, _) = &self.asks[&ask];
        let events = self.machines[*who].events.iter();
        events
            .filter(|(_, event)| ask_of(event) == Some(ask))
            .cloned()
            .collect()
    }

    /// How the lease that came of an ask ended; none if it did not.
    pub fn ending(&self, ask: u64) -> Option<Ending> {
        let told = self.told(ask);
        let endings = told.iter().filter_map(|event| match event {
            Event::Ended { how, .. } => Some(*how),
            _ => None,
        });
        let endings: Vec<Ending> = endings.collect();
        assert!(endings.len() <= 1, "ended twice: {told:?}");
        endings.first().copied()
    }

    /// When an ask was granted; none if it was not.
    pub fn granted_at(&self, ask: u64) -> Option<u64> {
        let times = self.times(ask);
        let grants = times
            .iter()
            .filter(|(_, event)| matches!(event, Event::Granted { .. }));
        let at: Vec<u64> = grants.map(|(at, _)| *at).collect();
        assert!(at.len() <= 1, "granted twice: {times:?}");
        at.first().copied()
    }

    /// Why an ask was refused; none if it was not.
    pub fn refusal(&self, ask: u64) -> Option<Why> {
        self.told(ask).into_iter().find_map(|event| match event {
            Event::Refused { why, .. } => Some(why),
            _ => None,
        })
    }

    /// The fence of the lease that came of an ask.
    pub fn fence(&self, ask: u64) -> u64 {
        let fence = self.told(ask).into_iter().find_map(|event| match event {
            Event::Granted { lease, .. } => Some(lease.fence),
            _ => None,
        });
        fence.expect("granted")
    }

    /// Until when an ask's holder counts on its lease.
    pub fn deadline(&self, ask: u64) -> Option<u64> {
        let (who, _) = &self.asks[&ask];
        self.machines[*who].client.deadline(ask)
    }

    /// Until when the store keeps the only lease that there is.
    pub fn store_deadline(&mut self) -> u64 {
        let left = self.holdings().first().and_then(|item| item.left);
        self.now + left.expect("a lease")
    }
}

fn ask_of(event: &Event) -> Option<u64> {
    match event {
        Event::Granted { ask, .. }
        | Event::Refused { ask, .. }
        | Event::Ended { ask, .. }
        | Event::Renewed { ask }
        | Event::Retrying { ask } => Some(*ask),
        Event::Welcome { .. } | Event::Denied(_) | Event::Answered { .. } => None,
    }
}
