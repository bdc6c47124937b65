//! Reaching a store that another process holds.

use std::sync::Arc;
use std::thread::Builder;

use witlock_engine::bounds::LABEL_BYTES;
use witlock_session::client::Identity;

use crate::clock::{BootClock, Clock};
use crate::error::ConnectError;
use crate::net::Address;
use crate::net::client::{Dialer, Remote, There};
use crate::store::Store;

/// How a store is reached that another process serves; more than
/// [`Store::connect`] can say.
///
/// ```no_run
/// # fn main() -> Result<(), witlock::ConnectError> {
/// let store = witlock::Connector::new("tcp:127.0.0.1:7411")
///     .name("billing, worker 3")
///     .token(std::env::var("WITLOCK_TOKEN").unwrap_or_default())
///     .connect()?;
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is reached until `connect` is called"]
pub struct Connector {
    address: String,
    identity: Identity,
    clock: Arc<dyn Clock>,
    #[cfg(feature = "tls")]
    roots: Option<Vec<u8>>,
}

impl Connector {
    /// A connection to a server at `unix:PATH`, `tcp:HOST:PORT` or `tls:HOST:PORT`.
    pub fn new(address: impl Into<String>) -> Self {
        Connector {
            address: address.into(),
            identity: Identity::default(),
            clock: Arc::new(BootClock),
            #[cfg(feature = "tls")]
            roots: None,
        }
    }

    /// What an operator sees beside the leases held over this connection, at
    /// most 128 bytes; what is more is left out.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        let mut name: String = name.into();
        name.truncate(name.floor_char_boundary(LABEL_BYTES));
        self.identity.name = name;
        self
    }

    /// What a server asks for that listens on TCP.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.identity.token = token.into();
        self
    }

    /// The holders' own deadlines follow this clock. [`BootClock`] unless given.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Whom a server at `tls:HOST:PORT` has to be vouched for by: certificates, PEM.
    /// There are none unless given.
    #[cfg(feature = "tls")]
    pub fn tls_roots(mut self, roots: impl Into<Vec<u8>>) -> Self {
        self.roots = Some(roots.into());
        self
    }

    /// Connects, and blocks until the server answered, at most some seconds.
    ///
    /// # Errors
    ///
    /// If the address is none, nobody answers there, or who does refuses.
    pub fn connect(self) -> Result<Store, ConnectError> {
        let dialer = self.dialer()?;
        let alarm = self.clock.alarm().map_err(ConnectError::Clock)?;
        let random = random().map_err(ConnectError::Random)?;
        let remote = Remote::new(self.clock, alarm, self.identity, random);
        let remote = Arc::new(remote);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(ConnectError::Thread)?;
        let (kept, linked) = (remote.clone(), remote.clone());
        let keeper = Builder::new().name("witlock-keeper".into());
        let keeper = keeper
            .spawn(move || kept.keep())
            .map_err(ConnectError::Thread)?;
        let link = Builder::new().name("witlock-link".into());
        let link = link.spawn(move || dialer.keep_connected(runtime, &linked));
        let there = match link {
            Ok(link) => There::new(remote, vec![keeper, link]),
            Err(error) => {
                There::new(remote, vec![keeper]).close();
                return Err(ConnectError::Thread(error));
            }
        };
        match there.remote().until_let_in(&self.address) {
            Ok(()) => Ok(Store::there(there)),
            Err(error) => {
                there.close();
                Err(error)
            }
        }
    }

    fn dialer(&self) -> Result<Dialer, ConnectError> {
        let address: Address = self.address.parse().map_err(|why| ConnectError::Address {
            address: self.address.clone(),
            why,
        })?;
        Ok(Dialer {
            #[cfg(feature = "tls")]
            tls: self.tls(&address)?,
            address,
        })
    }

    #[cfg(feature = "tls")]
    fn tls(
        &self,
        address: &Address,
    ) -> Result<
        Option<(
            Arc<rustls::ClientConfig>,
            rustls::pki_types::ServerName<'static>,
        )>,
        ConnectError,
    > {
        let Address::Tls(host) = address else {
            return Ok(None);
        };
        let failed = |why: String| ConnectError::Certificate {
            address: self.address.clone(),
            why,
        };
        let roots = self.roots.as_deref().unwrap_or_default();
        let config = crate::net::client_config(roots).map_err(failed)?;
        let name = host
            .rsplit_once(':')
            .map_or(host.as_str(), |(name, _)| name);
        let name = name.trim_matches(['[', ']']).to_owned();
        let name = name
            .try_into()
            .map_err(|_| failed("its host is no name".into()))?;
        Ok(Some((config, name)))
    }
}

fn random() -> std::io::Result<u128> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(u128::from_ne_bytes(bytes))
}
