//! Who held a key at one time.

use crate::history::{Hold, Over};

/// The times between which somebody held a key.
#[derive(Debug, Clone, Copy)]
pub struct Presence {
    pub from: u64,
    pub until: u64,
}

/// The holds of one key that came to more than may be, each with those that were
/// there.
pub fn crowds(holds: &[&Hold], presence: impl Fn(&Hold) -> Presence) -> Vec<String> {
    let mut holds: Vec<_> = holds.iter().map(|hold| (presence(hold), *hold)).collect();
    holds.sort_by_key(|(presence, _)| presence.from);
    let mut there: Vec<(Presence, &Hold)> = Vec::new();
    let mut crowds = Vec::new();
    for (presence, hold) in holds {
        there.retain(|(before, _)| before.until > presence.from);
        if there.len() >= hold.limit as usize {
            crowds.push(format!("{hold:?} beside {there:?}"));
        }
        there.push((presence, hold));
    }
    crowds
}

impl Hold {
    /// From when to when the resource has the holder's word that it holds.
    pub fn word(&self) -> Presence {
        let from = match self.began_late {
            true => self.began,
            false => self.heard,
        };
        Presence {
            from,
            until: self.live_until,
        }
    }

    /// From when to when it may count on the key: until it let go, or its deadline.
    /// It says that it lets go before it does so. What somebody broke, or a store's
    /// closing ended, had an end before its deadline.
    pub fn belief(&self) -> Presence {
        let until = match &self.over {
            Some(Over::Lost(_, how)) if how == "Broken" || how == "Closed" => self.live_until,
            _ => self
                .let_go
                .map_or(self.deadline, |at| at.min(self.deadline)),
        };
        Presence {
            from: self.began,
            until,
        }
    }

    /// Whether it ended by its time, and not at its holder's word.
    pub fn is_lost_in_time(&self) -> bool {
        let (Some(Over::Lost(_, how)) | Some(Over::Released(how))) = &self.over else {
            return false;
        };
        how == "Expired" || how == "Unreachable"
    }

    /// Whether its holder was told of an end by time before its time was over.
    pub fn ended_early(&self) -> bool {
        let is_by_time = |how: &str| ["Expired", "Unreachable", "Revoked"].contains(&how);
        match &self.over {
            Some(Over::Lost(at, how)) => is_by_time(how) && *at < self.deadline,
            _ => false,
        }
    }
}
