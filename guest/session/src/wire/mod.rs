//! What goes over a connection: the messages, which `proto/witlock.proto`
//! documents, and their frames.

mod frames;
#[rustfmt::skip]
#[allow(missing_docs, clippy::doc_markdown, clippy::large_enum_variant)]
mod messages;

use core::fmt;

pub use frames::{Frames, Malformed, put};
pub use messages::*;

/// The version of the protocol.
pub const VERSION: u32 = 1;

/// Bytes of a message: the largest are a session that comes back with all that
/// it may hold and wait for, and a page of a listing.
pub const MESSAGE_BYTES: usize = 1 << 20;

/// Bytes of a client's first message, before it is known whether it may send
/// any.
pub const HELLO_BYTES: usize = 4 << 10;

/// Bytes of a token.
pub const TOKEN_BYTES: usize = 1 << 10;

/// Leases that one message renews: what the engine handles in one step.
pub const RENEWED_AT_ONCE: usize = 1_000;

impl fmt::Debug for Hello {
    /// Without the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hello = f.debug_struct("Hello");
        hello.field("version", &self.version);
        hello.field("client", &self.client).finish_non_exhaustive()
    }
}

impl From<witlock_engine::LeaseId> for Lease {
    fn from(id: witlock_engine::LeaseId) -> Self {
        Lease {
            fence: id.fence,
            secret: id.secret,
        }
    }
}

impl From<Lease> for witlock_engine::LeaseId {
    fn from(lease: Lease) -> Self {
        witlock_engine::LeaseId {
            fence: lease.fence,
            secret: lease.secret,
        }
    }
}
