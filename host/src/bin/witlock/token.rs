//! The token that a server makes at its first start.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Its file in the store's directory.
const FILE: &str = "token";

/// Bytes of randomness in it.
const RANDOM_BYTES: usize = 32;

/// The file of the store's token, which is made if it is not there.
pub fn of_store(directory: &Path) -> Result<PathBuf> {
    let file = directory.join(FILE);
    match make(&file) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(file),
        made => {
            made.with_context(|| format!("the token {} can't be made", file.display()))?;
            Ok(file)
        }
    }
}

/// Writes it whole or not at all: under its name it is only once it is written.
fn make(file: &Path) -> io::Result<()> {
    if file.exists() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    let mut random = [0; RANDOM_BYTES];
    getrandom::fill(&mut random)?;
    let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let unfinished = file.with_extension("new");
    let mut written = private(&unfinished)?;
    writeln!(written, "{token}")?;
    written.sync_all()?;
    fs::rename(unfinished, file)
}

/// A new file that only this user may read.
fn private(file: &Path) -> io::Result<File> {
    // Left by a start that was killed.
    let _ = fs::remove_file(file);
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}
