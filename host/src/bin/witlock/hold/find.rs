//! Whether there is such a command, told before its key is asked for.

use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use rustix::fs::{Access, access};

use crate::codes::{self, Failure};

/// Where execvp(3) looks where there is no PATH.
const PATH: &str = "/bin:/usr/bin";

/// Looks the command up as execvp(3) does.
pub fn check(program: &OsStr) -> Result<(), Failure> {
    let found: Vec<PathBuf> = places(program).filter(|path| path.is_file()).collect();
    if found
        .iter()
        .any(|path| access(path, Access::EXEC_OK).is_ok())
    {
        return Ok(());
    }
    let program = program.display();
    Err(match found.first() {
        Some(found) => {
            let found = found.display();
            Failure::new(
                codes::NOT_RUNNABLE,
                anyhow!("{program} cannot be run: {found} is not executable"),
            )
        }
        None => Failure::new(codes::NOT_FOUND, anyhow!("there is no command {program}")),
    })
}

fn places(program: &OsStr) -> impl Iterator<Item = PathBuf> {
    let directories = match program.as_bytes().contains(&b'/') {
        true => OsStr::new("").to_owned(),
        false => env::var_os("PATH").unwrap_or_else(|| PATH.into()),
    };
    let directories: Vec<PathBuf> = env::split_paths(&directories).collect();
    directories
        .into_iter()
        .map(move |directory| Path::new(&directory).join(program))
}
