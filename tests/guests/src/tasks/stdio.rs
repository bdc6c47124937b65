//! Standard input and output of a guest, as channels.

use std::io;
use std::pin::Pin;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc::UnboundedReceiver;
use wasmtime_wasi::cli::{IsTerminal, StdinStream, StdoutStream};

/// What comes in.
#[derive(Clone)]
pub struct Input(Arc<Mutex<Incoming>>);

struct Incoming {
    from: UnboundedReceiver<Vec<u8>>,
    rest: Vec<u8>,
}

impl Input {
    pub fn new(from: UnboundedReceiver<Vec<u8>>) -> Self {
        let rest = Vec::new();
        Input(Arc::new(Mutex::new(Incoming { from, rest })))
    }
}

impl IsTerminal for Input {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdinStream for Input {
    fn async_stream(&self) -> Box<dyn AsyncRead + Send + Sync> {
        Box::new(self.clone())
    }
}

impl AsyncRead for Input {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut incoming = self.0.lock().expect("unharmed");
        if incoming.rest.is_empty() {
            // None is the end: nothing is read then.
            incoming.rest = ready!(incoming.from.poll_recv(context)).unwrap_or_default();
        }
        let length = incoming.rest.len().min(into.remaining());
        into.put_slice(&incoming.rest[..length]);
        incoming.rest.drain(..length);
        Poll::Ready(Ok(()))
    }
}

/// What goes out.
#[derive(Clone)]
pub struct Output(Arc<Mutex<Sender<Vec<u8>>>>);

impl Output {
    pub fn new(to: Sender<Vec<u8>>) -> Self {
        Output(Arc::new(Mutex::new(to)))
    }
}

impl IsTerminal for Output {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Output {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }
}

impl AsyncWrite for Output {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let sent = self.0.lock().expect("unharmed").send(bytes.to_vec());
        Poll::Ready(match sent {
            Ok(()) => Ok(bytes.len()),
            Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
        })
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
