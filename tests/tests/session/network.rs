//! Connections between clients and a server, with all that goes wrong with them.

use witlock_session::server::ConnectionId;

/// Milliseconds in nanoseconds.
pub const MS: u64 = 1_000_000;

/// One connection. Bytes arrive in their order, late; or, from when it is a hole,
/// never.
pub struct Pipe {
    pub client: usize,
    pub server_id: ConnectionId,
    pub client_has_it: bool,
    pub server_has_it: bool,
    /// Whether what clients, and what the server says gets lost.
    pub holes: [bool; 2],
    /// When the last bytes of each direction arrive.
    last: [u64; 2],
}

/// Something that the network does at a moment.
pub enum Act {
    /// A connection is made, or can't be.
    Connect { client: usize, works: bool },
    /// Bytes arrive at the server.
    ToServer { pipe: usize, bytes: Vec<u8> },
    /// Bytes arrive at the client.
    ToClient { pipe: usize, bytes: Vec<u8> },
    /// The server learns that the client is gone.
    ServerSees { pipe: usize },
    /// The client learns that the server is gone.
    ClientSees { pipe: usize },
}

impl Pipe {
    pub fn new(client: usize, server_id: ConnectionId) -> Self {
        Pipe {
            client,
            server_id,
            client_has_it: true,
            server_has_it: true,
            holes: [false; 2],
            last: [0; 2],
        }
    }

    /// When bytes arrive that are sent now.
    pub fn arrival(&mut self, random: &mut fastrand::Rng, now: u64, direction: usize) -> u64 {
        let delay = match random.u8(..) {
            0..200 => random.u64(0..2 * MS),
            200..250 => random.u64(0..200 * MS),
            _ => random.u64(0..4_000 * MS),
        };
        let at = (now + delay).max(self.last[direction] + 1);
        self.last[direction] = at;
        at
    }
}
