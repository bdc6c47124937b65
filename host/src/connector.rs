//! Reaching a store that another process holds.

use std::sync::Arc;

use crate::clock::{BootClock, Clock};
use crate::error::ConnectError;
use crate::store::Store;

/// How a store is reached that another process serves. Not built yet: every
/// attempt is refused.
#[doc(hidden)]
#[must_use = "nothing is reached until `connect` is called"]
pub struct Connector {
    address: String,
    name: Option<String>,
    token: Option<String>,
    clock: Arc<dyn Clock>,
}

impl Connector {
    /// A connection to a server at `unix:PATH` or `tcp:HOST:PORT`.
    pub fn new(address: impl Into<String>) -> Self {
        Connector {
            address: address.into(),
            name: None,
            token: None,
            clock: Arc::new(BootClock),
        }
    }

    /// What an operator sees beside the leases held over this connection, at
    /// most 128 bytes.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// What a server asks for that listens on TCP.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// The holders' own deadlines follow this clock. [`BootClock`] unless given.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Connects.
    ///
    /// # Errors
    ///
    /// If the address is none, nobody answers there, or who does refuses.
    pub fn connect(self) -> Result<Store, ConnectError> {
        let _ = (self.name, self.token, self.clock);
        Err(ConnectError::Address {
            address: self.address,
            why: "not built yet".into(),
        })
    }
}
