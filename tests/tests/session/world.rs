//! The store, its server, the clients, and time.

use std::collections::{BTreeMap, HashMap, HashSet};

use witlock_engine::{Command, Engine, Event as Did, OpenSession, Refusal, Seed};
use witlock_session::client::{self, Client, Ending, Identity, Wants};
use witlock_session::journal::{Journal, put, read};
use witlock_session::server::{Admission, Event, Server, Told, Trust};

use crate::network::{Act, MS, Pipe};

/// Fences of one start of the store.
const FENCES: u64 = 1 << 20;

/// What was done.
#[derive(Debug, Default, Clone, Copy)]
pub struct Done {
    pub granted: usize,
    pub renewed: usize,
    pub unreachable: usize,
    pub cuts: usize,
    pub holes: usize,
    pub restarts: usize,
    /// Of them, of stores whose journal told of all.
    pub knowing: usize,
    /// Leases with which they went on.
    pub restored: usize,
    pub came_back_holding: usize,
}

impl std::ops::AddAssign for Done {
    fn add_assign(&mut self, other: Done) {
        self.granted += other.granted;
        self.renewed += other.renewed;
        self.unreachable += other.unreachable;
        self.cuts += other.cuts;
        self.holes += other.holes;
        self.restarts += other.restarts;
        self.knowing += other.knowing;
        self.restored += other.restored;
        self.came_back_holding += other.came_back_holding;
    }
}

/// How far an ask has got, as its holder sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum State {
    Waiting,
    Held { fence: u64 },
    Over,
}

/// An ask, and the lease that came of it.
pub struct Asked {
    pub client: usize,
    pub key: &'static str,
    pub state: State,
}

/// A process with a clock of its own, and its client.
pub struct Machine {
    pub client: Client,
    /// By how many 200ths its clock goes faster than the store's.
    rate: i64,
    offset: u64,
    pub pipe: Option<usize>,
}

/// All of it.
pub struct World {
    pub random: fastrand::Rng,
    pub now: u64,
    engine: Engine,
    server: Server,
    journal: Journal,
    /// Until when leases may be live that it does not tell of.
    grace: u64,
    starts: u64,
    pub machines: Vec<Machine>,
    pub pipes: Vec<Pipe>,
    acts: BTreeMap<(u64, u64), Act>,
    serial: u64,
    next_step: Option<u64>,
    /// What was asked of the engine: keys by ticket.
    tickets: HashMap<u64, &'static str>,
    /// What the store gave and did not end: keys and fences by ticket.
    live: HashMap<u64, (&'static str, u64)>,
    pub asks: HashMap<u64, Asked>,
    pub done: Done,
}

/// The keys, and how many may hold each.
pub const KEYS: [(&str, u32); 3] = [("a", 1), ("b", 1), ("c", 2)];

impl World {
    pub fn new(seed: u64, machines: usize) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let machine = |random: &mut fastrand::Rng| Machine {
            client: Client::new(Identity::default(), random.u64(..)),
            rate: random.i64(-1..=1),
            offset: random.u64(0..1 << 40),
            pipe: None,
        };
        let machines = (0..machines).map(|_| machine(&mut random)).collect();
        let mut world = World {
            random,
            now: 0,
            engine: Engine::new(Seed::default()),
            server: Server::new(1 << 63, Admission::default()),
            journal: Journal::default(),
            grace: 0,
            starts: 0,
            machines,
            pipes: Vec::new(),
            acts: BTreeMap::new(),
            serial: 0,
            next_step: None,
            tickets: HashMap::new(),
            live: HashMap::new(),
            asks: HashMap::new(),
            done: Done::default(),
        };
        world.start(0);
        world
    }

