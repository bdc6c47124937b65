//! What was reserved, written so that no fence is reserved twice: neither after
//! a crash at any moment, nor by two programs that have the same directory open.
//!
//! WASI has no file locks. So every reservation is a new file, `fences.<n>`, one
//! number after the newest: written under another name, synced, then *linked* to
//! its own, which fails if another program was first. The newest file counts;
//! older ones are removed once it is durable. A program goes on only as long as
//! the newest file is its own.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::ops::Range;

use witlock_engine::ranges::next_range;

use super::disk::Disk;

/// In front of a reservation's number.
const NAME: &str = "fences.";

/// At the end of the name under which a file is written first.
const UNFINISHED: &str = ".new";

/// How often an opening tries to be the next, when others are first.
const TRIES: u32 = 16;

/// Why nothing was reserved.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The directory cannot be read or written.
    #[error("the directory of the fences cannot be used: {0}")]
    Disk(#[from] io::Error),
    /// The newest file is not what this component wrote.
    #[error(
        "{0} in the directory of the fences is damaged: restore it from a backup, or delete it: \
         then fences start from the clock"
    )]
    Damaged(String),
    /// Another program opened the directory since.
    #[error(
        "another program has opened, or emptied, the directory of the fences since: two programs do not share \
         locks by it. Run one, or have both hold keys of one `witlock serve`"
    )]
    OpenedByAnother,
    /// Every fence was given.
    #[error("the fences are exhausted: every number below 2^53 was given")]
    Exhausted,
}

/// The reservations of one opening of a directory.
#[derive(Debug)]
pub struct Ledger<D> {
    disk: D,
    opening: u64,
    /// Whether the opening was made known.
    is_open: bool,
}

/// A reservation, as its file tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Entry {
    number: u64,
    /// The largest fence reserved.
    high_water: u64,
    /// Who wrote it.
    opening: u64,
}

impl<D: Disk> Ledger<D> {
    /// An opening, which is made known with its first reservation.
    pub fn new(disk: D) -> Self {
        Ledger {
            disk,
            opening: RandomState::new().hash_one(0),
            is_open: false,
        }
    }

    /// Reserves up to `count` fences from `at_least` on, above all reserved
    /// before. Durable when this returns.
    ///
    /// # Errors
    ///
    /// Each of [`LedgerError`]; then nothing may have been reserved, or a range
    /// may be lost, which harms nothing.
    pub fn reserve(&mut self, at_least: u64, count: u64) -> Result<Range<u64>, LedgerError> {
        if self.is_open {
            return self.reserve_next(at_least, count);
        }
        for _ in 1..TRIES {
            match self.reserve_next(at_least, count) {
                // Who opens comes after the other.
                Err(LedgerError::OpenedByAnother) => {}
                answer => return answer,
            }
        }
        self.reserve_next(at_least, count)
    }

    fn reserve_next(&mut self, at_least: u64, count: u64) -> Result<Range<u64>, LedgerError> {
        let newest = self.newest()?.unwrap_or_default();
        if self.is_open && newest.opening != self.opening {
            return Err(LedgerError::OpenedByAnother);
        }
        let range = next_range(newest.high_water, at_least, count);
        let range = range.ok_or(LedgerError::Exhausted)?;
        let next = Entry {
            number: newest.number + 1,
            high_water: range.end - 1,
            opening: self.opening,
        };
        self.publish(&next)?;
        self.is_open = true;
        self.clear(next.number)?;
        Ok(range)
    }

    /// The file with the largest number.
    fn newest(&mut self) -> Result<Option<Entry>, LedgerError> {
        let numbers = self.disk.names()?;
        let numbers = numbers.iter().filter_map(|name| number(name));
        let Some(number) = numbers.max() else {
            return Ok(None);
        };
        let name = name(number);
        let text = self.disk.read(&name).map_err(if_gone)?;
        let entry = parse(&text).filter(|entry| entry.number == number);
        entry.map(Some).ok_or(LedgerError::Damaged(name))
    }

    /// Makes a reservation the newest, unless another is first.
    fn publish(&mut self, entry: &Entry) -> Result<(), LedgerError> {
        let unfinished = format!("{NAME}{:016x}{UNFINISHED}", self.opening);
        self.disk.write(&unfinished, &text(entry))?;
        let linked = self.disk.link(&unfinished, &name(entry.number));
        self.disk.remove(&unfinished).map_err(if_gone)?;
        linked.map_err(if_gone)?;
        self.disk.sync()?;
        // Had another gone on from a newer file and removed those before it, this
        // name was free although it is an old one.
        match self.newest()? {
            Some(newest) if newest == *entry => Ok(()),
            _ => Err(LedgerError::OpenedByAnother),
        }
    }

    /// Removes what came before the newest, and what others left unfinished.
    fn clear(&mut self, newest: u64) -> Result<(), LedgerError> {
        for name in self.disk.names()? {
            let is_older = number(&name).is_some_and(|number| number < newest);
            let is_unfinished = name.starts_with(NAME) && name.ends_with(UNFINISHED);
            if is_older || is_unfinished {
                match self.disk.remove(&name) {
                    // Another cleared it too.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    removed => removed?,
                }
            }
        }
        Ok(())
    }
}

/// A file that is gone, or there, was removed, or written, by another.
fn if_gone(error: io::Error) -> LedgerError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists => LedgerError::OpenedByAnother,
        _ => error.into(),
    }
}

fn name(number: u64) -> String {
    format!("{NAME}{number}")
}

fn number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(NAME)?;
    let is_ours = digits.bytes().all(|digit| digit.is_ascii_digit());
    is_ours.then(|| digits.parse().ok()).flatten()
}

fn text(entry: &Entry) -> String {
    let Entry {
        number,
        high_water,
        opening,
    } = entry;
    format!("witlock reservation {number}\nfences up to {high_water}\nby {opening:016x}\n")
}

fn parse(text: &str) -> Option<Entry> {
    let (first, rest) = text.strip_suffix('\n')?.split_once('\n')?;
    let (second, third) = rest.split_once('\n')?;
    Some(Entry {
        number: first.strip_prefix("witlock reservation ")?.parse().ok()?,
        high_water: second.strip_prefix("fences up to ")?.parse().ok()?,
        opening: u64::from_str_radix(third.strip_prefix("by ")?, 16).ok()?,
    })
}
