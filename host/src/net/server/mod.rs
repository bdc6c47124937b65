//! Lets other processes reach a store.

mod accept;
mod connection;
pub(crate) mod desk;
mod link;
mod listener;
mod translate;

use std::io;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use witlock_session::server::Admission;
use witlock_session::wire::TOKEN_BYTES;

use super::Address;
use crate::error::BindError;
use crate::store::Store;
use accept::{Listener, Seals};
use desk::Standing;
use listener::Bound;

/// How often the desk is looked after.
const TICK: Duration = Duration::from_secs(1);

/// How long a server that stops goes on writing to its clients.
const GOODBYE: Duration = Duration::from_secs(1);

/// A server: other processes reach the store through it, by
/// [`Store::connect`](crate::Store::connect), `witlock hold` or `client.wasm`.
///
/// It has a thread of its own, and keeps the store open. A store has one server at a
/// time, at as many addresses as are wanted. Dropped, it stops as
/// [`stop`](Server::stop) does. After [`Store::close`](crate::Store::close) every
/// ask over a connection is refused `closed`.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let dir = tempfile::tempdir()?;
/// # let socket = format!("unix:{}/witlock.sock", dir.path().display());
/// let store = witlock::Store::in_memory()?;
/// let server = witlock::Server::bind(&store, &socket)?;
///
/// let elsewhere = witlock::Store::connect(&socket)?;
/// let charges = elsewhere.lock("charges").open()?;
/// let fence = charges.blocking_hold("invoice-17", |lease| lease.fence())?;
/// assert!(fence > 0);
/// # elsewhere.close();
/// server.stop();
/// # Ok(())
/// # }
/// ```
pub struct Server {
    addresses: Vec<String>,
    /// Woken when the server is to stop.
    ending: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
    _store: Store,
}

/// Serves a store at several addresses, or to who knows a token.
#[must_use = "nothing is served until `bind` is called"]
pub struct ServerBuilder {
    store: Store,
    addresses: Vec<String>,
    admission: Admission,
    #[cfg(feature = "tls")]
    tls: Option<(Vec<u8>, Vec<u8>)>,
}

impl Server {
    /// Serves the store at `unix:PATH`, to processes of the same user.
    ///
    /// # Errors
    ///
    /// As [`ServerBuilder::bind`].
    pub fn bind(store: &Store, address: &str) -> Result<Server, BindError> {
        Self::builder(store).listen(address).bind()
    }

    /// A server for more than that.
    pub fn builder(store: &Store) -> ServerBuilder {
        ServerBuilder {
            store: store.clone(),
            addresses: Vec::new(),
            admission: Admission::default(),
            #[cfg(feature = "tls")]
            tls: None,
        }
    }

    /// Where it listens, in the order given; for port 0 with the port it was given.
    pub fn addresses(&self) -> &[String] {
        &self.addresses
    }

    /// Tells every client to come back, and stops. **No lease ends**: they last by
    /// their ttl, and go on at the next server of this store. Blocks until the
    /// clients were told, for at most a second.
    pub fn stop(self) {}
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ending.notify_one();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::error!("the server's thread panicked");
        }
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("addresses", &self.addresses)
            .finish_non_exhaustive()
    }
}

