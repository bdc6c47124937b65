//! Sockets that clients connect to.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
#[cfg(unix)]
use std::os::unix::{
    fs::{FileTypeExt, PermissionsExt},
    net::{UnixListener, UnixStream},
};
use std::path::{Path, PathBuf};

use super::BindError;
use crate::net::Address;

/// A socket that is listened on, and not yet accepted from.
pub(super) enum Bound {
    #[cfg(unix)]
    Unix(UnixListener, SocketFile),
    Tcp(TcpListener),
    Tls(TcpListener),
}

/// A Unix socket's file, removed at the end.
pub(super) struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Bound {
    pub fn bind(address: &Address) -> Result<Bound, BindError> {
        match address {
            #[cfg(unix)]
            Address::Unix(path) => unix(path).map_err(|error| failed(address, error)),
            #[cfg(not(unix))]
            Address::Unix(_) => Err(failed(address, io::ErrorKind::Unsupported.into())),
            Address::Tcp(host) => {
                let found = resolve(host).map_err(|error| failed(address, error))?;
                if !found.iter().all(|found| found.ip().is_loopback()) {
                    return Err(BindError::Unsealed {
                        address: address.to_string(),
                    });
                }
                tcp(&found)
                    .map(Bound::Tcp)
                    .map_err(|error| failed(address, error))
            }
            Address::Tls(host) => {
                let bound = resolve(host).and_then(|found| tcp(&found));
                bound
                    .map(Bound::Tls)
                    .map_err(|error| failed(address, error))
            }
        }
    }

    /// Where it listens: with the port that it was given for port 0.
    pub fn address(&self) -> Address {
        match self {
            #[cfg(unix)]
            Bound::Unix(_, file) => Address::Unix(file.0.clone()),
            Bound::Tcp(listener) => Address::Tcp(local(listener)),
            Bound::Tls(listener) => Address::Tls(local(listener)),
        }
    }
}

fn failed(address: &Address, source: io::Error) -> BindError {
    let address = address.to_string();
    match source.kind() {
        io::ErrorKind::AddrInUse => BindError::InUse { address },
        _ => BindError::Listen { address, source },
    }
}

fn local(listener: &TcpListener) -> String {
    // A socket that is bound has an address.
    listener
        .local_addr()
        .map_or_else(|error| error.to_string(), |at| at.to_string())
}

fn resolve(host: &str) -> io::Result<Vec<SocketAddr>> {
    Ok(host.to_socket_addrs()?.collect())
}

fn tcp(addresses: &[SocketAddr]) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(addresses)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Binds a path. A socket that a dead server left there is removed.
#[cfg(unix)]
fn unix(path: &Path) -> io::Result<Bound> {
    let listener = match UnixListener::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            remove_dead(path)?;
            UnixListener::bind(path)?
        }
        bound => bound?,
    };
    let file = SocketFile(path.to_owned());
    // Others are turned away as they connect: nobody gets in before this.
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(Bound::Unix(listener, file))
}

#[cfg(unix)]
fn remove_dead(path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.file_type().is_socket() {
        let why = "there is a file there that is no socket";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        _ => Err(io::ErrorKind::AddrInUse.into()),
    }
}
