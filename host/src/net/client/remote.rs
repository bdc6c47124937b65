//! The client of a server, and all that waits for it.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use tokio::sync::Notify;
use witlock_engine::LeaseId;
use witlock_session::client::{Client, Event, Identity, Wants};

use super::answers;
use super::questions::Question;
use crate::Ending;
use crate::clock::{Alarm, Clock};
use crate::driver::{Ask, Granted, Wakers, lock, wake};
use crate::error::ConnectError;
use crate::net::{Seal, Socket};

/// How long a closing waits for the server to hear of it.
const LEAVING: Duration = Duration::from_secs(1);

/// How long the first attempt to connect waits for the server's welcome.
const WELCOME: Duration = Duration::from_secs(5);

/// A moment that never comes.
const NEVER: u64 = u64::MAX;

pub(crate) struct Remote {
    clock: Arc<dyn Clock>,
    alarm: Box<dyn Alarm>,
    state: Mutex<State>,
    /// Woken when the connection is to be made, given up or written to.
    pub(super) link_changed: Notify,
    /// Woken when the server let the client in, or didn't, or was left.
    settled: Condvar,
}

pub(super) struct State {
    pub client: Client,
    pub asks: HashMap<u64, Arc<Ask>>,
    pub questions: HashMap<u64, Arc<Question>>,
    last_number: u64,
    last_session: u128,
    connection: Option<Connection>,
    first: First,
    alarm_at: u64,
    pub closed: bool,
    pub wakers: Wakers,
}

/// The connection that there is.
struct Connection {
    socket: Arc<Socket>,
    seal: Seal,
    plain: Vec<u8>,
    unsent: Vec<u8>,
}

/// What came of the first attempt to connect.
#[derive(Debug, Clone)]
enum First {
    Trying,
    LetIn,
    Denied(String),
    Failed(io::ErrorKind, String),
}

impl Remote {
    pub fn new(
        clock: Arc<dyn Clock>,
        alarm: Box<dyn Alarm>,
        identity: Identity,
        random: u128,
    ) -> Self {
        let state = State {
            client: Client::new(identity, random as u64),
            asks: HashMap::new(),
            questions: HashMap::new(),
            last_number: 0,
            last_session: random,
            connection: None,
            first: First::Trying,
            alarm_at: NEVER,
            closed: false,
            wakers: Wakers::new(),
        };
        Remote {
            clock,
            alarm,
            state: Mutex::new(state),
            link_changed: Notify::new(),
            settled: Condvar::new(),
        }
    }

    pub(super) fn clock_now(&self) -> u64 {
        self.clock.now()
    }

    /// Does what is due, then something with the client, then whatever follows.
    pub(super) fn with<T>(&self, act: impl FnOnce(&mut State, u64) -> T) -> T {
        let mut state = lock(&self.state);
        let now = self.clock.now();
        if state.client.next_deadline().is_some_and(|at| at <= now) {
            state.client.tick(now);
        }
        let done = act(&mut state, now);
        let wakers = self.go_on(&mut state);
        drop(state);
        wake(wakers);
        done
    }

    /// Hands out what happened and writes what is to be said.
    fn go_on(&self, state: &mut State) -> Wakers {
        let now = self.clock.now();
        for event in state.client.events() {
            state.hand_out(event);
        }
        if state.client.wants(now) != Wants::ThisConnection && state.connection.take().is_some() {
            self.link_changed.notify_one();
        }
        if state.write().is_err() {
            // Whoever reads it finds out why.
            state.give_up_writing();
        }
        if state.has_unsent() || state.client.wants(now) == Wants::Connection {
            self.link_changed.notify_one();
        }
        self.set_alarm(state);
        self.settled.notify_all();
        std::mem::take(&mut state.wakers)
    }

    /// Only an earlier alarm is worth a system call, as for the engine.
    fn set_alarm(&self, state: &mut State) {
        if state.closed {
            // It is to ring for the closing, and not later.
            return;
        }
        let at = state.client.next_deadline().unwrap_or(NEVER);
        if at < state.alarm_at {
            state.alarm_at = at;
            self.alarm.set(at);
        }
    }

    /// What a thread of its own does: all that is due, until the store is closed.
    pub fn keep(&self) {
        while !lock(&self.state).closed {
            self.with(|state, _| state.alarm_at = NEVER);
            self.alarm.wait();
        }
    }

    /// Does what is due, and writes what there may be room for now.
    pub(super) fn go_ahead(&self) {
        self.with(|_, _| ());
    }

    pub(super) fn is_closed(&self) -> bool {
        lock(&self.state).closed
    }

    pub(super) fn wants_connection(&self) -> bool {
        let state = lock(&self.state);
        !state.closed && state.client.wants(self.clock.now()) == Wants::Connection
    }

    pub(super) fn connecting(&self) {
        self.with(|state, now| state.client.connecting(now));
    }

    pub(super) fn connected(&self, socket: &Arc<Socket>, seal: Seal) {
        self.with(|state, now| {
            if state.closed {
                return;
            }
            state.connection = Some(Connection {
                socket: socket.clone(),
                seal,
                plain: Vec::new(),
                unsent: Vec::new(),
            });
            state.client.connected(now);
        });
    }

    /// Bytes arrived by this socket; an error if they can't be opened.
    pub(super) fn received(&self, socket: &Arc<Socket>, bytes: &[u8]) -> io::Result<()> {
        self.with(|state, now| {
            let Some(connection) = state.connection_by(socket) else {
                return Ok(());
            };
            let plain = connection.seal.open(bytes)?;
            if !plain.is_empty() {
                state.client.received(now, &plain);
            }
            Ok(())
        })
    }

