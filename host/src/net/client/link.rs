//! The thread that makes connections, reads from them, and writes what there was no
//! room for.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::Interest;
use tokio::runtime::Runtime;
use tokio::time::timeout;

use super::remote::Remote;
use crate::net::{Address, Seal, Socket};

/// How long a connection may take to be made.
const CONNECTING: Duration = Duration::from_secs(5);

/// Makes the connections of a client.
pub(crate) struct Dialer {
    pub address: Address,
    #[cfg(feature = "tls")]
    pub tls: Option<(
        Arc<rustls::ClientConfig>,
        rustls::pki_types::ServerName<'static>,
    )>,
}

impl Dialer {
    /// Keeps the client connected until its store is closed.
    pub fn keep_connected(self, runtime: Runtime, remote: &Remote) {
        runtime.block_on(async {
            while !remote.is_closed() {
                if !remote.wants_connection() {
                    remote.link_changed.notified().await;
                    continue;
                }
                remote.connecting();
                match self.connect().await {
                    Ok((socket, seal)) => self.talk(remote, Arc::new(socket), seal).await,
                    Err(error) => remote.cut(None, &error),
                }
            }
        });
    }

    async fn connect(&self) -> io::Result<(Socket, Seal)> {
        let connected = timeout(CONNECTING, Socket::connect(&self.address)).await;
        let socket = connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))?;
        Ok((socket, self.seal()?))
    }

    #[cfg(feature = "tls")]
    fn seal(&self) -> io::Result<Seal> {
        let Some((config, name)) = &self.tls else {
            return Ok(Seal::Plain);
        };
        let tls = rustls::ClientConnection::new(config.clone(), name.clone());
        tls.map(Seal::tls).map_err(io::Error::other)
    }

    #[cfg(not(feature = "tls"))]
    fn seal(&self) -> io::Result<Seal> {
        Ok(Seal::Plain)
    }

    /// Reads and writes until the connection is cut, or given up by the client.
    async fn talk(&self, remote: &Remote, socket: Arc<Socket>, seal: Seal) {
        remote.connected(&socket, seal);
        while let Some(has_unsent) = remote.status(&socket) {
            let interest = match has_unsent {
                true => Interest::READABLE | Interest::WRITABLE,
                false => Interest::READABLE,
            };
            let ready = tokio::select! {
                ready = socket.ready(interest) => ready,
                () = remote.link_changed.notified() => continue,
            };
            let read = ready.and_then(|ready| {
                if ready.is_writable() {
                    remote.go_ahead();
                }
                read(remote, &socket)
            });
            if let Err(error) = read {
                remote.cut(Some(&socket), &error);
            }
        }
    }
}

fn read(remote: &Remote, socket: &Arc<Socket>) -> io::Result<()> {
    let read = socket.read(|bytes| match bytes.is_empty() {
        true => Err(io::Error::other("it closed the connection")),
        false => remote.received(socket, bytes),
    });
    read?.unwrap_or(Ok(()))
}
