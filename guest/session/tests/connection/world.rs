//! A store, its server, clients and a network between them, all by one clock.

use std::collections::{BTreeMap, HashMap};

use witlock_engine::{Command, Engine, Options, Seed};
use witlock_session::client::{Client, Ending, Event, Identity, Terms, Wants};
use witlock_session::server::{Admission, ConnectionId, Server, Trust};
use witlock_session::wire::refused::Why;
use witlock_session::wire::{Frames, MESSAGE_BYTES, ToClient, ToStore, put};

use crate::network::{Fate, Network, put_late};
use crate::told::told;

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
    trust: Trust,
    said: Frames,
    /// What happened, and when.
    pub events: Vec<(u64, Event)>,
}

/// A connection that speaks by raw bytes.
#[derive(Default)]
pub struct Stranger {
    frames: Frames,
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
    pub machines: Vec<Machine>,
    strangers: HashMap<ConnectionId, Stranger>,
    next_step: Option<u64>,
    /// Asks, and what key they are for, by number: whose, and which.
    asks: BTreeMap<u64, (usize, String)>,
}

impl World {
    pub fn new() -> Self {
        let mut world = World {
            now: 0,
            engine: Engine::new(Seed::default()),
            server: server(),
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
        for event in outcome.events.into_iter().filter_map(told) {
            self.server.told(self.now, event);
        }
    }

    /// What is held, as far as one page shows it.
    fn holdings(&mut self) -> Vec<witlock_engine::Holding> {
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
            for event in outcome.events.into_iter().filter_map(told) {
                self.server.told(self.now, event);
            }
            self.next_step = outcome.next_deadline;
            commands.extend(self.server.commands());
            if commands.is_empty() && self.next_step.is_none_or(|at| at > self.now) {
                return;
            }
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
