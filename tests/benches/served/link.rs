//! A connection of the load's side.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

/// Room for what arrives at once: more than 20 answers.
const READ_BYTES: usize = 16 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Unix,
    Tcp,
}

/// Where a server listens.
#[derive(Debug, Clone)]
pub enum Address {
    Unix(PathBuf),
    Tcp(SocketAddr),
}

pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Address {
    pub async fn connect(&self) -> io::Result<Link> {
        let stream: Box<dyn Stream> = match self {
            Address::Unix(path) => Box::new(UnixStream::connect(path).await?),
            Address::Tcp(address) => {
                let stream = TcpStream::connect(address).await?;
                stream.set_nodelay(true)?;
                Box::new(stream)
            }
        };
        let arrived = Arrived::default();
        let out = Vec::new();
        Ok(Link {
            stream,
            arrived,
            out,
        })
    }
}

/// A connection, what came of it and what is to be sent.
pub struct Link {
    stream: Box<dyn Stream>,
    pub arrived: Arrived,
    pub out: Vec<u8>,
}

impl Link {
    /// Sends what is to be sent, and waits until something comes.
    pub async fn exchange(&mut self) {
        self.stream.write_all(&self.out).await.expect("it reads");
        self.out.clear();
        let read = self.stream.read_buf(self.arrived.room()).await;
        assert!(read.expect("it writes") > 0, "the server hung up");
    }
}

/// What has arrived and was not taken out.
#[derive(Default)]
pub struct Arrived {
    bytes: Vec<u8>,
    taken: usize,
}

impl Arrived {
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.taken..]
    }

    pub fn take(&mut self, bytes: usize) {
        self.taken += bytes;
    }

    fn room(&mut self) -> &mut Vec<u8> {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        self.bytes.reserve(READ_BYTES);
        &mut self.bytes
    }
}
