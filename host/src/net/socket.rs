//! A stream socket of either kind, which never blocks.

use std::io;

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

    fn try_read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            #[cfg(unix)]
            Socket::Unix(stream) => stream.try_read(bytes),
            Socket::Tcp(stream) => stream.try_read(bytes),
        }
    }

    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            #[cfg(unix)]
            Socket::Unix(stream) => stream.try_write(bytes),
            Socket::Tcp(stream) => stream.try_write(bytes),
        }
    }

    /// Reads what there is; none if there is nothing yet, and 0 at the end.
    pub fn read(&self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        unless_blocked(self.try_read(bytes))
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

fn unless_blocked(done: io::Result<usize>) -> io::Result<Option<usize>> {
    match done {
        Ok(some) => Ok(Some(some)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}
