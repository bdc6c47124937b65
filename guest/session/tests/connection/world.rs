//! A store, its server, clients and a network between them, all by one clock.

use std::collections::{BTreeMap, HashMap};

use witlock_engine::{Command, Engine, Options, Seed};
use witlock_session::client::{Client, Event, Identity, Terms};
use witlock_session::journal::Journal;
use witlock_session::server::{Admission, ConnectionId, Event as Did, Server, Told, Trust};
use witlock_session::wire::{Frames, ToClient};

use crate::network::Network;

/// Milliseconds in nanoseconds.
pub const MS: u64 = 1_000_000;

/// Seconds in nanoseconds.
pub const S: u64 = 1_000 * MS;

/// The ttl of leases here, in milliseconds.
pub const TTL: u32 = 10_000;

/// Lets clients in.
pub const TOKEN: &str = "a token";

/// Lets operators in.
pub const OPERATOR_TOKEN: &str = "an operator's";

/// A client, its one session, and its way to the server.
pub struct Machine {
    pub client: Client,
    pub session: u64,
    pub network: Network,
    pub connection: Option<ConnectionId>,
    pub trust: Trust,
    pub said: Frames,
    /// What happened, and when.
    pub events: Vec<(u64, Event)>,
}

/// A connection that speaks by raw bytes.
#[derive(Default)]
pub struct Stranger {
    pub frames: Frames,
    pub heard: Vec<ToClient>,
    /// Whether the server closed it.
    pub over: bool,
    /// Whether nothing that is sent to it is taken out.
    pub deaf: bool,
}

/// All of it.
pub struct World {
    pub now: u64,
    pub engine: Engine,
    pub server: Server,
    /// What the next server will know of leases.
    pub journal: Journal,
    /// Why nothing can be written to it, if that is so.
    pub unwritable: Option<String>,
    pub machines: Vec<Machine>,
    pub strangers: HashMap<ConnectionId, Stranger>,
    pub next_step: Option<u64>,
    /// Asks, and what key they are for, by number: whose, and which.
    pub asks: BTreeMap<u64, (usize, String)>,
}

impl World {
    pub fn new() -> Self {
        let mut world = World {
            now: 0,
            engine: Engine::new(Seed::default()),
            server: server(),
            journal: Journal::default(),
            unwritable: None,
            machines: Vec::new(),
            strangers: HashMap::new(),
            next_step: None,
            asks: BTreeMap::new(),
        };
        world.step(vec![Command::AddFences(1..1 << 20)]);
        world
    }

    /// A world with clients that are let in.
    pub fn with(clients: usize) -> Self {
        let mut world = World::new();
        for _ in 0..clients {
            world.add_client(TOKEN, Trust::Nobody);
        }
        world.settle();
        world
    }

    pub fn add_client(&mut self, token: &str, trust: Trust) -> usize {
        let who = self.machines.len();
        let identity = Identity {
            token: token.into(),
            name: format!("client {who}"),
        };
        let mut client = Client::new(identity, 7 + who as u64);
        let session = client.open_session(1 + who as u128, None, None);
        self.machines.push(Machine {
            client,
            session,
            network: Network::default(),
            connection: None,
            trust,
            said: Frames::default(),
            events: Vec::new(),
        });
        who
    }

    /// Asks for a key with a ttl of 10 s and a wait of a minute.
    pub fn ask(&mut self, who: usize, key: &str) -> u64 {
        self.ask_for(who, key, 60_000)
    }

    /// The same with another wait.
    pub fn ask_for(&mut self, who: usize, key: &str, wait: u32) -> u64 {
        self.ask_with(who, key, wait, None)
    }

    /// The same with a max-hold too.
    pub fn ask_with(&mut self, who: usize, key: &str, wait: u32, max_hold: Option<u32>) -> u64 {
        let number = self.asks.len() as u64 + 1;
        self.asks.insert(number, (who, key.into()));
        let terms = Terms {
            name: "jobs",
            key,
            wait: Some(wait),
            options: Options {
                ttl: Some(TTL),
                max_hold,
                ..Options::default()
            },
            ..Terms::default()
        };
        let machine = &mut self.machines[who];
        let asked = machine.client.ask(self.now, machine.session, number, terms);
        asked.expect("within the bounds");
        self.settle();
        number
    }

