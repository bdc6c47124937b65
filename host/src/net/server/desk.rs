//! Between connections and the engine. It lasts as long as the store: sessions
//! outlive the server that opened them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::Waker;
use std::time::Duration;

use witlock_engine::{Command, Hold, bounds};
use witlock_session::server::{self, Admission, ConnectionId, Event, Trust};
use witlock_session::wire::refused::Why;

use super::link::Link;
use super::translate;
use crate::backend::Backend;
use crate::driver::{Driver, REMOTE, Told, lock, wit};
use crate::journal::Journal;

/// How many looks at the store, about one a second, find nothing of any connection
/// until the store's file says so: each time it does, and grows again, is a write
/// that is synced.
const IDLE_LOOKS: u32 = 60;

/// Bytes of messages that wait for a step, at most: what a step's commands come in.
const BATCH_BYTES: usize = 64 << 10;

/// How long the store's closing waits for holders over connections to confirm it.
const CONFIRMING: Duration = Duration::from_secs(1);

pub(crate) struct Desk {
    driver: Arc<Driver>,
    state: Mutex<State>,
    is_served: AtomicBool,
    /// Woken when nothing is held over any connection.
    idle: Condvar,
}

struct State {
    server: server::Server,
    journal: Journal,
    links: HashMap<ConnectionId, Arc<Link>>,
    /// Of the server that stands here: woken, it calls [`told`](Desk::told).
    waker: Waker,
    /// Bytes that were heard since what was asked was handed on last.
    heard: usize,
    idle_looks: u32,
}

/// A server's place at the desk: there is one at a time.
pub(super) struct Standing(Arc<Desk>);

impl Standing {
    /// None if another server stands there.
    pub fn at(desk: Arc<Desk>) -> Option<Standing> {
        let was_served = desk.is_served.swap(true, Ordering::AcqRel);
        (!was_served).then(|| Standing(desk))
    }

    pub fn desk(&self) -> &Arc<Desk> {
        &self.0
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        self.0.is_served.store(false, Ordering::Release);
    }
}

impl Desk {
    /// Goes on with the leases of which a journal tells.
    pub fn open(driver: Arc<Driver>, journal: Journal) -> Self {
        // Nobody is told before there is a server, but what happens is not lost.
        driver.open_outlet(Waker::noop().clone());
        let desk = Desk {
            driver,
            state: Mutex::new(State {
                server: server::Server::new(REMOTE, Admission::default()),
                journal,
                links: HashMap::new(),
                waker: Waker::noop().clone(),
                heard: 0,
                idle_looks: 0,
            }),
            is_served: AtomicBool::new(false),
            idle: Condvar::new(),
        };
        desk.restore(&mut lock(&desk.state));
        desk
    }

    /// Has the engine take the leases back, all of them before anything else is asked
    /// of it. False if it traps at that: then they are waited out.
    fn restore(&self, state: &mut State) -> bool {
        let now = self.driver.now();
        state.journal.start(now, self.driver.grace().until());
        state.server.restore(now, state.journal.leases());
        let commands = state.server.commands().into_iter();
        self.driver.submit(commands.map(translate::command));
        self.driver.run_all();
        let told = self.driver.told();
        let trapped = told
            .iter()
            .any(|told| matches!(told, Told::BeganAnew { .. }));
        match trapped {
            true => state.server.forget_all(),
            false => self.tell_all(state, told),
        }
        !trapped
    }

    /// A server stands at the desk from now on.
    pub(super) fn serve(&self, admission: Admission, waker: Waker) {
        let mut state = lock(&self.state);
        state.server.set_admission(admission);
        self.mind_the_grace(&mut state);
        state.waker = waker.clone();
        self.driver.open_outlet(waker);
        // What came while nobody stood here.
        self.go_on(&mut state);
    }

    pub(super) fn connected(&self, trust: Trust, link: Arc<Link>) -> ConnectionId {
        let mut state = lock(&self.state);
        let id = state.server.connected(self.driver.now(), trust);
        state.links.insert(id, link);
        id
    }

    /// Bytes came. What they ask is handed on once every connection that had some was
    /// read: together that is one step, and for each one write.
    pub(super) fn received(&self, id: ConnectionId, bytes: &[u8]) {
        let mut state = lock(&self.state);
        let now = self.driver.now();
        state.server.received(now, id, bytes);
        state.heard += bytes.len();
        match state.heard < BATCH_BYTES {
            true => state.waker.wake_by_ref(),
            false => self.go_on(&mut state),
        }
    }

    pub(super) fn disconnected(&self, id: ConnectionId) {
        let mut state = lock(&self.state);
        // What it is to be answered, while it can be.
        self.go_on(&mut state);
        state.links.remove(&id);
        state.server.disconnected(self.driver.now(), id);
        self.go_on(&mut state);
        // Who is gone confirms nothing.
        self.idle.notify_all();
    }

    /// There may be room for what could not be written.
    pub(super) fn write(&self, id: ConnectionId) {
        lock(&self.state).write(id);
    }

