//! The file of the journal on a disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;

/// The file. Nothing is synced: what was written outlasts the process, not the
/// machine.
pub(super) trait Files: Send {
    fn read(&self) -> io::Result<Vec<u8>>;

    /// Writes behind what was written. After an error some of it may stand there.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Has a file with these bytes take the place of this one.
    fn replace(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// In a store's directory.
pub(super) struct Dir {
    file: PathBuf,
    unfinished: PathBuf,
    /// Once this opening wrote it.
    open: Option<File>,
}

impl Dir {
    pub fn new(dir: PathBuf) -> Self {
        Dir {
            file: dir.join("journal"),
            unfinished: dir.join("journal.new"),
            open: None,
        }
    }
}

impl Files for Dir {
    fn read(&self) -> io::Result<Vec<u8>> {
        fs::read(&self.file)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.open {
            Some(file) => file.write_all(bytes),
            None => Err(io::Error::other("nothing was written yet")),
        }
    }

    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut file = private().open(&self.unfinished)?;
        file.write_all(bytes)?;
        fs::rename(&self.unfinished, &self.file)?;
        self.open = Some(file);
        Ok(())
    }
}

/// Who can read the ids of leases could release them.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
