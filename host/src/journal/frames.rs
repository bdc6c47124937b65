//! How records stand in the file: in frames, each written at once.
//!
//! A frame is a header of 12 bytes (the length of the records in bytes, their
//! checksum, and the checksum of these two; each a 32-bit number, the least
//! significant byte first) and the records. The checksum is CRC-32 as of zip.
//!
//! A process that is killed as it writes leaves a frame that the file's end cuts off,
//! and nothing behind it: of that one nobody was told. Whatever else is not as it was
//! written tells that more is lost. The header's own checksum sees to it that a damaged
//! length is not taken for such an end.

use witlock_session::journal::{self, Record};

const HEADER: usize = 12;

/// How a file ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Behind a frame.
    Whole,
    /// In a frame, which begins here.
    Unfinished(usize),
    /// Nothing is known of what is behind this.
    Damaged(usize),
}

/// Puts a frame of these records behind others.
pub(super) fn put<'a>(records: impl IntoIterator<Item = &'a Record>, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend([0; HEADER]);
    for record in records {
        journal::put(record, out);
    }
    let (header, records) = out[start..].split_at_mut(HEADER);
    // A step gives some thousand records of some hundred bytes.
    let length = u32::try_from(records.len()).unwrap_or(u32::MAX);
    header[..4].copy_from_slice(&length.to_le_bytes());
    header[4..8].copy_from_slice(&crc32fast::hash(records).to_le_bytes());
    let own = crc32fast::hash(&header[..8]);
    header[8..].copy_from_slice(&own.to_le_bytes());
}

/// The records of a file, as far as they can be read.
pub(super) fn read(bytes: &[u8]) -> (Vec<Record>, End) {
    let mut records = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match frame(&bytes[at..]) {
            Frame::Whole(more, length) => {
                records.extend(more);
                at += length;
            }
            Frame::Unfinished => return (records, End::Unfinished(at)),
            Frame::Damaged => return (records, End::Damaged(at)),
        }
    }
    (records, End::Whole)
}

enum Frame {
    Whole(Vec<Record>, usize),
    Unfinished,
    Damaged,
}

fn frame(bytes: &[u8]) -> Frame {
    let Some((header, rest)) = bytes.split_first_chunk::<HEADER>() else {
        return Frame::Unfinished;
    };
    let number = |at: usize| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|byte| header[at + byte]);
        u32::from_le_bytes([a, b, c, d])
    };
    if crc32fast::hash(&header[..8]) != number(8) {
        return Frame::Damaged;
    }
    let length = number(0) as usize;
    let Some(payload) = rest.get(..length) else {
        return Frame::Unfinished;
    };
    if crc32fast::hash(payload) != number(4) {
        return Frame::Damaged;
    }
    match journal::read(payload) {
        Some(records) => Frame::Whole(records, HEADER + length),
        None => Frame::Damaged,
    }
}
