//! Who connects, and how far it is trusted.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use witlock_session::server::Trust;

use super::connection;
use super::desk::Desk;
use super::link::Link;
use super::listener::{Bound, SocketFile};
use crate::net::{Seal, Socket};

/// How long to wait after a connection could not be accepted: for want of file
/// descriptors, which others may give back.
const PAUSE: Duration = Duration::from_millis(100);

/// How the connections of a listener are sealed.
#[derive(Clone)]
pub(super) enum Seals {
    Plain,
    #[cfg(feature = "tls")]
    Tls(Arc<rustls::ServerConfig>),
}

/// A socket that is accepted from.
pub(super) enum Listener {
    #[cfg(unix)]
    Unix(tokio::net::UnixListener, #[allow(dead_code)] SocketFile), // removed at the end
    Tcp(tokio::net::TcpListener, Seals),
}

impl Listener {
    /// To be called within a runtime.
    pub fn new(bound: Bound, seals: &Seals) -> io::Result<Self> {
        Ok(match bound {
            #[cfg(unix)]
            Bound::Unix(listener, file) => {
                Listener::Unix(tokio::net::UnixListener::from_std(listener)?, file)
            }
            Bound::Tcp(listener) => {
                Listener::Tcp(tokio::net::TcpListener::from_std(listener)?, Seals::Plain)
            }
            Bound::Tls(listener) => {
                Listener::Tcp(tokio::net::TcpListener::from_std(listener)?, seals.clone())
            }
        })
    }

    async fn accept(&self) -> io::Result<(Link, Trust)> {
        match self {
            #[cfg(unix)]
            Listener::Unix(listener, _) => {
                let (stream, _) = listener.accept().await?;
                let trust = trust(stream.peer_cred()?.uid());
                Ok((Link::new(Socket::unix(stream)?, Seal::Plain), trust))
            }
            Listener::Tcp(listener, seals) => {
                let (stream, _) = listener.accept().await?;
                let link = Link::new(Socket::tcp(stream)?, seals.seal()?);
                Ok((link, Trust::Nobody))
            }
        }
    }

    /// Accepts until it is told to stop, and waits for the last connection's end.
    pub async fn accept_all(self, desk: Arc<Desk>, mut stopped: watch::Receiver<bool>) {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                _ = stopped.changed() => break,
                accepted = self.accept() => match accepted {
                    Ok((link, trust)) => {
                        connections.spawn(connection::serve(desk.clone(), Arc::new(link), trust));
                    }
                    Err(error) => {
                        log::warn!("a connection could not be accepted: {error}");
                        tokio::time::sleep(PAUSE).await;
                    }
                },
                Some(_) = connections.join_next() => {}
            }
        }
        drop(self);
        while connections.join_next().await.is_some() {}
    }
}

/// Whoever runs as the same user could read the store's files too.
#[cfg(unix)]
fn trust(uid: u32) -> Trust {
    match uid == rustix::process::geteuid().as_raw() {
        true => Trust::SameUser,
        false => Trust::Nobody,
    }
}

impl Seals {
    fn seal(&self) -> io::Result<Seal> {
        match self {
            Seals::Plain => Ok(Seal::Plain),
            #[cfg(feature = "tls")]
            Seals::Tls(config) => {
                let tls = rustls::ServerConnection::new(config.clone());
                tls.map(Seal::tls).map_err(io::Error::other)
            }
        }
    }
}
