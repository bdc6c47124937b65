//! The leases that a store gave over connections, kept beyond its process.
//!
//! They stand in the file `journal` of the store's directory: a record of each lease as
//! it is given, and one as it ends, written before anybody is told, and not synced. A
//! process that is killed loses nothing of what it wrote; where the machine goes down,
//! the file's end may be missing, and the next opening waits by the file `grace`
//! instead.
//!
//! A file of our own: `fjall`, a well-kept store of keys and values that would also do,
//! was measured at 2 times the time a lease and 100 times the disk, and takes seconds to
//! open after a kill. All that there is to keep is in memory anyway.
//!
//! A store without a directory keeps the leases in memory alone, for an engine that
//! takes the place of one that trapped.

mod files;
mod frames;
#[cfg(test)]
mod tests;

use std::io::{self, ErrorKind};
use std::path::Path;

use witlock_session::journal::{Body, Given, Journal as Leases, Record, Start};

use crate::clock::Clock;
use files::{Dir, Files};
use frames::End;

/// Bytes of a file that is never written anew for its size.
const SMALL: usize = 1 << 20;

/// How many times as large a file may become as it was when it was written anew: that
/// costs each byte as much as a quarter of its writing.
const GROWTH: usize = 4;

/// Records of one frame of a file that is written anew.
const AT_ONCE: usize = 1_000;

/// What is kept of a store's leases over connections.
pub(crate) struct Journal {
    leases: Leases,
    /// None without a directory, and where no later opening could use it.
    files: Option<Box<dyn Files>>,
    start: Start,
    /// Bytes of the file.
    bytes: usize,
    /// How large it may become.
    most: usize,
    /// Why the file does not tell all that there is, so that it is to be written anew.
    stale: Option<String>,
}

/// What an earlier opening's journal tells.
#[derive(Debug, PartialEq)]
pub(crate) enum Left {
    /// There is none.
    Nothing,
    /// Every lease that may be live, but for those that were unknown to that opening
    /// already, which are over at this moment.
    All {
        /// The moment.
        unknown_until: u64,
    },
    /// Some that may be live at most.
    Some,
}

impl Journal {
    /// Reads what an earlier opening left in the directory. A damaged end is cut off,
    /// with a warning.
    pub fn open(dir: Option<&Path>, clock: &dyn Clock) -> (Self, Left) {
        let files = dir.map(|dir| Box::new(Dir::new(dir.to_owned())) as Box<dyn Files>);
        Self::on(files, clock)
    }

    fn on(files: Option<Box<dyn Files>>, clock: &dyn Clock) -> (Self, Left) {
        let boot = clock.boot();
        let mut journal = Journal {
            leases: Leases::default(),
            files,
            start: Start::default(),
            bytes: 0,
            most: SMALL,
            stale: Some("there is none".into()),
        };
        let left = journal.read(boot.as_deref(), clock.now());
        match boot {
            Some(boot) => journal.start.boot = boot,
            None => journal.files = None,
        }
        (journal, left)
    }

    fn read(&mut self, boot: Option<&str>, now: u64) -> Left {
        let read = self.files.as_ref().map(|files| files.read());
        let bytes = match read {
            Some(Ok(bytes)) => bytes,
            None => return Left::Nothing,
            Some(Err(error)) if error.kind() == ErrorKind::NotFound => return Left::Nothing,
            Some(Err(error)) => return unusable(&error.to_string()),
        };
        let (records, end) = frames::read(&bytes);
        let mut records = records.into_iter();
        let Some(Body::Start(start)) = records.next().and_then(|record| record.body) else {
            return unusable("it is damaged from its beginning on");
        };
        if boot != Some(&start.boot) {
            log::info!("the store's journal of leases is of before the machine started");
            return Left::Some;
        }
        records.for_each(|record| self.leases.apply(record));
        if self.leases.latest() > now {
            self.leases.clear();
            return unusable("its moments are not of this clock");
        }
        self.left(end, bytes.len(), start.unknown_until)
    }

    fn left(&self, end: End, bytes: usize, unknown_until: u64) -> Left {
        match end {
            End::Whole => {}
            End::Unfinished(at) => log::warn!(
                "the last {} bytes of the store's journal of leases are no whole record, and \
                 are cut off: nobody was told of it",
                bytes - at
            ),
            End::Damaged(at) => {
                return unusable(&format!("it is damaged from byte {at} of {bytes} on"));
            }
        }
        Left::All { unknown_until }
    }

    /// This opening starts, or an engine that knows no lease. Other leases than those that are known may be live until
    /// this moment, if that is yet to come.
    pub fn start(&mut self, now: u64, unknown_until: Option<u64>) {
        self.leases.start(now);
        self.start.unknown_until = unknown_until.unwrap_or(0);
        // Where nothing was given yet, there need be no file.
        if (self.start.unknown_until > 0 || !self.leases.is_empty())
            && let Err(error) = self.write_anew()
        {
            self.failed(&error);
        }
    }

    /// The leases, with the deadlines that the start gave.
    pub fn leases(&self) -> impl Iterator<Item = &Given> {
        self.leases.leases()
    }

    /// No lease can be live any more.
    pub fn forget_all(&mut self) {
        self.leases.clear();
        self.stale = Some("all of it is over".into());
    }

    /// Keeps records, before anybody is told what they tell.
    ///
    /// # Errors
    ///
    /// Why they could not be written. Then the file is written anew by the next.
    pub fn keep(&mut self, records: Vec<Record>) -> Result<(), String> {
        let mut bytes = Vec::new();
        if self.files.is_some() {
            frames::put(&records, &mut bytes);
        }
        records
            .into_iter()
            .for_each(|record| self.leases.apply(record));
        let kept = match self.stale.is_some() || self.bytes + bytes.len() > self.most {
            true => self.write_anew(),
            false => self.append(&bytes),
        };
        kept.map_err(|error| self.failed(&error))
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(files) = &mut self.files {
            files.append(bytes)?;
            self.bytes += bytes.len();
        }
        Ok(())
    }

    fn write_anew(&mut self) -> io::Result<()> {
        let Some(files) = &mut self.files else {
            self.stale = None;
            return Ok(());
        };
        let mut bytes = Vec::new();
        frames::put([&Body::Start(self.start.clone()).into()], &mut bytes);
        let records: Vec<Record> = self.leases.records().collect();
        for records in records.chunks(AT_ONCE) {
            frames::put(records, &mut bytes);
        }
        files.replace(&bytes)?;
        self.bytes = bytes.len();
        self.most = SMALL.max(GROWTH * bytes.len());
        self.stale = None;
        Ok(())
    }

    fn failed(&mut self, error: &io::Error) -> String {
        let why = format!("the store's journal of leases can't be written: {error}");
        if self.stale.as_ref() != Some(&why) {
            log::warn!("{why}");
        }
        self.stale = Some(why.clone());
        why
    }

    /// The store is closed: its directory may be another opening's soon.
    pub fn let_go(&mut self) {
        self.files = None;
    }
}

fn unusable(why: &str) -> Left {
    log::warn!("the store's journal of leases does not tell of all that may be live: {why}");
    Left::Some
}
