//! A client that says what no other would.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use witlock_session::wire::goodbye::Reason;
use witlock_session::wire::{
    self, Enter, Frames, Hello, MESSAGE_BYTES, ToClient, ToStore, VERSION, to_client, to_store,
};

/// A connection of a socket's own.
pub struct Raw {
    socket: Box<dyn Socket>,
    frames: Frames,
}

pub trait Socket: Read + Write + Send {}

impl Socket for UnixStream {}
impl Socket for TcpStream {}

impl Raw {
    /// Connects to an address, and says nothing.
    pub fn connect(address: &str) -> Self {
        let socket: Box<dyn Socket> = match address.split_once(':').unwrap() {
            ("unix", path) => Box::new(UnixStream::connect(path).unwrap()),
            (_, host) => Box::new(TcpStream::connect(host).unwrap()),
        };
        let frames = Frames::default();
        Raw { socket, frames }
    }

    /// One that was let in.
    pub fn let_in(address: &str) -> Self {
        let mut raw = Self::connect(address);
        raw.say(0, hello());
        assert!(matches!(raw.hear(), Some(to_client::Body::Welcome(_))));
        raw
    }

    /// One with a session under the number 1.
    pub fn entered(address: &str, id: u8) -> Self {
        let mut raw = Self::let_in(address);
        let id = vec![id; 16];
        let enter = Enter {
            id,
            entry: 1,
            ..Enter::default()
        };
        raw.say(1, to_store::Body::Enter(enter));
        raw
    }

    pub fn say(&mut self, session: u64, body: to_store::Body) {
        self.try_say(session, body).unwrap();
    }

    /// As [`say`](Raw::say), to a server that may have closed the connection.
    pub fn try_say(&mut self, session: u64, body: to_store::Body) -> io::Result<()> {
        let message = ToStore {
            sent: 0,
            session,
            body: Some(body),
        };
        let mut bytes = Vec::new();
        wire::put(&message, &mut bytes);
        self.write(&bytes)
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.socket.write_all(bytes)
    }

    /// What the server says next; none once it closed the connection.
    pub fn hear(&mut self) -> Option<to_client::Body> {
        loop {
            if let Some(message) = self.frames.next::<ToClient>(MESSAGE_BYTES).unwrap() {
                return message.body;
            }
            let mut bytes = [0; 16 << 10];
            match self.socket.read(&mut bytes) {
                Ok(some @ 1..) => self.frames.push(&bytes[..some]),
                Ok(0) | Err(_) => return None,
            }
        }
    }

    /// The server closes the connection, and this is why.
    #[track_caller]
    pub fn is_dismissed(&mut self, reason: Reason, text: &str) {
        let mut rest = Vec::new();
        // It may end with an error, after what there was.
        let _ = self.socket.read_to_end(&mut rest);
        self.frames.push(&rest);
        let last = std::iter::from_fn(|| self.hear()).last();
        let Some(to_client::Body::Goodbye(goodbye)) = last else {
            panic!("it said no goodbye");
        };
        assert_eq!(goodbye.reason(), reason, "{}", goodbye.text);
        assert!(goodbye.text.contains(text), "{}", goodbye.text);
    }
}

pub fn hello() -> to_store::Body {
    hello_of(VERSION, "")
}

pub fn hello_of(version: u32, token: &str) -> to_store::Body {
    to_store::Body::Hello(Hello {
        version,
        token: token.into(),
        client: "raw".into(),
    })
}

/// Asks for a key of the lock `a`.
pub fn hold(ask: u64, key: &str) -> wire::Hold {
    wire::Hold {
        ask,
        name: "a".into(),
        key: key.into(),
        ..wire::Hold::default()
    }
}
