//! What clients do in a life, at random.

use witlock_engine::Options;
use witlock_session::client::Terms;

use crate::network::{Act, MS};
use crate::world::{Asked, Done, KEYS, State, World};

/// Things done in a life.
const ACTS: usize = 150;

/// The longest ttl that is asked for, in milliseconds.
const LONGEST_TTL: u32 = 6_000;

/// Some clients, each with two sessions at most.
pub struct Life {
    world: World,
    /// By client: its sessions.
    sessions: Vec<Vec<u64>>,
    numbers: u64,
}

impl Life {
    pub fn new(seed: u64) -> Self {
        let clients = 1 + (seed % 3) as usize;
        Life {
            world: World::new(seed, clients),
            sessions: vec![Vec::new(); clients],
            numbers: 0,
        }
    }

    pub fn live(mut self) -> Done {
        for _ in 0..ACTS {
            let pause = self.world.random.u64(0..1_500 * MS);
            self.world.run_until(self.world.now + pause);
            self.act();
        }
        self.end_all();
        let quiet = u64::from(LONGEST_TTL) * MS + 60_000 * MS;
        self.world.run_until(self.world.now + quiet);
        self.world.assert_nothing_left();
        self.world.done
    }

    fn act(&mut self) {
        let client = self.world.random.usize(0..self.sessions.len());
        match self.world.random.u8(0..100) {
            0..50 => self.ask(client),
            50..65 => self.release(client),
            65..75 => self.cancel(client),
            75..78 => self.end_session(client),
            78..88 => self.cut(client),
            88..97 => self.make_a_hole(client),
            _ => self.world.restart(u64::from(LONGEST_TTL) * MS),
        }
    }

    fn session(&mut self, client: usize) -> u64 {
        if self.sessions[client].len() < 2 {
            let id = self.world.random.u128(..);
            let machine = &mut self.world.machines[client];
            let session = machine.client.open_session(id, None, None);
            self.sessions[client].push(session);
        }
        let which = self.world.random.usize(0..self.sessions[client].len());
        self.sessions[client][which]
    }

    fn ask(&mut self, client: usize) {
        let session = self.session(client);
        let random = &mut self.world.random;
        let (key, limit) = KEYS[random.usize(0..KEYS.len())];
        let options = Options {
            ttl: Some(random.u32(1_000..=LONGEST_TTL)),
            max_hold: random.bool().then(|| random.u32(1..10_000)),
            label: None,
        };
        let terms = Terms {
            name: "jobs",
            limit: (limit > 1).then_some(limit),
            key,
            wait: Some(random.u32(0..8_000)),
            options,
            alone: false,
        };
        self.numbers += 1;
        let asked = Asked {
            client,
            key,
            state: State::Waiting,
        };
        self.world.asks.insert(self.numbers, asked);
        let now = self.world.clock(client);
        let machine = &mut self.world.machines[client];
        let asked = machine.client.ask(now, session, self.numbers, terms);
        asked.expect("within the bounds");
    }

    /// One of a client's asks in a state.
    fn one(&mut self, client: usize, is: impl Fn(State) -> bool) -> Option<u64> {
        let asks = self.world.asks.iter();
        let of = asks.filter(|(_, asked)| asked.client == client && is(asked.state));
        let mut of: Vec<u64> = of.map(|(number, _)| *number).collect();
        of.sort_unstable();
        self.world.random.choice(of)
    }

    fn release(&mut self, client: usize) {
        if let Some(ask) = self.one(client, |state| matches!(state, State::Held { .. })) {
            let now = self.world.clock(client);
            self.world.machines[client].client.release(now, ask);
        }
    }

    fn cancel(&mut self, client: usize) {
        if let Some(ask) = self.one(client, |state| state == State::Waiting) {
            let now = self.world.clock(client);
            let machine = &mut self.world.machines[client];
            machine.client.cancel(now, ask);
            // It may have been answered in this moment; then it is not cancelled.
            if machine.client.deadline(ask).is_none() {
                self.world.asks.remove(&ask);
            }
        }
    }

    fn end_session(&mut self, client: usize) {
        if let Some(session) = self.sessions[client].pop() {
            let now = self.world.clock(client);
            self.world.machines[client].client.end_session(now, session);
        }
    }

    fn cut(&mut self, client: usize) {
        if let Some(pipe) = self.world.machines[client].pipe {
            self.world.later(50 * MS, Act::ServerSees { pipe });
            self.world.later(50 * MS, Act::ClientSees { pipe });
            self.world.done.cuts += 1;
            let held = KEYS.iter().map(|(key, _)| self.world.believed(key).count());
            self.world.done.came_back_holding += held.sum::<usize>();
        }
    }

    fn make_a_hole(&mut self, client: usize) {
        if let Some(pipe) = self.world.machines[client].pipe {
            let direction = self.world.random.usize(0..2);
            self.world.pipes[pipe].holes[direction] = true;
            self.world.done.holes += 1;
        }
    }

    fn end_all(&mut self) {
        for client in 0..self.sessions.len() {
            while !self.sessions[client].is_empty() {
                self.end_session(client);
            }
        }
    }
}
