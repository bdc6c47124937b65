//! A disk in memory, which knows what a power cut may take.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard};

use fastrand::Rng;
use witlock_locks_component::fences::Disk;

type Files = BTreeMap<String, String>;

/// Files of one directory. Clones are the same directory.
#[derive(Clone, Default)]
pub struct MemoryDisk(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    files: Files,
    /// What is there for sure after a power cut.
    durable: Files,
    /// Names that came (with what they hold) or went since, in their order.
    changes: Vec<(String, Option<String>)>,
}

impl State {
    fn change(&mut self, name: &str, text: Option<String>) {
        match &text {
            Some(text) => self.files.insert(name.into(), text.clone()),
            None => self.files.remove(name),
        };
        self.changes.push((name.into(), text));
    }
}

impl MemoryDisk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("unharmed")
    }

    /// Any of the changes that were not synced may be lost.
    pub fn cut_power(&self, random: &mut Rng) {
        let mut state = self.state();
        let mut files = state.durable.clone();
        for (name, text) in std::mem::take(&mut state.changes) {
            if random.bool() {
                match text {
                    Some(text) => files.insert(name, text),
                    None => files.remove(&name),
                };
            }
        }
        state.durable = files.clone();
        state.files = files;
    }
}

impl Disk for MemoryDisk {
    fn names(&mut self) -> io::Result<Vec<String>> {
        Ok(self.state().files.keys().cloned().collect())
    }

    fn read(&mut self, name: &str) -> io::Result<String> {
        let text = self.state().files.get(name).cloned();
        text.ok_or(io::ErrorKind::NotFound.into())
    }

    fn write(&mut self, name: &str, text: &str) -> io::Result<()> {
        self.state().change(name, Some(text.into()));
        Ok(())
    }

    fn link(&mut self, name: &str, second: &str) -> io::Result<()> {
        let text = self.read(name)?;
        let mut state = self.state();
        if state.files.contains_key(second) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.change(second, Some(text));
        Ok(())
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        self.read(name)?;
        self.state().change(name, None);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.state();
        state.durable = state.files.clone();
        state.changes.clear();
        Ok(())
    }
}

/// A disk whose operations fail from one on, or one of them.
pub struct Unreliable {
    disk: MemoryDisk,
    done: Rc<Cell<usize>>,
    fails_at: usize,
    fails_once: bool,
}

impl Unreliable {
    /// Nothing is done from this operation on.
    pub fn new(disk: MemoryDisk, fails_at: usize) -> Self {
        Unreliable {
            disk,
            done: Rc::default(),
            fails_at,
            fails_once: false,
        }
    }

    /// Only this operation is not done.
    pub fn failing_once(disk: MemoryDisk, fails_at: usize) -> Self {
        Unreliable {
            fails_once: true,
            ..Unreliable::new(disk, fails_at)
        }
    }

    /// How many operations there were.
    pub fn counter(&self) -> Rc<Cell<usize>> {
        self.done.clone()
    }

    fn next(&mut self) -> io::Result<&mut MemoryDisk> {
        let number = self.done.get();
        self.done.set(number + 1);
        let fails = if self.fails_once {
            number == self.fails_at
        } else {
            number >= self.fails_at
        };
        match fails {
            true => Err(io::Error::other("the disk fails")),
            false => Ok(&mut self.disk),
        }
    }
}

impl Disk for Unreliable {
    fn names(&mut self) -> io::Result<Vec<String>> {
        self.next()?.names()
    }

    fn read(&mut self, name: &str) -> io::Result<String> {
        self.next()?.read(name)
    }

    fn write(&mut self, name: &str, text: &str) -> io::Result<()> {
        self.next()?.write(name, text)
    }

    fn link(&mut self, name: &str, second: &str) -> io::Result<()> {
        self.next()?.link(name, second)
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        self.next()?.remove(name)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.next()?.sync()
    }
}
