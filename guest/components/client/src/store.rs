//! The store, reached: the client's side of the connection, driven by whoever
//! calls.

use std::collections::HashMap;
use std::io;
use std::thread;
use std::time::Duration;

use witlock_session::Nanoseconds;
use witlock_session::client::{ANSWER_WAIT, Client, Ending, Event, Identity, Terms, Wants};

use crate::bindings::{lock_error, wit};
use crate::clock;
use crate::connection::Connection;
use crate::settings::{Address, Settings, Unusable};

/// How far an ask has got.
enum Ask {
    Waiting,
    Refused(wit::LockError),
    Held { fence: u64 },
    Ended(Ending),
}

/// What one copy of the component knows: one connection, and the session of the
/// one holder there is.
pub(crate) struct Store {
    address: Address,
    client: Client,
    connection: Option<Connection>,
    session: u64,
    asks: HashMap<u64, Ask>,
    last_ask: u64,
    /// The time of the last look.
    now: Nanoseconds,
    /// Why no key can be had, where waiting would be of no use: the server does not
    /// let the client in, or the runtime does not let it out.
    denied: Option<String>,
}

/// What a connection gave; and whether it may give more.
struct Arrived {
    bytes: Vec<u8>,
    is_open: io::Result<()>,
}

impl Store {
    /// Nothing is connected yet.
    pub fn open(settings: Settings) -> Result<Self, Unusable> {
        let Settings {
            address,
            token,
            name,
        } = settings;
        let mut client = Client::new(Identity { token, name }, random()?);
        let id = u128::from(random()?) << 64 | u128::from(random()?);
        let session = client.open_session(id, None, None);
        Ok(Store {
            address,
            client,
            connection: None,
            session,
            asks: HashMap::new(),
            last_ask: 0,
            now: clock::now(),
            denied: None,
        })
    }

    /// Hears what has arrived, renews what is due, and lets go what is lost;
    /// without waiting for anything.
    pub fn look(&mut self) {
        // What arrived while nobody looked is heard as of the last look: a renewal
        // that was answered in time is no loss, however late the answer is read.
        let arrived = self.read(Connection::take);
        self.hear(arrived);
        self.now = clock::now();
        self.go_on();
    }

    /// Asks for a key, and waits for the answer; the ask's number, and the fence.
    pub fn hold(&mut self, terms: Terms<'_>) -> Result<(u64, u64), wit::LockError> {
        self.look();
        self.check_denied()?;
        self.last_ask += 1;
        let number = self.last_ask;
        let asked = self.client.ask(self.now, self.session, number, terms);
        asked.map_err(|why| wit::LockError::Invalid(why.to_string()))?;
        self.asks.insert(number, Ask::Waiting);
        // The client itself gives up an ask that is not answered.
        self.wait(Nanoseconds::MAX, |store| {
            store.denied.is_some() || !matches!(store.asks.get(&number), Some(Ask::Waiting))
        });
        match self.asks.get(&number) {
            Some(Ask::Held { fence }) => return Ok((number, *fence)),
            Some(Ask::Waiting) => self.client.cancel(self.now, number),
            Some(Ask::Refused(_) | Ask::Ended(_)) | None => {}
        }
        match self.asks.remove(&number) {
            Some(Ask::Refused(why)) => Err(why),
            // Given, and over again before anyone was told.
            Some(Ask::Held { .. } | Ask::Ended(_)) => {
                Err(unavailable("the lease was lost at once"))
            }
            Some(Ask::Waiting) | None => self.check_denied().and(Err(wit::LockError::Closed)),
        }
    }

    /// Asks the store whether a lease lasts; how it ended, if it has. Without an
    /// answer, the lease's own deadline tells.
    pub fn ended(&mut self, number: u64) -> Option<Ending> {
        self.look();
        let asked = self.now;
        let deadline = self.client.deadline(number).unwrap_or(asked);
        let until = deadline.min(asked.saturating_add(ANSWER_WAIT));
        while let Some(dated) = self.client.dated_at(number)
            && dated < asked
            && self.now < until
        {
            self.client.renew(self.now, number);
            // An answer to an earlier renewal is none to this.
            self.wait(until, |store| store.client.dated_at(number) != Some(dated));
        }
        self.how_ended(number)
    }

    /// Releases a key; or says how the lease had ended, if it had.
    pub fn release(&mut self, number: u64) -> Result<(), Ending> {
        self.look();
        if let Some(how) = self.how_ended(number) {
            self.client.release(self.now, number);
            self.go_on();
            return Err(how);
        }
        self.client.release(self.now, number);
        // Without an answer, the client itself says that it is over.
        self.wait(Nanoseconds::MAX, |store| store.how_ended(number).is_some());
        match self.how_ended(number) {
            Some(Ending::Released) | None => Ok(()),
            Some(how) => Err(how),
        }
    }

