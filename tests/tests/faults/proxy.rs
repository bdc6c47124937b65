//! What is between clients and their server: it cuts, loses, holds up and delays.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// What becomes of bytes in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// They arrive after this long.
    Passes(Duration),
    /// They wait until it passes again.
    Waits,
    /// Nobody gets them.
    Vanishes,
}

pub const PASSES: Flow = Flow::Passes(Duration::ZERO);

/// Where the server is.
#[derive(Debug, Clone)]
pub enum Server {
    Unix(String),
    Tcp(String),
}

/// Between some clients and their server.
pub struct Proxy {
    address: String,
    way: Arc<Way>,
}

struct Way {
    server: Server,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    to_server: Flow,
    to_client: Flow,
    /// Both ends of every connection that was not cut.
    ends: Vec<[UnixStream; 2]>,
}

#[derive(Clone, Copy)]
enum Direction {
    ToServer,
    ToClient,
}

/// Of a socket of either kind there is only asked what both can do: to be read,
/// written and shut down.
fn stream(socket: impl Into<OwnedFd>) -> UnixStream {
    UnixStream::from(socket.into())
}

fn tcp_stream(socket: TcpStream) -> UnixStream {
    // Only the proxy is to delay.
    socket.set_nodelay(true).expect("a socket");
    stream(socket)
}

impl Server {
    /// As a client takes it.
    pub fn address(&self) -> String {
        match self {
            Server::Unix(path) => format!("unix:{path}"),
            Server::Tcp(host) => format!("tcp:{host}"),
        }
    }

    fn connect(&self) -> io::Result<UnixStream> {
        match self {
            Server::Unix(path) => UnixStream::connect(path),
            Server::Tcp(host) => TcpStream::connect(host).map(tcp_stream),
        }
    }
}

impl Proxy {
    /// Listens at a socket of the same kind as the server's; of a Unix socket, there.
    pub fn new(server: Server, path: &str) -> Self {
        let state = State {
            to_server: PASSES,
            to_client: PASSES,
            ends: Vec::new(),
        };
        let way = Arc::new(Way {
            server,
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let address = match &way.server {
            Server::Unix(_) => {
                let listener = UnixListener::bind(path).expect("a socket");
                let accept = move || listener.accept().map(|(client, _)| client);
                way.listen(accept);
                format!("unix:{path}")
            }
            Server::Tcp(_) => {
                let listener = TcpListener::bind("127.0.0.1:0").expect("a socket");
                let address = listener.local_addr().expect("an address");
                let accept = move || listener.accept().map(|(client, _)| tcp_stream(client));
                way.listen(accept);
                format!("tcp:{address}")
            }
        };
        Proxy { address, way }
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn set(&self, to_server: Flow, to_client: Flow) {
        let mut state = self.way.lock();
        (state.to_server, state.to_client) = (to_server, to_client);
        self.way.changed.notify_all();
    }

    /// Cuts every connection, both ways at once; tells how many there were.
    pub fn cut(&self) -> usize {
        let ends = std::mem::take(&mut self.way.lock().ends);
        let live = |end: &&[UnixStream; 2]| end[0].shutdown(Shutdown::Both).is_ok();
        let cut = ends.iter().filter(live).count();
        for [_, server] in ends {
            let _ = server.shutdown(Shutdown::Both);
        }
        cut
    }
}

impl Way {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("a proxy")
    }

    /// Accepts until the test's process ends.
    fn listen(self: &Arc<Self>, accept: impl Fn() -> io::Result<UnixStream> + Send + 'static) {
        let way = self.clone();
        thread::spawn(move || {
            while let Ok(client) = accept() {
                // Without a server the client's connection ends at once.
                if let Ok(server) = way.server.connect() {
                    way.join([client, server]).expect("sockets");
                }
            }
        });
    }

    fn join(self: &Arc<Self>, [client, server]: [UnixStream; 2]) -> io::Result<()> {
        let ends = [client.try_clone()?, server.try_clone()?];
        self.lock().ends.push(ends);
        let back = [server.try_clone()?, client.try_clone()?];
        self.pump([client, server], Direction::ToServer);
        self.pump(back, Direction::ToClient);
        Ok(())
    }

    fn pump(self: &Arc<Self>, [mut from, mut to]: [UnixStream; 2], direction: Direction) {
        let way = self.clone();
        thread::spawn(move || {
            let mut bytes = [0; 16 << 10];
            while let Ok(some @ 1..) = from.read(&mut bytes) {
                if way.passes(direction) && to.write_all(&bytes[..some]).is_err() {
                    break;
                }
            }
            // Who is cut off learns of it at both ends.
            let _ = to.shutdown(Shutdown::Both);
            let _ = from.shutdown(Shutdown::Both);
        });
    }

    /// Whether what was read is to be written, once it is known.
    fn passes(&self, direction: Direction) -> bool {
        let flow = |state: &State| match direction {
            Direction::ToServer => state.to_server,
            Direction::ToClient => state.to_client,
        };
        let waits = |state: &mut State| flow(state) == Flow::Waits;
        let state = self
            .changed
            .wait_while(self.lock(), waits)
            .expect("a proxy");
        match flow(&state) {
            Flow::Passes(delay) => {
                drop(state);
                thread::sleep(delay);
                true
            }
            Flow::Waits | Flow::Vanishes => false,
        }
    }
}
