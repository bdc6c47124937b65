//! A disk that keeps what was synced. Of what was not, it keeps what it likes.

use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::StorageBackend;
use witlock::fences::{FenceError, RedbFences};

/// A handle of it; clones are the same disk.
#[derive(Debug, Clone)]
pub struct Disk(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    random: fastrand::Rng,
    synced: Vec<u8>,
    written: Vec<u8>,
    /// In their order.
    not_synced: Vec<Change>,
    /// Operations until the power is cut.
    left: u64,
    was_cut: bool,
}

#[derive(Debug)]
enum Change {
    Length(usize),
    Bytes(usize, Vec<u8>),
}

impl Change {
    fn apply(&self, image: &mut Vec<u8>) {
        match self {
            Change::Length(length) => image.resize(*length, 0),
            Change::Bytes(at, bytes) => {
                let end = at + bytes.len();
                if image.len() < end {
                    image.resize(end, 0);
                }
                image[*at..end].copy_from_slice(bytes);
            }
        }
    }
}

impl Disk {
    pub fn new(seed: u64) -> Self {
        Disk(Arc::new(Mutex::new(State {
            random: fastrand::Rng::with_seed(seed),
            synced: Vec::new(),
            written: Vec::new(),
            not_synced: Vec::new(),
            left: u64::MAX,
            was_cut: false,
        })))
    }

    /// The fences on it.
    pub fn fences(&self) -> Result<RedbFences, FenceError> {
        let disk = self.clone();
        RedbFences::open_with("disk".into(), move || {
            RedbFences::builder().create_with_backend(disk.clone())
        })
    }

    /// The power is cut before that operation, and nothing works from then on.
    pub fn cut_at(&self, operation: u64) {
        let mut state = self.state();
        state.left = operation;
        state.was_cut = false;
    }

    /// The machine starts again: what was not synced is there or not, each change
    /// by itself.
    pub fn lose_power(&self) {
        let state = &mut *self.state();
        for change in state.not_synced.drain(..) {
            if state.random.bool() {
                change.apply(&mut state.synced);
            }
        }
        state.written = state.synced.clone();
        state.left = u64::MAX;
    }

    pub fn was_cut(&self) -> bool {
        self.state().was_cut
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, if there is power for another operation.
    fn powered(&self) -> Result<MutexGuard<'_, State>, io::Error> {
        let mut state = self.state();
        if state.left == 0 {
            state.was_cut = true;
            return Err(ErrorKind::NotConnected.into());
        }
        state.left -= 1;
        Ok(state)
    }

    fn change(&self, change: Change) -> Result<(), io::Error> {
        let mut state = self.powered()?;
        change.apply(&mut state.written);
        state.not_synced.push(change);
        Ok(())
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> Result<u64, io::Error> {
        Ok(self.state().written.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        let state = self.state();
        let at = offset as usize;
        let read = state.written.get(at..at + out.len());
        out.copy_from_slice(read.ok_or(ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        self.change(Change::Length(len as usize))
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        let state = &mut *self.powered()?;
        state.not_synced.clear();
        state.synced.clone_from(&state.written);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        self.change(Change::Bytes(offset as usize, data.to_vec()))
    }
}