    /// Releases a key if it is held still, without waiting for the answer, and
    /// forgets it.
    pub fn let_go(&mut self, number: u64) {
        self.look();
        self.client.release(self.now, number);
        self.go_on();
        self.asks.remove(&number);
    }

    fn how_ended(&self, number: u64) -> Option<Ending> {
        match self.asks.get(&number) {
            Some(Ask::Ended(how)) => Some(*how),
            _ => None,
        }
    }

    fn check_denied(&self) -> Result<(), wit::LockError> {
        self.denied
            .clone()
            .map_or(Ok(()), |why| Err(unavailable(why)))
    }

    /// Drives the client until something is so, but not beyond a time.
    fn wait(&mut self, until: Nanoseconds, is_so: impl Fn(&Self) -> bool) {
        loop {
            self.go_on();
            if is_so(self) || self.now >= until {
                return;
            }
            match self.client.wants(self.now) {
                Wants::Connection => self.connect(until),
                Wants::ThisConnection | Wants::NoConnection => self.pause(until),
            }
        }
    }

    fn connect(&mut self, until: Nanoseconds) {
        self.client.connecting(self.now);
        let within = until.saturating_sub(self.now).min(ANSWER_WAIT);
        let connected = Connection::open(&self.address, Duration::from_nanos(within));
        self.now = clock::now();
        match connected {
            Ok(connection) => {
                self.connection = Some(connection);
                self.client.connected(self.now);
            }
            Err(why) => {
                self.client.cut(self.now, &why.to_string());
                self.denied = why.is_denied().then(|| why.to_string());
            }
        }
    }

    /// Waits for what arrives, until something is to be done.
    fn pause(&mut self, until: Nanoseconds) {
        let next = self.client.next_deadline().unwrap_or(until).min(until);
        let most = Duration::from_nanos(next.saturating_sub(self.now));
        if self.connection.is_none() {
            thread::sleep(most);
        }
        let arrived = self.read(|connection, bytes| connection.wait(most, bytes));
        self.now = clock::now();
        self.hear(arrived);
    }

    fn read(
        &mut self,
        read: impl FnOnce(&mut Connection, &mut Vec<u8>) -> io::Result<()>,
    ) -> Arrived {
        let mut bytes = Vec::new();
        let connection = self.connection.as_mut();
        let is_open = connection.map_or(Ok(()), |connection| read(connection, &mut bytes));
        Arrived { bytes, is_open }
    }

    fn hear(&mut self, arrived: Arrived) {
        // None at all would be heard as a sign of life.
        if !arrived.bytes.is_empty() {
            self.client.received(self.now, &arrived.bytes);
        }
        if let Err(why) = arrived.is_open {
            self.cut(&why);
        }
    }

    /// Does what is due, sends what is to be sent, and takes note of what
    /// happened.
    fn go_on(&mut self) {
        self.client.tick(self.now);
        self.send();
        for event in self.client.events() {
            self.note(event);
        }
    }

    fn send(&mut self) {
        if self.client.wants(self.now) != Wants::ThisConnection {
            self.connection = None;
        }
        let Some(connection) = &mut self.connection else {
            return;
        };
        let mut bytes = Vec::new();
        self.client.outgoing(&mut bytes);
        if let Err(why) = connection.send(&bytes) {
            self.cut(&why);
        }
    }

    /// The connection is of no use any more. The client may know of it by what the
    /// server said.
    fn cut(&mut self, why: &io::Error) {
        if self.client.wants(self.now) == Wants::ThisConnection {
            self.client
                .cut(self.now, &format!("{}: {why}", self.address));
        }
        self.connection = None;
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Granted { ask, lease } => {
                let fence = lease.fence;
                self.news(ask, Ask::Held { fence });
            }
            Event::Refused { ask, why, text } => {
                self.news(ask, Ask::Refused(lock_error(why, text)));
            }
            Event::Ended { ask, how } => self.news(ask, Ask::Ended(how)),
            Event::Welcome { .. } => self.denied = None,
            Event::Denied(why) => {
                self.denied = Some(format!("the server {} refuses: {why}", self.address));
            }
            Event::Renewed { .. } | Event::Retrying { .. } | Event::Answered { .. } => {}
        }
    }

    /// Of an ask that somebody waits for or counts on.
    fn news(&mut self, number: u64, ask: Ask) {
        if let Some(known) = self.asks.get_mut(&number) {
            *known = ask;
        }
    }
}

fn random() -> Result<u64, Unusable> {
    getrandom::u64().map_err(Unusable::Random)
}

fn unavailable(why: impl Into<String>) -> wit::LockError {
    wit::LockError::Unavailable(why.into())
}
