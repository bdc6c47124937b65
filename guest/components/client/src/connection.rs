//! The connection: made, read with and without waiting, written.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use witlock_session::client::ANSWER_WAIT;

use crate::settings::Address;

/// Bytes read at once: what a server answers to a hundred renewals.
const READ_BYTES: usize = 4 << 10;

/// The shortest span to wait: sockets take 0 for no bound.
const SHORTEST: Duration = Duration::from_millis(1);

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    #[error("{address} has no address: {source}; names need `-S allow-ip-name-lookup` too")]
    Name { address: Address, source: io::Error },
    #[error("{address}: {source}; a component needs `wasmtime run -S inherit-network`")]
    Denied { address: Address, source: io::Error },
    #[error("{address}: {source}")]
    Refused { address: Address, source: io::Error },
}

impl Failed {
    /// Whether the runtime keeps the component from the network.
    pub fn is_denied(&self) -> bool {
        matches!(self, Failed::Denied { .. })
    }
}

/// A connection to a server.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Box<[u8; READ_BYTES]>,
}

impl Connection {
    /// Connects to the first of the server's addresses that answers in time.
    pub fn open(address: &Address, within: Duration) -> Result<Self, Failed> {
        let stream = connect(address, within.max(SHORTEST))?;
        let buffer = Box::new([0; READ_BYTES]);
        Ok(Connection { stream, buffer })
    }

    /// Adds what has arrived.
    ///
    /// # Errors
    ///
    /// If nothing more will arrive; what had is added.
    pub fn take(&mut self, into: &mut Vec<u8>) -> io::Result<()> {
        self.stream.set_nonblocking(true)?;
        let taken = loop {
            match self.read(into) {
                Ok(0) => break Ok(()),
                Ok(_) => {}
                Err(why) => break Err(why),
            }
        };
        self.stream.set_nonblocking(false)?;
        taken
    }

    /// Waits until something arrives, but no longer than so long, and adds it.
    ///
    /// # Errors
    ///
    /// If nothing more will arrive.
    pub fn wait(&mut self, most: Duration, into: &mut Vec<u8>) -> io::Result<()> {
        self.stream.set_read_timeout(Some(most.max(SHORTEST)))?;
        self.read(into).map(drop)
    }

    /// Sends bytes.
    ///
    /// # Errors
    ///
    /// If they can't be sent, or the server takes none for too long.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Adds what one read gives; how much that was. Nothing, if it had to wait for
    /// longer than it may.
    fn read(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
        use io::ErrorKind::{Interrupted, TimedOut, UnexpectedEof, WouldBlock};
        match self.stream.read(&mut self.buffer[..]) {
            Ok(0) => Err(io::Error::new(UnexpectedEof, "it closed the connection")),
            Ok(count) => {
                into.extend_from_slice(&self.buffer[..count]);
                Ok(count)
            }
            Err(why) if matches!(why.kind(), WouldBlock | TimedOut | Interrupted) => Ok(0),
            Err(why) => Err(why),
        }
    }
}

fn connect(address: &Address, within: Duration) -> Result<TcpStream, Failed> {
    let found = address.as_str().to_socket_addrs();
    let found = found.map_err(|source| Failed::Name {
        address: address.clone(),
        source,
    })?;
    let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for at in found {
        match try_address(at, within) {
            Ok(stream) => return Ok(stream),
            Err(why) => failed = why,
        }
    }
    let (address, source) = (address.clone(), failed);
    Err(match source.kind() {
        io::ErrorKind::PermissionDenied => Failed::Denied { address, source },
        _ => Failed::Refused { address, source },
    })
}

fn try_address(at: SocketAddr, within: Duration) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&at, within)?;
    // Seen on `wasm32-wasip2`: a refusal that comes at once is told here only.
    stream.take_error()?.map_or(Ok(()), Err)?;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(Duration::from_nanos(ANSWER_WAIT)))?;
    Ok(stream)
}
