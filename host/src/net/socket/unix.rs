//! Waits for room only where there was none. The socket stands in the system's list for
//! reading: did it stand there for writing too, each time the other side read would
//! wake this one for nothing.

use std::io;
use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};
use tokio::io::unix::AsyncFd;
use tokio::io::{Interest, Ready};
use tokio::net::{TcpStream, UnixStream};

/// That the other side is gone is an error, not a signal. Where there is no such flag,
/// tokio's sockets are made so.
#[cfg(not(target_vendor = "apple"))]
const NO_SIGNAL: SendFlags = SendFlags::NOSIGNAL;
#[cfg(target_vendor = "apple")]
const NO_SIGNAL: SendFlags = SendFlags::empty();

pub(crate) struct Socket(AsyncFd<OwnedFd>);

impl Socket {
    pub fn unix(stream: UnixStream) -> io::Result<Socket> {
        Self::reading(stream.into_std()?.into())
    }

    /// Small messages go at once.
    pub fn tcp(stream: TcpStream) -> io::Result<Socket> {
        stream.set_nodelay(true)?;
        Self::reading(stream.into_std()?.into())
    }

    fn reading(socket: OwnedFd) -> io::Result<Socket> {
        in_list(socket, Interest::READABLE).map(Socket)
    }

    pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        match interest.is_writable() {
            true => self.ready_for_either(interest).await,
            false => self.0.ready(interest).await.map(|ready| ready.ready()),
        }
    }

    /// The list has a descriptor once: for writing it gets another of the same socket.
    async fn ready_for_either(&self, interest: Interest) -> io::Result<Ready> {
        let other = in_list(self.0.get_ref().try_clone()?, Interest::WRITABLE)?;
        let ready = tokio::select! {
            ready = self.0.readable(), if interest.is_readable() => ready,
            ready = other.writable() => ready,
        };
        ready.map(|ready| ready.ready())
    }

    /// Reads once. Where that leaves room, nothing is left in the socket, which is not
    /// ready any more: asking it again would cost as much as the reading.
    pub(super) fn try_read(&self, into: &mut Vec<u8>) -> io::Result<usize> {
        let mut some = None;
        let tried = self.0.try_io(Interest::READABLE, |socket| {
            let read = recv(socket, spare_capacity(into), RecvFlags::empty())?.0;
            some = Some(read);
            match read > 0 && into.len() < into.capacity() {
                true => Err(io::ErrorKind::WouldBlock.into()),
                false => Ok(read),
            }
        });
        some.map_or(tried, Ok)
    }

    pub(super) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(&self.0, bytes, NO_SIGNAL)?)
    }

    /// Tells the other side that no more will come. Who is gone needn't be told.
    pub fn end(&self) {
        let _ = shutdown(&self.0, Shutdown::Write);
    }
}

fn in_list(socket: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: it is open as long as it is owned, and it is owned by what is made here.
    Ok(unsafe { AsyncFd::register_with_interest(socket, interest) }?)
}