    /// The store starts, and gives nothing for so long but what its journal tells.
    fn start(&mut self, grace: u64) {
        self.engine = Engine::new(Seed {
            low: self.starts,
            high: 1,
        });
        self.starts += 1;
        self.live.clear();
        self.tickets.clear();
        let fences = self.starts * FENCES..(self.starts + 1) * FENCES;
        self.step(vec![
            Command::Grace(self.now + grace),
            Command::AddFences(fences),
            Command::OpenSession(OpenSession::default()),
        ]);
        self.journal.start(self.now);
        self.done.restored += self.journal.leases().count();
        self.server.restore(self.now, self.journal.leases());
        let commands = self.server.commands();
        self.step(commands);
    }

    /// The store's process is killed, and started again. Its journal may be lost; then
    /// it waits out the longest ttl.
    pub fn restart(&mut self, longest_ttl: u64) {
        for pipe in &mut self.pipes {
            pipe.server_has_it = false;
        }
        for pipe in 0..self.pipes.len() {
            self.later(100 * MS, Act::ClientSees { pipe });
        }
        self.server = Server::new(1 << 63, Admission::default());
        self.done.restarts += 1;
        if self.random.u8(0..4) == 0 {
            self.journal.clear();
            self.grace = self.now + longest_ttl;
            return self.start(longest_ttl);
        }
        self.done.knowing += 1;
        self.read_journal();
        self.start(self.grace.saturating_sub(self.now));
    }

    /// What is kept are bytes.
    fn read_journal(&mut self) {
        let mut bytes = Vec::new();
        let records = self.journal.records();
        records.for_each(|record| put(&record, &mut bytes));
        self.journal = Journal::default();
        let records = read(&bytes).expect("records");
        records
            .into_iter()
            .for_each(|record| self.journal.apply(record));
    }

    /// A machine's own clock.
    pub fn clock(&self, machine: usize) -> u64 {
        let Machine { rate, offset, .. } = self.machines[machine];
        (self.now + offset).saturating_add_signed(self.now as i64 / 200 * rate)
    }

    pub fn later(&mut self, within: u64, act: Act) {
        let at = self.now + self.random.u64(0..within);
        self.at(at, act);
    }

    fn at(&mut self, at: u64, act: Act) {
        self.serial += 1;
        self.acts.insert((at, self.serial), act);
    }

    /// Time goes on until then, and all that is due by then happens when it is due.
    pub fn run_until(&mut self, until: u64) {
        loop {
            self.settle();
            let act = self.acts.first_key_value().map(|((at, _), _)| *at);
            let client = (0..self.machines.len()).filter_map(|at| self.due(at)).min();
            let tick = Some((self.now / (1_000 * MS) + 1) * 1_000 * MS);
            let next = [act, client, self.next_step, tick];
            let next = next.into_iter().flatten().min().unwrap_or(until);
            if next > until {
                break;
            }
            self.now = self.now.max(next);
            if self.now.is_multiple_of(1_000 * MS) {
                self.server.tick(self.now);
            }
            self.act();
        }
        self.now = until;
        self.settle();
    }

    /// When a machine's client is to be called, by the store's clock.
    fn due(&self, machine: usize) -> Option<u64> {
        let at = self.machines[machine].client.next_deadline()?;
        let ahead = at.saturating_sub(self.clock(machine));
        // Its clock may be slower: it is called a little early then, and again.
        Some(self.now + (ahead - ahead / 100).max(1))
    }

    fn act(&mut self) {
        while let Some(entry) = self.acts.first_entry()
            && entry.key().0 <= self.now
        {
            let act = entry.remove();
            self.do_act(act);
            self.settle();
        }
    }

    fn do_act(&mut self, act: Act) {
        match act {
            Act::Connect { client, works } => self.connect(client, works),
            Act::ToServer { pipe, bytes } => {
                let pipe = &self.pipes[pipe];
                if pipe.server_has_it {
                    self.server.received(self.now, pipe.server_id, &bytes);
                }
            }
            Act::ToClient { pipe, bytes } => {
                let machine = self.pipes[pipe].client;
                if self.pipes[pipe].client_has_it {
                    let now = self.clock(machine);
                    self.machines[machine].client.received(now, &bytes);
                }
            }
            Act::ServerSees { pipe } => self.server_sees(pipe),
            Act::ClientSees { pipe } => self.client_sees(pipe),
        }
    }

