//! A stream socket of either kind, which never blocks.

use std::cell::RefCell;
use std::io;

use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

use super::Address;

/// Bytes read at once.
const READ_BYTES: usize = 16 << 10;

thread_local! {
    /// What all sockets of a thread read into: room of that size is not to be had
    /// quickly, and each of thousands can't keep some.
    static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

#[cfg(not(unix))]
mod elsewhere;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use elsewhere::Socket;
#[cfg(unix)]
pub(crate) use unix::Socket;

impl Socket {
    /// Connects to a server.
    pub async fn connect(address: &Address) -> io::Result<Socket> {
        match address {
            #[cfg(unix)]
            Address::Unix(path) => UnixStream::connect(path).await.and_then(Socket::unix),
            #[cfg(not(unix))]
            Address::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
            Address::Tcp(host) | Address::Tls(host) => {
                TcpStream::connect(host).await.and_then(Socket::tcp)
            }
        }
    }

    /// Reads what there is, as far as there is room, and hands it on: nothing at the
    /// end. None if there is nothing yet.
    pub fn read<T>(&self, hand_on: impl FnOnce(&[u8]) -> T) -> io::Result<Option<T>> {
        let mut room = ROOM.take();
        room.clear();
        room.reserve(READ_BYTES);
        let read = unless_blocked(self.try_read(&mut room));
        let done = read.map(|some| some.map(|_| hand_on(&room)));
        ROOM.set(room);
        done
    }

    /// Writes what there is room for, and takes it out.
    pub fn write(&self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let mut written = 0;
        let wrote = loop {
            if written == bytes.len() {
                break Ok(());
            }
            match unless_blocked(self.try_write(&bytes[written..])) {
                Ok(Some(some)) => written += some,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        bytes.drain(..written);
        wrote
    }
}

fn unless_blocked(done: io::Result<usize>) -> io::Result<Option<usize>> {
    match done {
        Ok(some) => Ok(Some(some)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}