impl ServerBuilder {
    /// Listens at this address too: `unix:PATH` (mode 0600; a socket that a dead
    /// server left there is replaced), `tcp:HOST:PORT` on loopback only, or
    /// `tls:HOST:PORT`. TCP asks for a token, since loopback belongs to every user
    /// of a machine.
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        self.addresses.push(address.into());
        self
    }

    /// Lets in who knows this token, 1 to 1024 bytes. Compared in constant time, and
    /// never shown.
    pub fn token(mut self, token: impl Into<Vec<u8>>) -> Self {
        self.admission.token = Some(token.into());
        self
    }

    /// Lets in who knows this one, as an operator: to list what is held, and to
    /// break leases. Over a Unix socket that needs no token.
    pub fn admin_token(mut self, token: impl Into<Vec<u8>>) -> Self {
        self.admission.operator_token = Some(token.into());
        self
    }

    /// With what connections to `tls:` are sealed: a chain of certificates and its
    /// key, both PEM.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, chain: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        self.tls = Some((chain.into(), key.into()));
        self
    }

    /// Listens at every address, and serves.
    ///
    /// # Errors
    ///
    /// [`BindError`], of the first address that can't be listened at; then none is.
    pub fn bind(self) -> Result<Server, BindError> {
        let desk = self.store.desk().ok_or(BindError::NotHere)?;
        let standing = Standing::at(desk).ok_or(BindError::Served)?;
        let addresses = self.parsed()?;
        self.check_tokens(&addresses)?;
        let seals = self.seals(&addresses)?;
        let bound: Vec<Bound> = addresses
            .iter()
            .map(Bound::bind)
            .collect::<Result<_, _>>()?;
        let addresses = bound
            .iter()
            .map(|bound| bound.address().to_string())
            .collect();
        let runtime = runtime().map_err(BindError::Thread)?;
        let listeners = {
            let _entered = runtime.enter();
            let listeners = bound.into_iter().map(|bound| Listener::new(bound, &seals));
            listeners
                .collect::<io::Result<Vec<_>>>()
                .map_err(BindError::Thread)?
        };
        let ending = Arc::new(Notify::new());
        let at_work = AtWork::new(standing, self.admission);
        let thread = std::thread::Builder::new().name("witlock-server".into());
        let stopped = ending.clone();
        let thread = thread.spawn(move || runtime.block_on(at_work.serve(listeners, &stopped)));
        Ok(Server {
            addresses,
            ending,
            thread: Some(thread.map_err(BindError::Thread)?),
            _store: self.store,
        })
    }

    fn parsed(&self) -> Result<Vec<Address>, BindError> {
        let parse = |address: &String| {
            let parsed = address.parse();
            parsed.map_err(|why| BindError::Address {
                address: address.clone(),
                why,
            })
        };
        self.addresses.iter().map(parse).collect()
    }

    fn check_tokens(&self, addresses: &[Address]) -> Result<(), BindError> {
        let tokens = [&self.admission.token, &self.admission.operator_token];
        let mut given = tokens.into_iter().flatten().map(Vec::len);
        if let Some(length) = given.find(|length| !(1..=TOKEN_BYTES).contains(length)) {
            return Err(BindError::TokenLength(length));
        }
        let is_open = |address: &&Address| !matches!(address, Address::Unix(_));
        match addresses.iter().find(is_open) {
            Some(address) if tokens.into_iter().flatten().next().is_none() => {
                let address = address.to_string();
                Err(BindError::Token { address })
            }
            _ => Ok(()),
        }
    }

    #[cfg(feature = "tls")]
    fn seals(&self, addresses: &[Address]) -> Result<Seals, BindError> {
        let sealed = addresses
            .iter()
            .find(|address| matches!(address, Address::Tls(_)));
        match (sealed, &self.tls) {
            (None, _) => Ok(Seals::Plain),
            (Some(_), Some((chain, key))) => super::server_config(chain, key)
                .map(Seals::Tls)
                .map_err(BindError::Certificate),
            (Some(address), None) => {
                let why = format!("{address} needs a certificate and its key");
                Err(BindError::Certificate(why))
            }
        }
    }

    #[cfg(not(feature = "tls"))]
    fn seals(&self, addresses: &[Address]) -> Result<Seals, BindError> {
        match addresses
            .iter()
            .any(|address| matches!(address, Address::Tls(_)))
        {
            false => Ok(Seals::Plain),
            true => Err(BindError::Certificate(
                "built without the feature `tls`".into(),
            )),
        }
    }
}

fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

/// A server's thread.
struct AtWork {
    standing: Standing,
    admission: Admission,
    told: Arc<Bell>,
}

/// Rung when the engine did something for a connection, or is asked something.
#[derive(Default)]
struct Bell(Notify);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.notify_one();
    }
}

impl AtWork {
    fn new(standing: Standing, admission: Admission) -> Self {
        let told = Arc::default();
        AtWork {
            standing,
            admission,
            told,
        }
    }

    async fn serve(self, listeners: Vec<Listener>, ending: &Notify) {
        let desk = self.standing.desk();
        desk.serve(self.admission, Waker::from(self.told.clone()));
        let (stop, stopped) = watch::channel(false);
        let mut accepting = JoinSet::new();
        for listener in listeners {
            accepting.spawn(listener.accept_all(desk.clone(), stopped.clone()));
        }
        let mut ticks = tokio::time::interval(TICK);
        loop {
            tokio::select! {
                () = self.told.0.notified() => desk.told(),
                _ = ticks.tick() => desk.tick(),
                () = ending.notified() => break,
            }
        }
        // Nobody listens only once the server is gone.
        let _ = stop.send(true);
        desk.stop();
        let _ = tokio::time::timeout(GOODBYE, accepting.join_all()).await;
    }
}
