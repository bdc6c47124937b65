//! Two threads that take turns at a disk, as a seed has it.

use std::io;
use std::sync::{Arc, Condvar, Mutex};

use fastrand::Rng;
use witlock_locks_component::fences::Disk;

use crate::disk::MemoryDisk;

/// One turn in so many is anyone's.
const STAYS: u8 = 12;

/// Whose turn it is.
#[derive(Clone)]
pub struct Turns(Arc<(Mutex<State>, Condvar)>);

struct State {
    random: Rng,
    /// Who takes part still.
    takes_part: [bool; 2],
    next: usize,
}

impl State {
    /// Mostly who had the last turn has the next: so one may do all of a
    /// reservation, or two, in the middle of the other's.
    fn choose(&mut self) {
        let stays = self.random.u8(..STAYS) > 0 && self.takes_part[self.next];
        let chosen = if stays {
            self.next
        } else {
            self.random.usize(..2)
        };
        self.next = if self.takes_part[chosen] {
            chosen
        } else {
            1 - chosen
        };
    }
}

impl Turns {
    pub fn new(seed: u64) -> Self {
        let mut state = State {
            random: Rng::with_seed(seed),
            takes_part: [true; 2],
            next: 0,
        };
        state.choose();
        Turns(Arc::new((Mutex::new(state), Condvar::new())))
    }

    /// The disk of one of the two. Dropped, the other has all turns.
    pub fn disk(&self, number: usize, disk: MemoryDisk) -> Turned {
        Turned {
            turns: self.clone(),
            number,
            disk,
        }
    }
}

/// A disk at which one waits for its turn.
pub struct Turned {
    turns: Turns,
    number: usize,
    disk: MemoryDisk,
}

impl Turned {
    fn in_turn<T>(&mut self, act: impl FnOnce(&mut MemoryDisk) -> T) -> T {
        let (state, changed) = &*self.turns.0;
        let number = self.number;
        let state = state.lock().expect("unharmed");
        let mut state = changed
            .wait_while(state, |state| state.next != number)
            .expect("unharmed");
        let done = act(&mut self.disk);
        state.choose();
        changed.notify_all();
        done
    }
}

impl Drop for Turned {
    fn drop(&mut self) {
        let (state, changed) = &*self.turns.0;
        let mut state = state.lock().expect("unharmed");
        state.takes_part[self.number] = false;
        state.choose();
        changed.notify_all();
    }
}

impl Disk for Turned {
    fn names(&mut self) -> io::Result<Vec<String>> {
        self.in_turn(Disk::names)
    }

    fn read(&mut self, name: &str) -> io::Result<String> {
        self.in_turn(|disk| disk.read(name))
    }

    fn write(&mut self, name: &str, text: &str) -> io::Result<()> {
        self.in_turn(|disk| disk.write(name, text))
    }

    fn link(&mut self, name: &str, second: &str) -> io::Result<()> {
        self.in_turn(|disk| disk.link(name, second))
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        self.in_turn(|disk| disk.remove(name))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.in_turn(Disk::sync)
    }
}