    fn connect(&mut self, client: usize, works: bool) {
        let now = self.clock(client);
        if self.machines[client].client.wants(now) != Wants::ThisConnection {
            return;
        }
        if !works {
            return self.machines[client].client.cut(now, "refused");
        }
        let id = self.server.connected(self.now, Trust::SameUser);
        self.pipes.push(Pipe::new(client, id));
        self.machines[client].pipe = Some(self.pipes.len() - 1);
        self.machines[client].client.connected(now);
    }

    fn server_sees(&mut self, pipe: usize) {
        let pipe = &mut self.pipes[pipe];
        if std::mem::take(&mut pipe.server_has_it) {
            self.server.disconnected(self.now, pipe.server_id);
        }
    }

    fn client_sees(&mut self, pipe: usize) {
        let machine = self.pipes[pipe].client;
        if std::mem::take(&mut self.pipes[pipe].client_has_it) {
            self.machines[machine].pipe = None;
            let now = self.clock(machine);
            self.machines[machine].client.cut(now, "cut");
        }
    }

    /// Lets all that can happen at this moment happen.
    fn settle(&mut self) {
        for machine in 0..self.machines.len() {
            let now = self.clock(machine);
            self.machines[machine].client.tick(now);
            self.serve_client(machine);
        }
        let commands = self.server.commands();
        if !commands.is_empty() || self.next_step.is_some_and(|at| at <= self.now) {
            self.step(commands);
        }
        self.send_to_clients();
        self.check();
    }

    fn serve_client(&mut self, machine: usize) {
        let now = self.clock(machine);
        for event in self.machines[machine].client.events() {
            self.note(event);
        }
        if let Some(pipe) = self.machines[machine].pipe {
            let mut bytes = Vec::new();
            self.machines[machine].client.outgoing(&mut bytes);
            self.send(pipe, 0, bytes);
        }
        match self.machines[machine].client.wants(now) {
            Wants::Connection => {
                self.machines[machine].client.connecting(now);
                let works = self.random.u8(..) < 220;
                self.later(
                    20 * MS,
                    Act::Connect {
                        client: machine,
                        works,
                    },
                );
            }
            Wants::NoConnection => {
                if let Some(pipe) = self.machines[machine].pipe.take() {
                    // Bytes under way may still be read, and the end be seen late.
                    self.pipes[pipe].client_has_it = false;
                    self.later(3_000 * MS, Act::ServerSees { pipe });
                }
            }
            Wants::ThisConnection => {}
        }
    }

    fn send(&mut self, pipe: usize, direction: usize, mut bytes: Vec<u8>) {
        while !bytes.is_empty() && !self.pipes[pipe].holes[direction] {
            let cut = self.random.usize(1..=bytes.len());
            let rest = bytes.split_off(cut);
            let at = self.pipes[pipe].arrival(&mut self.random, self.now, direction);
            self.at(
                at,
                match direction {
                    0 => Act::ToServer { pipe, bytes },
                    _ => Act::ToClient { pipe, bytes },
                },
            );
            bytes = rest;
        }
    }

    fn send_to_clients(&mut self) {
        for id in self.server.touched() {
            let mut bytes = Vec::new();
            let over = self.server.outgoing(id, &mut bytes);
            let has = |pipe: &Pipe| pipe.server_has_it && pipe.server_id == id;
            let Some(pipe) = self.pipes.iter().position(has) else {
                continue;
            };
            self.send(pipe, 1, bytes);
            if over {
                self.server_sees(pipe);
                self.later(500 * MS, Act::ClientSees { pipe });
            }
        }
    }

