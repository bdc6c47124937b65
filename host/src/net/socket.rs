//! A stream socket of either kind, which never blocks.

use std::io;
#[cfg(unix)]
use std::os::fd::AsFd;

#[cfg(unix)]
use rustix::buffer::spare_capacity;
#[cfg(unix)]
use rustix::net::{Shutdown, shutdown};
use tokio::io::{Interest, Ready};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

use super::Address;

pub(crate) enum Socket {
    #[cfg(unix)]
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    /// Connects to a server.
    pub async fn connect(address: &Address) -> io::Result<Socket> {
        match address {
            #[cfg(unix)]
            Address::Unix(path) => UnixStream::connect(path).await.map(Socket::Unix),
            #[cfg(not(unix))]
            Address::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
            Address::Tcp(host) | Address::Tls(host) => {
                TcpStream::connect(host).await.and_then(Socket::tcp)
            }
        }
    }

    /// Small messages go at once.
    pub fn tcp(stream: TcpStream) -> io::Result<Socket> {
        stream.set_nodelay(true)?;
        Ok(Socket::Tcp(stream))
    }

    pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        match self {
            #[cfg(unix)]
            Socket::Unix(stream) => stream.ready(interest).await,
            Socket::Tcp(stream) => stream.ready(interest).await,
        }
    }

    #[cfg(unix)]
    fn try_read(&self, into: &mut Vec<u8>) -> io::Result<usize> {
        match self {
            Socket::Unix(stream) => {
                read_out(stream, into, |read| stream.try_io(Interest::READABLE, read))
            }
            Socket::Tcp(stream) => {
                read_out(stream, into, |read| stream.try_io(Interest::READABLE, read))
            }
        }
    }

    #[cfg(not(unix))]
    fn try_read(&self, into: &mut Vec<u8>) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.try_read_buf(into),
        }
    }

    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            #[cfg(unix)]
            Socket::Unix(stream) => stream.try_write(bytes),
            Socket::Tcp(stream) => stream.try_write(bytes),
        }
    }

    /// Reads what there is, as far as there is room; none if there is nothing yet, and 0
    /// at the end.
    pub fn read(&self, into: &mut Vec<u8>) -> io::Result<Option<usize>> {
        unless_blocked(self.try_read(into))
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

    /// Tells the other side that no more will come. Who is gone needn't be told;
    /// elsewhere than on Unix the socket's end has to do.
    pub fn end(&self) {
        #[cfg(unix)]
        let _ = match self {
            Socket::Unix(stream) => shutdown(stream, Shutdown::Write),
            Socket::Tcp(stream) => shutdown(stream, Shutdown::Write),
        };
    }
}

/// Reads once. Where that leaves room, nothing is left in the socket, which is not
/// ready any more: asking it again would cost as much as the reading.
#[cfg(unix)]
fn read_out(
    stream: &impl AsFd,
    into: &mut Vec<u8>,
    try_io: impl FnOnce(&mut dyn FnMut() -> io::Result<usize>) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut some = None;
    let tried = try_io(&mut || {
        let read = rustix::io::read(stream, spare_capacity(into))?;
        some = Some(read);
        match read > 0 && into.len() < into.capacity() {
            true => Err(io::ErrorKind::WouldBlock.into()),
            false => Ok(read),
        }
    });
    some.map_or(tried, Ok)
}

fn unless_blocked(done: io::Result<usize>) -> io::Result<Option<usize>> {
    match done {
        Ok(some) => Ok(Some(some)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}
