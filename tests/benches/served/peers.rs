//! Where `just peers` installs the servers that are compared to.

use std::path::{Path, PathBuf};

/// A command, if it is installed.
pub fn command(name: &str) -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent()?;
    let command = target.join("peers/bin").join(name);
    match command.is_file() {
        true => Some(command),
        false => {
            println!("{name} is left out: `just peers` installs it");
            None
        }
    }
}
