//! As tokio has it.

use std::io;

use tokio::io::{Interest, Ready};
use tokio::net::TcpStream;

pub(crate) struct Socket(TcpStream);

impl Socket {
    /// Small messages go at once.
    pub fn tcp(stream: TcpStream) -> io::Result<Socket> {
        stream.set_nodelay(true)?;
        Ok(Socket(stream))
    }

    pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        self.0.ready(interest).await
    }

    pub(super) fn try_read(&self, into: &mut Vec<u8>) -> io::Result<usize> {
        self.0.try_read_buf(into)
    }

    pub(super) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }

    /// The socket's end has to do.
    pub fn end(&self) {}
}
