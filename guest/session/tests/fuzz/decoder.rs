//! The decoder of frames: bytes in pieces come to what the same bytes in one piece
//! come to, and to what a plain decoder says.

use fastrand::Rng;
use prost::Message;
use witlock_session::wire::{Frames, HELLO_BYTES, MESSAGE_BYTES, Malformed, ToStore};

use crate::memory;
use crate::mutate::{mutate, pieces, random};
use crate::runs::{Tally, run};
use crate::said::{Known, frame, hello};

/// Bytes of a frame's length.
const LENGTH: usize = 4;

/// What bytes come to.
#[derive(Debug, PartialEq)]
struct Decoded {
    messages: Vec<ToStore>,
    why: Option<Malformed>,
}

/// As plainly as can be; and how much is left of a frame that is not whole.
fn decode(mut bytes: &[u8], most: usize) -> (Decoded, usize) {
    let mut messages = Vec::new();
    let mut why = None;
    while let Some((length, rest)) = bytes.split_first_chunk::<LENGTH>() {
        let length = u32::from_be_bytes(*length);
        if length as usize > most {
            why = Some(Malformed::Length { length, most });
            break;
        }
        let Some((message, rest)) = rest.split_at_checked(length as usize) else {
            break;
        };
        match ToStore::decode(message) {
            Ok(message) => messages.push(message),
            Err(error) => {
                why = Some(Malformed::Message(error));
                break;
            }
        }
        bytes = rest;
    }
    (Decoded { messages, why }, bytes.len())
}

/// The decoder, and the memory that it has.
#[derive(Default)]
struct Measured {
    frames: Frames,
    kept: isize,
    /// The most that it may have.
    room: usize,
}

impl Measured {
    fn push(&mut self, bytes: &[u8]) {
        let before = memory::live();
        self.frames.push(bytes);
        self.kept += memory::live() - before;
    }

    fn decode(&mut self, pieces: &[&[u8]], most: usize) -> Decoded {
        let mut messages = Vec::new();
        let largest = pieces.iter().map(|piece| piece.len()).max();
        // A vector that grows doubles.
        self.room = 2 * (LENGTH + most + largest.unwrap_or_default());
        for piece in pieces {
            self.push(piece);
            self.assert_kept(self.room);
            loop {
                match self.frames.next(most) {
                    Ok(Some(message)) => messages.push(message),
                    Ok(None) => break,
                    Err(malformed) => {
                        self.assert_stuck(most, &malformed);
                        let why = Some(malformed);
                        return Decoded { messages, why };
                    }
                }
            }
        }
        let why = None;
        Decoded { messages, why }
    }

    /// Nothing comes out once something was wrong, whatever comes.
    fn assert_stuck(&mut self, most: usize, malformed: &Malformed) {
        self.push(&frame(&hello("")));
        let next = self.frames.next::<ToStore>(most);
        assert_eq!(next.as_ref(), Err(malformed));
    }

    /// Room for what was taken out is given back, save a little.
    fn assert_given_back(&mut self, left: usize) {
        self.push(&[]);
        self.assert_kept(if left == 0 { HELLO_BYTES } else { self.room });
    }

    fn assert_kept(&self, most: usize) {
        assert!(self.kept <= most as isize, "{} bytes are kept", self.kept);
    }
}

fn bytes(rng: &mut Rng) -> Vec<u8> {
    if rng.u8(..8) == 0 {
        return random(rng, 300);
    }
    let known = Known {
        owns: vec![1, 2],
        ..Known::default()
    };
    let most = if rng.u8(..8) == 0 { 200 } else { 8 };
    let messages = (0..rng.usize(..most)).map(|_| frame(&known.say(rng)));
    let mut bytes = messages.collect::<Vec<_>>().concat();
    if rng.u8(..3) > 0 {
        mutate(rng, &mut bytes);
    }
    bytes
}

fn live(rng: &mut Rng, tally: &mut Tally) {
    for _ in 0..50 {
        let bytes = bytes(rng);
        let most = [40, HELLO_BYTES, MESSAGE_BYTES][rng.usize(..3)];
        let (decoded, left) = decode(&bytes, most);
        assert_eq!(Measured::default().decode(&[&bytes], most), decoded);
        let mut measured = Measured::default();
        let pieces = pieces(rng, &bytes);
        assert_eq!(measured.decode(&pieces, most), decoded);
        match &decoded.why {
            Some(Malformed::Length { .. }) => tally.count("too long"),
            Some(Malformed::Message(_)) => tally.count("no message"),
            None if left > 0 => tally.count("not whole"),
            None => tally.count("whole"),
        }
        if decoded.why.is_none() {
            measured.assert_given_back(left);
        }
        decoded
            .messages
            .iter()
            .for_each(|_| tally.count("messages"));
    }
}

// LOCK-12
#[test]
fn pieces_come_to_what_the_whole_comes_to() {
    let tally = run("pieces_come_to_what_the_whole_comes_to", live);
    tally.assert_done(&["messages", "too long", "no message", "not whole", "whole"]);
}
