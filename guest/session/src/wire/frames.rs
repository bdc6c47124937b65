//! Frames: the length of a message, 4 bytes with the most significant first, and
//! the message.

use alloc::vec::Vec;

use prost::Message;

/// Bytes of a length.
const LENGTH: usize = 4;

/// Puts a message behind what is to be sent.
pub fn put(message: &impl Message, out: &mut Vec<u8>) {
    let length = message.encoded_len();
    out.reserve(LENGTH + length);
    // Whoever sends stays far below 4 GiB: see `MESSAGE_BYTES`.
    out.extend_from_slice(&(length as u32).to_be_bytes());
    message.encode_raw(out);
}

/// Why bytes are no frames of messages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// A length above the bound.
    #[error("a message has at most {most} bytes here, this one {length}")]
    Length {
        /// What was announced.
        length: u32,
        /// The bound.
        most: usize,
    },
    /// No message.
    #[error("this is no message: {0}")]
    Message(prost::DecodeError),
}

/// Cuts what arrives into messages.
#[derive(Debug, Default)]
pub struct Frames {
    bytes: Vec<u8>,
    /// How much of them was taken out.
    taken: usize,
}

impl Frames {
    /// Adds what arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.give_back();
        self.bytes.extend_from_slice(bytes);
    }

    /// The next message, if all of it has arrived.
    ///
    /// # Errors
    ///
    /// If its length is above `most`, which is known before it has arrived, or
    /// it is no message. Nothing can be taken out after that.
    pub fn next<M: Message + Default>(&mut self, most: usize) -> Result<Option<M>, Malformed> {
        let arrived = &self.bytes[self.taken..];
        let Some((length, rest)) = arrived.split_first_chunk::<LENGTH>() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes(*length);
        if length as usize > most {
            return Err(Malformed::Length { length, most });
        }
        let Some(message) = rest.get(..length as usize) else {
            return Ok(None);
        };
        let message = M::decode(message).map_err(Malformed::Message)?;
        self.taken += LENGTH + length as usize;
        Ok(Some(message))
    }

    /// Room for what a large message took is not kept.
    fn give_back(&mut self) {
        self.bytes.drain(..self.taken);
        self.taken = 0;
        if self.bytes.is_empty() && self.bytes.capacity() > super::HELLO_BYTES {
            self.bytes = Vec::new();
        }
    }
}
