//! Leases that an earlier server gave, of which a journal tells.

use alloc::vec::Vec;

use witlock_engine::{Command, Hold, Options, Request, Restore};

use super::Server;
use crate::Nanoseconds;
use crate::journal::Given;

impl Server {
    /// Goes on with leases that an earlier server, or an engine that trapped, gave.
    /// Their sessions are as after a cut: they may come back for as long as a lease of
    /// theirs can last.
    pub fn restore<'a>(&mut self, now: Nanoseconds, leases: impl IntoIterator<Item = &'a Given>) {
        let mut away = Vec::new();
        for lease in leases {
            if let Some(session) = self.session_to_restore(lease, &mut away) {
                self.restore_lease(session, lease);
            }
        }
        away.into_iter()
            .for_each(|number| self.is_away(now, number));
    }

    fn session_to_restore(&mut self, lease: &Given, away: &mut Vec<u64>) -> Option<u64> {
        let id = u128::from_be_bytes(lease.session.as_slice().try_into().ok()?);
        if let Some(number) = self.by_id.get(&id) {
            return Some(*number);
        }
        let number = self.add_session(id);
        away.push(number);
        self.open_session(number, lease.max_held, lease.max_waiting);
        Some(number)
    }

    fn restore_lease(&mut self, session: u64, lease: &Given) {
        if let Some(holder) = self.sessions.get_mut(&session) {
            holder.longest_ttl = holder.longest_ttl.max(lease.ttl);
        }
        let ticket = self.add_restored(session, lease);
        let hold = Hold {
            ticket,
            session,
            name: lease.name.clone().into(),
            limit: lease.limit,
            key: lease.key.clone().into(),
            options: Options {
                ttl: Some(lease.ttl),
                max_hold: lease.max_hold,
                label: lease.label.clone(),
            },
            request: Some(Request::from(lease.ask)),
            ..Hold::default()
        };
        self.commands.push(Command::Restore(Restore {
            hold,
            fence: lease.fence,
            since: lease.since,
            // A start gave it, which is before this.
            expires: lease.expires.unwrap_or(0),
            revoked: lease.revoked,
        }));
    }
}