    fn step(&mut self, commands: Vec<Command<'static>>) {
        let mut commands = commands;
        for command in &commands {
            let hold = match command {
                Command::Hold(hold) => hold,
                Command::Restore(restore) => &restore.hold,
                _ => continue,
            };
            let known = KEYS.iter().find(|(key, _)| *key == hold.key);
            self.tickets.insert(hold.ticket, known.expect("a key").0);
        }
        loop {
            let outcome = self.engine.step(self.now, &commands);
            commands.drain(..outcome.handled);
            self.tell_all(outcome.events);
            self.next_step = outcome.next_deadline;
            commands.extend(self.server.commands());
            if commands.is_empty() && self.next_step.is_none_or(|at| at > self.now) {
                return;
            }
        }
    }

    fn tell_all(&mut self, events: Vec<Did>) {
        events.iter().for_each(|event| self.see(event));
        let dated = self.now;
        let told = |event| {
            Some(Told {
                dated,
                event: Event::of(event)?,
            })
        };
        let told = events.into_iter().filter_map(told).collect();
        let journal = &mut self.journal;
        self.server.told_all(told, |records| {
            records.into_iter().for_each(|record| journal.apply(record));
            Ok(())
        });
    }

    fn see(&mut self, event: &Did) {
        match event {
            Did::Granted(grant) => {
                let key = self.tickets[&grant.ticket];
                self.live.insert(grant.ticket, (key, grant.lease.fence));
            }
            Did::Ended { ticket, .. } | Did::Superseded(ticket) => {
                self.live.remove(ticket);
            }
            Did::Refused {
                why: Refusal::InUse | Refusal::Closed | Refusal::Cancelled,
                ..
            } => {}
            Did::Refused { why, .. } => panic!("refused for {why:?}"),
            _ => {}
        }
    }

    fn note(&mut self, event: client::Event) {
        match event {
            client::Event::Granted { ask, lease } => {
                let asked = self.asks.get_mut(&ask).expect("asked");
                assert_eq!(asked.state, State::Waiting, "answered twice");
                asked.state = State::Held { fence: lease.fence };
                self.done.granted += 1;
            }
            client::Event::Refused { ask, .. } => {
                let asked = self.asks.get_mut(&ask).expect("asked");
                assert_eq!(asked.state, State::Waiting, "answered twice");
                asked.state = State::Over;
            }
            client::Event::Ended { ask, how } => {
                let asked = self.asks.get_mut(&ask).expect("asked");
                assert!(matches!(asked.state, State::Held { .. }), "ended twice");
                asked.state = State::Over;
                self.done.unreachable += usize::from(how == Ending::Unreachable);
            }
            client::Event::Renewed { .. } => self.done.renewed += 1,
            client::Event::Welcome { .. } | client::Event::Retrying { .. } => {}
            other => panic!("{other:?}"),
        }
    }

    /// Of each key, those whose holders count on it and those that the store gave
    /// are not more than may be.
    fn check(&self) {
        for (key, limit) in KEYS {
            let mut fences: HashSet<u64> = HashSet::new();
            let live = self.live.values().filter(|(held, _)| *held == key);
            fences.extend(live.map(|(_, fence)| *fence));
            fences.extend(self.believed(key));
            assert!(
                fences.len() <= limit as usize,
                "{key} at {}: {fences:?}",
                self.now
            );
        }
    }

    /// The fences of a key's leases whose holders count on them.
    pub fn believed(&self, key: &str) -> impl Iterator<Item = u64> {
        self.asks.iter().filter_map(move |(number, asked)| {
            let State::Held { fence } = asked.state else {
                return None;
            };
            let deadline = self.machines[asked.client].client.deadline(*number)?;
            (asked.key == key && deadline > self.clock(asked.client)).then_some(fence)
        })
    }

    /// Nothing is left, of anything.
    pub fn assert_nothing_left(&self) {
        let open = self
            .asks
            .values()
            .filter(|asked| asked.state != State::Over);
        assert_eq!(open.count(), 0, "asks without an end");
        let counts = self.engine.counts();
        assert_eq!((counts.keys, counts.leases, counts.waiters), (0, 0, 0));
        assert_eq!(counts.sessions, 1, "the store's own is left");
    }
}
