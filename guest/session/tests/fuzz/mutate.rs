//! Frames with something wrong.

use fastrand::Rng;

/// Bytes of a frame's length.
const LENGTH: usize = 4;

/// Changes something of some frames, a few times.
pub fn mutate(rng: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..rng.usize(1..4) {
        match rng.u8(..9) {
            0 => flip(rng, bytes),
            1 => overwrite(rng, bytes),
            2 => bytes.truncate(rng.usize(..=bytes.len())),
            3 => repeat(rng, bytes),
            4 => leave_out(rng, bytes),
            5 => swap_ends(rng, bytes),
            6 => announce(rng, bytes),
            7 => nest(rng, bytes),
            _ => insert(rng, bytes),
        }
    }
}

pub fn random(rng: &mut Rng, most: usize) -> Vec<u8> {
    (0..rng.usize(..=most)).map(|_| rng.u8(..)).collect()
}

/// Cuts bytes into pieces, as a network does.
pub fn pieces<'a>(rng: &mut Rng, mut bytes: &'a [u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let most = [1, 3, 20, 1_000, usize::MAX][rng.usize(..5)];
    while !bytes.is_empty() {
        let (piece, rest) = bytes.split_at(rng.usize(..=bytes.len().min(most)));
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

fn flip(rng: &mut Rng, bytes: &mut [u8]) {
    if let Some(byte) = rng.choice(bytes) {
        *byte ^= 1 << rng.u8(..8);
    }
}

fn overwrite(rng: &mut Rng, bytes: &mut [u8]) {
    if let Some(byte) = rng.choice(bytes) {
        *byte = rng.u8(..);
    }
}

fn some(rng: &mut Rng, bytes: &[u8]) -> std::ops::Range<usize> {
    let from = rng.usize(..=bytes.len());
    from..rng.usize(from..=bytes.len())
}

fn repeat(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let copy = bytes[some(rng, bytes)].to_vec();
    let at = rng.usize(..=bytes.len());
    bytes.splice(at..at, copy);
}

fn leave_out(rng: &mut Rng, bytes: &mut Vec<u8>) {
    bytes.drain(some(rng, bytes));
}

/// The front of one with the back of another.
fn swap_ends(rng: &mut Rng, bytes: &mut [u8]) {
    bytes.rotate_left(rng.usize(..=bytes.len()));
}

fn insert(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let at = rng.usize(..=bytes.len());
    bytes.splice(at..at, random(rng, 20));
}

/// A frame announces another length than it has.
fn announce(rng: &mut Rng, bytes: &mut [u8]) {
    let starts = starts(bytes);
    let Some(at) = rng.choice(starts) else { return };
    let length: &mut [u8; LENGTH] = (&mut bytes[at..at + LENGTH]).try_into().expect("4 bytes");
    let was = u32::from_be_bytes(*length);
    let wrong = [
        was.wrapping_add(1),
        was.wrapping_sub(1),
        0,
        4_097,
        1 << 20,
        u32::MAX,
    ];
    let random = rng.u32(..);
    *length = rng.choice(wrong).unwrap_or(random).to_be_bytes();
}

/// A length within a message is another, perhaps one of 10 bytes.
fn nest(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let starts = starts(bytes);
    let Some(start) = rng.choice(starts) else {
        return;
    };
    // The key of the body, and its length, come after the time and the session.
    let at = (start + LENGTH + rng.usize(..14)).min(bytes.len());
    let huge = [0xff; 10];
    let few = rng.usize(..=huge.len());
    match rng.bool() {
        true => drop(bytes.splice(at..at, huge[..few].iter().copied())),
        false => bytes.get_mut(at).into_iter().for_each(|byte| *byte = 0x7f),
    }
}

/// Where frames begin.
fn starts(bytes: &[u8]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = 0;
    while let Some(length) = bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk::<LENGTH>())
    {
        starts.push(at);
        at = at.saturating_add(LENGTH + u32::from_be_bytes(*length) as usize);
    }
    starts
}
