//! The file of the grace on a disk.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;

use crate::store::sync_directory;

/// The file, and at its side one that is to take its place. The steps apart: a
/// process may be killed between any two.
pub(super) trait Files: Send {
    fn read(&self) -> io::Result<String>;

    /// Writes the other file.
    fn write(&mut self, text: &str) -> io::Result<()>;

    /// Makes what the other file says durable.
    fn sync(&mut self) -> io::Result<()>;

    /// Has the other file take the place of this one.
    fn replace(&mut self) -> io::Result<()>;

    /// Removes the file.
    fn remove(&mut self) -> io::Result<()>;

    /// Makes it durable which file has the name.
    fn sync_names(&mut self) -> io::Result<()>;
}

/// In a store's directory.
pub(super) struct Dir {
    dir: PathBuf,
    file: PathBuf,
    unfinished: PathBuf,
}

impl Dir {
    pub fn new(dir: PathBuf) -> Self {
        Dir {
            file: dir.join("grace"),
            unfinished: dir.join("grace.new"),
            dir,
        }
    }
}

impl Files for Dir {
    fn read(&self) -> io::Result<String> {
        fs::read_to_string(&self.file)
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        File::create(&self.unfinished)?.write_all(text.as_bytes())
    }

    fn sync(&mut self) -> io::Result<()> {
        let file = File::options().write(true).open(&self.unfinished)?;
        file.sync_all()
    }

    fn replace(&mut self) -> io::Result<()> {
        fs::rename(&self.unfinished, &self.file)
    }

    fn remove(&mut self) -> io::Result<()> {
        fs::remove_file(&self.file)
    }

    fn sync_names(&mut self) -> io::Result<()> {
        sync_directory(&self.dir)
    }
}
