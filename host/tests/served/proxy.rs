//! What is between a client and its server: it can be cut, stopped and slow.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};

use crate::stage::until;

/// What becomes of bytes in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    Passes,
    /// They wait until it passes again.
    Waits,
    /// Nobody gets them.
    Vanishes,
}

/// Between one client and its server.
pub struct Proxy {
    path: String,
    server: String,
    way: Arc<Way>,
    acceptor: Option<JoinHandle<()>>,
}

struct Way {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    to_server: Flow,
    to_client: Flow,
    /// Both ends of every connection that there was.
    ends: Vec<(UnixStream, UnixStream)>,
    connections: usize,
    /// How many bytes nobody got.
    vanished: usize,
    /// Whether the server is not told that a client is gone.
    hides_ends: bool,
    listens: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    ToServer,
    ToClient,
}

impl Proxy {
    /// Listens at one address for another.
    pub fn new(address: &str, server: &str) -> Self {
        let path = |address: &str| address.strip_prefix("unix:").unwrap().to_owned();
        let state = State {
            to_server: Flow::Passes,
            to_client: Flow::Passes,
            ends: Vec::new(),
            connections: 0,
            vanished: 0,
            hides_ends: false,
            listens: false,
        };
        let way = Arc::new(Way {
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let mut proxy = Proxy {
            path: path(address),
            server: path(server),
            way,
            acceptor: None,
        };
        proxy.listen();
        proxy
    }

    pub fn address(&self) -> String {
        format!("unix:{}", self.path)
    }

    fn listen(&mut self) {
        let listener = UnixListener::bind(&self.path).unwrap();
        let server = self.server.clone();
        let way = self.way.clone();
        way.lock().listens = true;
        self.acceptor = Some(thread::spawn(move || way.accept(&listener, &server)));
    }

    /// Refuses connections from now on, as where nobody listens any more.
    pub fn refuse(&mut self) {
        if let Some(acceptor) = self.acceptor.take() {
            self.way.lock().listens = false;
            // Wakes it. Nobody can where the directory is gone already.
            if UnixStream::connect(&self.path).is_ok() {
                acceptor.join().unwrap();
            }
        }
    }

    /// Takes connections again.
    pub fn accept(&mut self) {
        std::fs::remove_file(&self.path).unwrap();
        self.listen();
    }

    /// Cuts the connection, both ways at once.
    pub fn cut(&self) {
        for (client, server) in self.way.lock().ends.drain(..) {
            let _ = client.shutdown(Shutdown::Both);
            let _ = server.shutdown(Shutdown::Both);
        }
    }

    /// Cuts it, and no other can be made: the client is gone, or its network.
    pub fn cut_for_good(&mut self) {
        self.refuse();
        self.cut();
    }

    pub fn set(&self, to_server: Flow, to_client: Flow) {
        let mut state = self.way.lock();
        (state.to_server, state.to_client) = (to_server, to_client);
        self.way.changed.notify_all();
    }

    /// Nothing passes any more, and nobody is told.
    pub fn black_hole(&self) {
        self.set(Flow::Vanishes, Flow::Vanishes);
    }

    /// The client dies, and the server's connection stays.
    pub fn lose_client(&mut self) {
        self.way.lock().hides_ends = true;
        self.refuse();
        for (client, _) in &self.way.lock().ends {
            let _ = client.shutdown(Shutdown::Both);
        }
    }

    /// Waits until something was said into the black hole.
    pub fn until_swallowed(&self) {
        until(|| self.way.lock().vanished > 0);
    }

    /// How many connections were made.
    pub fn connections(&self) -> usize {
        self.way.lock().connections
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.refuse();
        self.cut();
        self.set(Flow::Vanishes, Flow::Vanishes);
    }
}

impl Way {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn accept(self: &Arc<Self>, listener: &UnixListener, server: &str) {
        loop {
            let (client, _) = listener.accept().unwrap();
            if !self.lock().listens {
                return;
            }
            // Without a server the client's connection ends at once.
            let Ok(server) = UnixStream::connect(server) else {
                continue;
            };
            let ends = (client.try_clone().unwrap(), server.try_clone().unwrap());
            let mut state = self.lock();
            state.ends.push(ends);
            state.connections += 1;
            drop(state);
            self.pump(&client, &server, Direction::ToServer);
            self.pump(&server, &client, Direction::ToClient);
        }
    }

    fn pump(self: &Arc<Self>, from: &UnixStream, to: &UnixStream, direction: Direction) {
        let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        let way = self.clone();
        thread::spawn(move || {
            let mut bytes = [0; 16 << 10];
            while let Ok(some @ 1..) = from.read(&mut bytes) {
                if way.passes(direction, some) && to.write_all(&bytes[..some]).is_err() {
                    break;
                }
            }
            if !(direction == Direction::ToServer && way.lock().hides_ends) {
                let _ = to.shutdown(Shutdown::Both);
            }
        });
    }

    /// Whether what was read is to be written, once it is known.
    fn passes(&self, direction: Direction, bytes: usize) -> bool {
        let flow = |state: &State| match direction {
            Direction::ToServer => state.to_server,
            Direction::ToClient => state.to_client,
        };
        let waits = |state: &mut State| flow(state) == Flow::Waits;
        let mut state = self.changed.wait_while(self.lock(), waits).unwrap();
        if flow(&state) == Flow::Vanishes {
            state.vanished += bytes;
            return false;
        }
        true
    }
}