    pub fn release(&mut self, who: usize, ask: u64) {
        self.machines[who].client.release(self.now, ask);
        self.settle();
    }

    pub fn cancel(&mut self, who: usize, ask: u64) {
        self.machines[who].client.cancel(self.now, ask);
        self.settle();
    }

    /// Breaks all leases, as an operator does.
    pub fn break_all(&mut self) {
        let all = self.holdings();
        all.iter().for_each(|item| self.break_fence(item.fence));
        self.settle();
    }

    /// The engine breaks a lease; the server is told so.
    pub fn break_fence(&mut self, fence: u64) {
        let all = self.holdings();
        let item = all.iter().find(|item| item.fence == fence);
        let place = item.expect("held").place;
        let tag = 0;
        let commands = [Command::Break { tag, fence, place }];
        let outcome = self.engine.step(self.now, &commands);
        self.tell(outcome.events);
    }

    /// What is held, as far as one page shows it.
    pub fn holdings(&mut self) -> Vec<witlock_engine::Holding> {
        let commands = [Command::ListHoldings { tag: 0, cursor: 0 }];
        let outcome = self.engine.step(self.now, &commands);
        let page = outcome.events.into_iter().find_map(|event| match event {
            witlock_engine::Event::Holdings { page, .. } => Some(page.items),
            _ => None,
        });
        page.expect("a page")
    }

    /// Cuts a client's connection: both sides learn of it at once.
    pub fn cut(&mut self, who: usize) {
        let machine = &mut self.machines[who];
        if let Some(id) = machine.connection.take() {
            machine.client.cut(self.now, "cut");
            self.server.disconnected(self.now, id);
        }
        self.settle();
    }

    /// A client gives its connection up, which the server does not see.
    pub fn lose_sight(&mut self, who: usize) {
        self.machines[who].connection = None;
        self.machines[who].client.cut(self.now, "cut");
        self.settle();
    }

    pub fn end_session(&mut self, who: usize) {
        let machine = &mut self.machines[who];
        machine.client.end_session(self.now, machine.session);
        self.settle();
    }

    /// A connection without a client of ours.
    pub fn stranger(&mut self, trust: Trust) -> ConnectionId {
        let id = self.server.connected(self.now, trust);
        self.strangers.insert(id, Stranger::default());
        id
    }

    /// What is known of a stranger.
    pub fn at(&mut self, id: ConnectionId) -> &mut Stranger {
        self.strangers.get_mut(&id).expect("a stranger")
    }

    /// A stranger sends bytes.
    pub fn send(&mut self, id: ConnectionId, bytes: &[u8]) {
        self.server.received(self.now, id, bytes);
        self.settle();
    }

    /// A server that knows nothing takes the place of the one that stopped.
    pub fn begin_anew(&mut self) {
        self.server = server();
        self.next_step = None;
    }

    /// The engine does something.
    pub fn step(&mut self, mut commands: Vec<Command<'static>>) {
        loop {
            let outcome = self.engine.step(self.now, &commands);
            commands.drain(..outcome.handled);
            self.tell(outcome.events);
            self.next_step = outcome.next_deadline;
            commands.extend(self.server.commands());
            if commands.is_empty() && self.next_step.is_none_or(|at| at > self.now) {
                return;
            }
        }
    }

    fn tell(&mut self, events: Vec<witlock_engine::Event>) {
        let dated = self.now;
        let told = |event| {
            Some(Told {
                dated,
                event: Did::of(event)?,
            })
        };
        let told = events.into_iter().filter_map(told).collect();
        let (journal, unwritable) = (&mut self.journal, &self.unwritable);
        self.server.told_all(told, |records| match unwritable {
            Some(why) => Err(why.clone()),
            None => {
                records.into_iter().for_each(|record| journal.apply(record));
                Ok(())
            }
        });
    }

    /// Nothing is kept of any session, by anyone.
    pub fn assert_nothing_left(&self) {
        let counts = self.engine.counts();
        assert_eq!((counts.keys, counts.leases, counts.waiters), (0, 0, 0));
        let kept = self.server.kept();
        assert_eq!((kept.asks, kept.under_way), (0, 0), "{kept:?}");
    }
}

fn server() -> Server {
    let admission = Admission {
        token: Some(TOKEN.into()),
        operator_token: Some(OPERATOR_TOKEN.into()),
    };
    Server::new(1 << 63, admission)
}
