//! Time goes on, and what is said arrives.

use std::collections::BTreeMap;

use witlock_session::client::Wants;
use witlock_session::server::ConnectionId;
use witlock_session::wire::{Frames, MESSAGE_BYTES, ToClient, ToStore, put};

use crate::network::{Fate, put_late};
use crate::world::{S, World};

impl World {
    /// Time goes on for so long, and all that is due happens when it is due.
    pub fn run(&mut self, span: u64) {
        let until = self.now + span;
        loop {
            self.settle();
            let next = self.next_moment().max(self.now + 1);
            if next > until {
                break;
            }
            self.now = next;
            if self.now.is_multiple_of(S) {
                self.server.tick(self.now);
            }
        }
        self.now = until;
        self.settle();
    }

    fn next_moment(&self) -> u64 {
        let second = (self.now / S + 1) * S;
        let machines = self.machines.iter();
        let due = machines.flat_map(|it| [it.client.next_deadline(), it.network.next_moment()]);
        let due = due.chain([self.next_step]).flatten();
        due.min().unwrap_or(second).min(second)
    }

    /// Lets all that can happen at this moment happen.
    pub fn settle(&mut self) {
        loop {
            for who in 0..self.machines.len() {
                self.machines[who].client.tick(self.now);
                self.connect(who);
                self.send_said(who);
                self.arrive_late(who);
            }
            let commands = self.server.commands();
            let is_due = self.next_step.is_some_and(|at| at <= self.now);
            if !commands.is_empty() || is_due {
                self.step(commands);
            }
            let touched = self.server.touched();
            let is_quiet = touched.is_empty();
            touched.into_iter().for_each(|id| self.send_told(id));
            self.note_events();
            self.assert_held_once();
            if is_quiet {
                return;
            }
        }
    }

    fn connect(&mut self, who: usize) {
        let machine = &mut self.machines[who];
        match machine.client.wants(self.now) {
            Wants::Connection if machine.network.refuses => {
                machine.client.connecting(self.now);
                machine.client.cut(self.now, "refused");
            }
            Wants::Connection => {
                machine.client.connecting(self.now);
                let id = self.server.connected(self.now, machine.trust);
                machine.said = Frames::default();
                machine.network.heard = Frames::default();
                machine.connection = Some(id);
                machine.client.connected(self.now);
            }
            Wants::NoConnection => {
                // In a hole, the server does not see that it is gone.
                if let Some(id) = machine.connection.take()
                    && !machine.network.hides_ends
                {
                    self.server.disconnected(self.now, id);
                }
            }
            Wants::ThisConnection => {}
        }
    }

    fn send_said(&mut self, who: usize) {
        let machine = &mut self.machines[who];
        let mut bytes = Vec::new();
        machine.client.outgoing(&mut bytes);
        machine.said.push(&bytes);
        while let Ok(Some(message)) = machine.said.next::<ToStore>(MESSAGE_BYTES) {
            let fate = (machine.network.to_store)(&message);
            let Some(id) = machine.connection else {
                continue;
            };
            let mut bytes = Vec::new();
            put(&message, &mut bytes);
            match fate {
                Fate::Arrives => self.server.received(self.now, id, &bytes),
                Fate::Late(span) => {
                    put_late(&mut machine.network.to_server, self.now + span, id, bytes);
                }
                Fate::Lost => {}
            }
        }
    }

    /// What was late arrives, at whichever connection it was sent.
    fn arrive_late(&mut self, who: usize) {
        let machine = &mut self.machines[who];
        let network = &mut machine.network;
        while let Some((id, bytes)) = network.late_at_server(self.now) {
            self.server.received(self.now, id, &bytes);
        }
        while let Some((id, bytes)) = network.late_at_client(self.now) {
            if machine.connection == Some(id) {
                machine.client.received(self.now, &bytes);
            }
        }
    }

    fn send_told(&mut self, id: ConnectionId) {
        if let Some(who) = self
            .machines
            .iter()
            .position(|it| it.connection == Some(id))
        {
            return self.send_to_client(who, id);
        }
        let Some(stranger) = self.strangers.get_mut(&id) else {
            return;
        };
        if stranger.deaf {
            return;
        }
        let mut bytes = Vec::new();
        let over = self.server.outgoing(id, &mut bytes);
        stranger.frames.push(&bytes);
        while let Ok(Some(message)) = stranger.frames.next(MESSAGE_BYTES) {
            stranger.heard.push(message);
        }
        if over && !std::mem::replace(&mut stranger.over, true) {
            self.server.disconnected(self.now, id);
        }
    }

    fn send_to_client(&mut self, who: usize, id: ConnectionId) {
        let machine = &mut self.machines[who];
        let mut bytes = Vec::new();
        let over = self.server.outgoing(id, &mut bytes);
        machine.network.heard.push(&bytes);
        while let Ok(Some(message)) = machine.network.heard.next::<ToClient>(MESSAGE_BYTES) {
            let mut bytes = Vec::new();
            put(&message, &mut bytes);
            match (machine.network.to_client)(&message) {
                Fate::Arrives => machine.client.received(self.now, &bytes),
                Fate::Late(span) => {
                    put_late(&mut machine.network.from_server, self.now + span, id, bytes);
                }
                Fate::Lost => {}
            }
        }
        if over && machine.connection.take().is_some() {
            self.server.disconnected(self.now, id);
            if machine.client.wants(self.now) == Wants::ThisConnection {
                machine.client.cut(self.now, "closed");
            }
        }
    }

    fn note_events(&mut self) {
        for machine in &mut self.machines {
            let events = machine.client.events().into_iter();
            machine.events.extend(events.map(|it| (self.now, it)));
        }
    }

    /// LOCK-01, LOCK-08: nobody counts on a key that another counts on.
    fn assert_held_once(&self) {
        let mut holders: BTreeMap<&str, u64> = BTreeMap::new();
        for (ask, (who, key)) in &self.asks {
            let deadline = self.machines[*who].client.deadline(*ask);
            if deadline.is_some_and(|at| at > self.now) {
                let other = holders.insert(key, *ask);
                assert_eq!(other, None, "{key} is held twice at {}", self.now);
            }
        }
    }
}