    /// Whether this socket is the connection's, and whether something is unsent.
    pub(super) fn status(&self, socket: &Arc<Socket>) -> Option<bool> {
        let mut state = lock(&self.state);
        let connection = state.connection_by(socket)?;
        Some(!connection.unsent.is_empty())
    }

    /// The connection by this socket is gone; or none could be made.
    pub(super) fn cut(&self, socket: Option<&Arc<Socket>>, why: &io::Error) {
        self.with(|state, now| {
            if let Some(socket) = socket {
                if state.connection_by(socket).is_none() {
                    // Given up before.
                    return;
                }
                state.connection = None;
            }
            if let First::Trying = state.first {
                state.first = First::Failed(why.kind(), why.to_string());
            }
            state.client.cut(now, &why.to_string());
        });
    }

    /// Waits for what comes of the first attempt.
    pub fn until_let_in(&self, address: &str) -> Result<(), ConnectError> {
        let is_trying = |state: &mut State| matches!(state.first, First::Trying);
        let state = lock(&self.state);
        let waited = self.settled.wait_timeout_while(state, WELCOME, is_trying);
        let first = match &waited {
            Ok((state, _)) => state.first.clone(),
            Err(poisoned) => poisoned.get_ref().0.first.clone(),
        };
        let address = address.to_owned();
        match first {
            First::LetIn => Ok(()),
            First::Denied(why) => Err(ConnectError::Denied { address, why }),
            First::Failed(kind, why) => Err(ConnectError::Unreachable {
                address,
                source: io::Error::new(kind, why),
            }),
            First::Trying => Err(ConnectError::Unreachable {
                address,
                source: io::ErrorKind::TimedOut.into(),
            }),
        }
    }

    /// Everything is let go, everyone answered.
    pub fn close(&self) {
        self.with(|state, now| {
            state.closed = true;
            for (_, ask) in state.asks.drain() {
                ask.end(Ending::Closed, &mut state.wakers);
            }
            state.client.end_sessions(now);
        });
        let state = lock(&self.state);
        let is_known = |state: &mut State| state.client.is_up() && state.client.has_sessions();
        let waited = self.settled.wait_timeout_while(state, LEAVING, is_known);
        let mut state = waited.map_or_else(|poisoned| poisoned.into_inner().0, |(state, _)| state);
        state.connection = None;
        state.close_questions();
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        wake(wakers);
        self.link_changed.notify_one();
        self.alarm.set(0);
    }
}

impl State {
    /// A number that no other ask or question has.
    pub fn number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// Opens a session. Who doesn't know the number that the first came after can't
    /// tell any.
    pub fn open_session(&mut self, max_held: Option<u32>, max_waiting: Option<u32>) -> u64 {
        self.last_session = self.last_session.wrapping_add(1);
        self.client
            .open_session(self.last_session, max_held, max_waiting)
    }

    fn connection_by(&mut self, socket: &Arc<Socket>) -> Option<&mut Connection> {
        self.connection
            .as_mut()
            .filter(|connection| Arc::ptr_eq(&connection.socket, socket))
    }

    fn has_unsent(&self) -> bool {
        self.connection
            .as_ref()
            .is_some_and(|connection| !connection.unsent.is_empty())
    }

    fn write(&mut self) -> io::Result<()> {
        let Some(connection) = &mut self.connection else {
            return Ok(());
        };
        self.client.outgoing(&mut connection.plain);
        connection
            .seal
            .seal(&mut connection.plain, &mut connection.unsent)?;
        connection.socket.write(&mut connection.unsent)
    }

    fn give_up_writing(&mut self) {
        if let Some(connection) = &mut self.connection {
            connection.unsent.clear();
        }
    }

    fn hand_out(&mut self, event: Event) {
        match event {
            Event::Welcome { .. } => self.first = First::LetIn,
            Event::Denied(why) => {
                log::warn!("the server refuses this client: {why}");
                self.first = First::Denied(why);
            }
            Event::Granted { ask, lease } => self.granted(ask, lease),
            Event::Refused { ask, why, text } => {
                if let Some(ask) = self.asks.remove(&ask) {
                    ask.refuse(answers::lock_error(why, text), &mut self.wakers);
                }
            }
            Event::Ended { ask, how } => {
                if let Some(ask) = self.asks.remove(&ask) {
                    ask.end(answers::ending(how), &mut self.wakers);
                }
            }
            Event::Renewed { ask: number } => {
                let deadline = self.client.deadline(number);
                if let Some(ask) = self.asks.get(&number) {
                    ask.renew(deadline, &mut self.wakers);
                }
            }
            Event::Retrying { ask } => self.warn_of_retrying(ask),
            Event::Answered { tag, answer } => self.answered(tag, answer),
        }
    }

    fn granted(&mut self, number: u64, id: LeaseId) {
        let deadline = self.client.deadline(number);
        if let Some(ask) = self.asks.get(&number) {
            // Who gave it up has told the client, which lets it go.
            let _ = ask.grant(Granted { id, deadline }, &mut self.wakers);
        }
    }

    fn warn_of_retrying(&self, number: u64) {
        if let Some(fence) = self.asks.get(&number).and_then(|ask| ask.fence()) {
            log::warn!("the renewal of the lease under fence {fence} is not answered; retrying");
        }
    }
}
