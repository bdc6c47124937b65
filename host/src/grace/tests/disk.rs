//! A disk that keeps what was synced. Of what was not, it keeps what it likes.

use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard};

use super::super::files::Files;
use crate::driver::lock;

type Content = Vec<u8>;

/// A handle of it; clones are the same disk.
#[derive(Clone, Default)]
pub struct Disk(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Each that there ever was.
    inodes: Vec<Inode>,
    names: Names,
    /// What they were before each change since they were synced last.
    before: Vec<Names>,
    operations: u64,
    /// At which one all is over.
    last: Option<u64>,
    last_step: Option<&'static str>,
}

/// Which files there are.
#[derive(Clone, Copy, Default)]
struct Names {
    file: Option<usize>,
    unfinished: Option<usize>,
}

/// What a file has, and what of it is durable.
#[derive(Clone, Default)]
struct Inode {
    written: Content,
    synced: Content,
}

/// What is left of what was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// All: the disk was full for a while, and the process went on.
    Full,
    /// All: only the process died.
    Kill,
    /// The power was cut: so many of the changes of names, and so much of what was
    /// written, in halves.
    Power { names: usize, halves: usize },
}

impl Crash {
    pub fn all() -> impl Iterator<Item = Crash> {
        let power =
            (0..3).flat_map(|names| (0..3).map(move |halves| Crash::Power { names, halves }));
        [Crash::Full, Crash::Kill].into_iter().chain(power)
    }
}

impl Disk {
    /// Nothing works from that operation on, counted from now.
    pub fn die_at(&self, operation: u64) {
        let mut state = lock(&self.0);
        state.last = state.operations.checked_add(operation);
        state.last_step = None;
    }

    pub fn died(&self) -> bool {
        lock(&self.0).last_step.is_some()
    }

    /// Which step it was that did not happen.
    pub fn last_step(&self) -> Option<&'static str> {
        lock(&self.0).last_step
    }

    pub fn start_again(&self, crash: Crash) {
        let state = &mut *lock(&self.0);
        if let Crash::Power { names, halves } = crash {
            state.names = *state.before.get(names).unwrap_or(&state.names);
            state.inodes.iter_mut().for_each(|inode| inode.lose(halves));
        }
        state.before.clear();
        state.last = None;
        state.last_step = None;
    }

    pub fn operations(&self) -> u64 {
        lock(&self.0).operations
    }

    pub fn content(&self) -> Option<Content> {
        let state = lock(&self.0);
        Some(state.inodes[state.names.file?].written.clone())
    }

    pub fn set_content(&self, content: Content) {
        let state = &mut *lock(&self.0);
        state.names.file = Some(state.inodes.len());
        state.inodes.push(Inode {
            synced: content.clone(),
            written: content,
        });
    }

    /// The state, for another step, if that is to happen.
    fn step(&self, step: &'static str) -> io::Result<MutexGuard<'_, State>> {
        let mut state = lock(&self.0);
        if state.last.is_some_and(|last| state.operations >= last) {
            state.last_step.get_or_insert(step);
            return Err(ErrorKind::StorageFull.into());
        }
        state.operations += 1;
        Ok(state)
    }
}

impl Inode {
    fn lose(&mut self, halves: usize) {
        if self.written != self.synced {
            self.written.truncate(self.written.len() * halves / 2);
            self.synced = self.written.clone();
        }
    }
}

impl State {
    fn change_names(&mut self, change: impl FnOnce(&mut Names)) {
        self.before.push(self.names);
        change(&mut self.names);
    }

    fn write(&mut self, text: &str) {
        let place = self.inodes.len();
        self.inodes.push(Inode {
            written: text.into(),
            ..Inode::default()
        });
        self.change_names(|names| names.unfinished = Some(place));
    }
}

impl Files for Disk {
    fn read(&self) -> io::Result<String> {
        let content = self.content().ok_or(ErrorKind::NotFound)?;
        String::from_utf8(content).map_err(|_| ErrorKind::InvalidData.into())
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        let had_died = self.died();
        let written = self.step("write").map(|mut state| state.write(text));
        if written.is_err() && !had_died {
            // What dies as it writes has written a part.
            lock(&self.0).write(&text[..text.len() / 2]);
        }
        written
    }

    fn sync(&mut self) -> io::Result<()> {
        let state = &mut *self.step("sync")?;
        let place = state.names.unfinished.ok_or(ErrorKind::NotFound)?;
        let file = &mut state.inodes[place];
        file.synced.clone_from(&file.written);
        Ok(())
    }

    fn replace(&mut self) -> io::Result<()> {
        let mut state = self.step("replace")?;
        state.change_names(|names| names.file = names.unfinished.take());
        Ok(())
    }

    fn remove(&mut self) -> io::Result<()> {
        let mut state = self.step("remove")?;
        if state.names.file.is_none() {
            return Err(ErrorKind::NotFound.into());
        }
        state.change_names(|names| names.file = None);
        Ok(())
    }

    fn sync_names(&mut self) -> io::Result<()> {
        self.step("sync names")?.before.clear();
        Ok(())
    }
}
