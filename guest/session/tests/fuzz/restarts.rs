//! Engines that trap, and servers that are killed: the next goes on with the leases
//! of which the journal tells.

use std::collections::BTreeMap;

use witlock_engine::{Command, LeaseId};
use witlock_session::wire::goodbye::Reason;

use crate::store::{Session, Store, server};

impl Store {
    /// The server learns that the engine trapped.
    pub fn begin_anew(&mut self) {
        self.server.forget_all();
        let commands = self.server.commands();
        let is_end = |it: &Command| matches!(it, Command::EndSession(_));
        assert!(commands.iter().all(is_end));
        // What was opened at the next engine too early ends.
        self.driven.submitted.extend(commands);
        let told = self.collect();
        Self::assert_goodbyes(&told, Reason::Stopping);
        let mut ears = self.ears.keys();
        assert!(ears.all(|id| self.server.is_over(*id)));
        for ear in self.ears.values_mut() {
            ear.sessions.clear();
        }
        self.tally.count("traps");
        self.go_on_with_leases();
    }

    /// The server is killed, with its engine, and another starts.
    pub fn restart(&mut self) {
        self.driven.trap();
        self.driven.news.clear();
        self.ears.clear();
        self.server = server();
        self.server.tick(self.now);
        self.ticked = self.now;
        if self.is_closing {
            self.server.close();
            self.driven.submitted.push(Command::Close);
        }
        self.tally.count("restarts");
        self.go_on_with_leases();
    }

    fn go_on_with_leases(&mut self) {
        let is_stale = self.driven.has_untold_trap();
        self.sessions.clear();
        self.unkept.clear();
        self.known.clear();
        self.driven.ledger.tags.clear();
        self.journal.start(self.now);
        self.server.restore(self.now, self.journal.leases());
        let kept = self.journal.leases();
        let kept: BTreeMap<u64, _> = kept
            .map(|it| (it.fence, (it.session.clone(), it.secret)))
            .collect();
        let commands = self.server.commands();
        for command in &commands {
            match command {
                Command::OpenSession(_) | Command::Suspend(_) => {}
                Command::Restore(restore) => {
                    let fence = restore.fence;
                    let (id, secret) = kept[&fence].clone();
                    self.note_session(restore.hold.session, id);
                    let told = LeaseId { fence, secret };
                    self.driven.ledger.note_restored(restore, told, is_stale);
                    self.tally.count("restored");
                }
                other => panic!("nobody asked for {other:?}"),
            }
        }
        self.driven.submitted.extend(commands);
        let asks = self.driven.ledger.asks.values();
        let own = asks.filter(|ask| !ask.is_stale).count();
        assert_eq!(own, if is_stale { 0 } else { kept.len() });
        // Others may have taken a key before, and whoever it was then is refused.
        self.may_know_more = true;
    }

    fn note_session(&mut self, number: u64, id: Vec<u8>) {
        self.sessions.entry(number).or_insert(Session {
            id,
            at: None,
            sent: BTreeMap::new(),
        });
    }
}
