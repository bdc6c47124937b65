//! A directory as the ledger sees it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

/// Files of one directory, by name.
pub trait Disk {
    /// The names of all files.
    ///
    /// # Errors
    ///
    /// Any of the system's.
    fn names(&mut self) -> io::Result<Vec<String>>;

    /// What a file holds.
    ///
    /// # Errors
    ///
    /// [`NotFound`](io::ErrorKind::NotFound), and any of the system's.
    fn read(&mut self, name: &str) -> io::Result<String>;

    /// Writes a file, a new one or over what was there, and syncs what it
    /// holds. Its name may still be lost.
    ///
    /// # Errors
    ///
    /// Any of the system's.
    fn write(&mut self, name: &str, text: &str) -> io::Result<()>;

    /// Gives a file a second name, which no file has.
    ///
    /// # Errors
    ///
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if one has,
    /// [`NotFound`](io::ErrorKind::NotFound) if the file is gone.
    fn link(&mut self, name: &str, second: &str) -> io::Result<()>;

    /// Removes a name.
    ///
    /// # Errors
    ///
    /// Any of the system's.
    fn remove(&mut self, name: &str) -> io::Result<()>;

    /// Syncs which names there are.
    ///
    /// # Errors
    ///
    /// Any of the system's.
    fn sync(&mut self) -> io::Result<()>;
}

/// A directory of the system's.
#[derive(Debug)]
pub struct Directory(PathBuf);

impl Directory {
    /// The directory at this path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Directory(path.into())
    }
}

impl Disk for Directory {
    fn names(&mut self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            // A name that is no text is none of ours.
            names.extend(entry?.file_name().into_string());
        }
        Ok(names)
    }

    fn read(&mut self, name: &str) -> io::Result<String> {
        fs::read_to_string(self.0.join(name))
    }

    fn write(&mut self, name: &str, text: &str) -> io::Result<()> {
        let mut file = File::create(self.0.join(name))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    fn link(&mut self, name: &str, second: &str) -> io::Result<()> {
        fs::hard_link(self.0.join(name), self.0.join(second))
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    fn sync(&mut self) -> io::Result<()> {
        File::open(&self.0)?.sync_all()
    }
}