    /// The engine did something for a connection, or is asked something.
    pub(super) fn told(&self) {
        self.go_on(&mut lock(&self.state));
    }

    /// To be called about once a second.
    pub(super) fn tick(&self) {
        let mut state = lock(&self.state);
        state.server.tick(self.driver.now());
        self.go_on(&mut state);
        state.idle_looks = match state.server.is_idle() {
            true => state.idle_looks.saturating_add(1),
            false => 0,
        };
        if state.idle_looks == IDLE_LOOKS {
            // Nothing can be asked meanwhile.
            self.driver.grace().lower(|| true);
        }
    }

    /// Tells everyone at a connection to come back.
    pub(super) fn stop(&self) {
        let mut state = lock(&self.state);
        state.server.stop();
        self.go_on(&mut state);
    }

    /// The store closed: tells everyone so.
    pub fn close(&self) {
        let mut state = lock(&self.state);
        // Waiters are answered first.
        self.go_on(&mut state);
        state.server.close();
        self.go_on(&mut state);
    }

    /// The store is closed: nothing more is written to its directory.
    pub fn let_go(&self) {
        lock(&self.state).journal.let_go();
    }

    /// Waits until nothing is held over any connection that there is, but not for long:
    /// who lets nothing go is not waited for.
    pub fn until_idle(&self) {
        let state = lock(&self.state);
        let is_held = |state: &mut State| !state.server.is_idle() && !state.links.is_empty();
        let _ = self.idle.wait_timeout_while(state, CONFIRMING, is_held);
    }

    /// Hands on what was asked, tells what came of it, and writes.
    fn go_on(&self, state: &mut State) {
        state.heard = 0;
        loop {
            let commands = state.server.commands();
            let is_quiet = commands.is_empty();
            if !is_quiet {
                let commands = self.covered(state, commands);
                self.driver
                    .submit(commands.into_iter().map(translate::command));
            }
            let told = self.driver.told();
            if is_quiet && told.is_empty() {
                break;
            }
            self.tell_all(state, told);
        }
        for id in state.server.touched() {
            state.write(id);
        }
        if state.server.is_idle() {
            self.idle.notify_all();
        }
    }

    fn tell_all(&self, state: &mut State, told: Vec<Told>) {
        let mut events = Vec::new();
        for told in told {
            match told {
                Told::Event { dated, event } => {
                    let told = |event| server::Told { dated, event };
                    events.extend(translate::event(event).map(told));
                }
                Told::BeganAnew { until } => {
                    state.tell(std::mem::take(&mut events));
                    self.begin_anew(state, until);
                }
            }
        }
        state.tell(events);
    }

    /// The engine trapped, and the next gives no key until this moment: that is time to
    /// tell it of the leases. Their holders are as after a cut.
    fn begin_anew(&self, state: &mut State, until: u64) {
        state.server.forget_all();
        self.mind_the_grace(state);
        if self.driver.now() >= until {
            return state.journal.forget_all();
        }
        if self.restore(state) {
            let until = self.driver.grace().until().unwrap_or(0);
            self.driver.submit([wit::Command::Grace(until)]);
        }
    }

    /// Leases may be live that the engine does not know.
    fn mind_the_grace(&self, state: &mut State) {
        if let Some(until) = self.driver.grace().until() {
            state.server.unknown_until(until);
        }
    }

    /// Sees to it that every hold's ttl is kept durably before it may be given;
    /// leaves out, and refuses, holds of which it can't be.
    fn covered(
        &self,
        state: &mut State,
        mut commands: Vec<Command<'static>>,
    ) -> Vec<Command<'static>> {
        commands.retain(|command| match command {
            Command::Hold(hold) => match self.cover(hold) {
                Ok(()) => true,
                Err(text) => {
                    let (ticket, why) = (hold.ticket, Why::Unavailable);
                    let refused = Event::Refused { ticket, why, text };
                    state.server.told(self.driver.now(), refused);
                    false
                }
            },
            _ => true,
        });
        commands
    }

    fn cover(&self, hold: &Hold) -> Result<(), String> {
        // The engine refuses such a one, and nothing is kept of it.
        if bounds::check(&hold.name, hold.limit, &hold.options).is_err() {
            return Ok(());
        }
        let ttl = hold.options.ttl.unwrap_or(bounds::TTL_DEFAULT);
        let covered = self.driver.grace().cover(Duration::from_millis(ttl.into()));
        covered.map_err(|error| format!("the store can't keep how long leases may last: {error}"))
    }
}

impl State {
    /// Keeps what is to be kept of this, and tells it.
    fn tell(&mut self, told: Vec<server::Told>) {
        let journal = &mut self.journal;
        self.server.told_all(told, |records| journal.keep(records));
    }

    fn write(&mut self, id: ConnectionId) {
        if let Some(link) = self.links.get(&id) {
            let is_last = self.server.is_over(id);
            link.write(is_last, |plain| self.server.outgoing(id, plain));
        }
    }
}
