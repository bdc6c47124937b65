//! One connection's socket, and what is to be written to it.

use std::io;
use std::sync::Mutex;

use tokio::sync::Notify;

use crate::driver::lock;
use crate::net::{Seal, Socket};

/// A connection of a server's.
pub(super) struct Link {
    pub socket: Socket,
    state: Mutex<State>,
    /// Woken when there is something to be written that there was no room for, or
    /// the connection is over.
    pub changed: Notify,
}

struct State {
    seal: Seal,
    plain: Vec<u8>,
    unsent: Vec<u8>,
    over: bool,
}

impl Link {
    pub fn new(socket: Socket, seal: Seal) -> Self {
        let state = State {
            seal,
            plain: Vec::new(),
            unsent: Vec::new(),
            over: false,
        };
        Link {
            socket,
            state: Mutex::new(state),
            changed: Notify::new(),
        }
    }

    /// Reads what there is, and hands it on; false at the end.
    pub fn read(&self, hand_on: impl FnOnce(&[u8])) -> io::Result<bool> {
        let read = self.socket.read(|bytes| {
            if bytes.is_empty() {
                return Ok(false);
            }
            let opened = lock(&self.state).seal.open(bytes)?;
            hand_on(&opened);
            Ok(true)
        });
        read?.unwrap_or(Ok(true))
    }

    /// Writes what there is room for. `more` gives what is to be said next, and
    /// tells whether the connection is over after that; as long as something is
    /// unsent it isn't asked, so that who doesn't read is found out, unless that
    /// `is_last`.
    pub fn write(&self, is_last: bool, mut more: impl FnMut(&mut Vec<u8>) -> bool) {
        let mut state = lock(&self.state);
        let wrote = state.write(&self.socket, is_last, &mut more);
        if wrote.is_err() {
            state.over = true;
            state.unsent.clear();
        }
        if state.over || !state.unsent.is_empty() {
            self.changed.notify_one();
        }
    }

    pub fn has_unsent(&self) -> bool {
        !lock(&self.state).unsent.is_empty()
    }

    pub fn is_over(&self) -> bool {
        lock(&self.state).over
    }
}

impl State {
    fn write(
        &mut self,
        socket: &Socket,
        is_last: bool,
        more: &mut impl FnMut(&mut Vec<u8>) -> bool,
    ) -> io::Result<()> {
        socket.write(&mut self.unsent)?;
        if (self.unsent.is_empty() || is_last) && !self.over {
            self.over = more(&mut self.plain);
            self.seal.seal(&mut self.plain, &mut self.unsent)?;
            socket.write(&mut self.unsent)?;
        }
        Ok(())
    }
}
