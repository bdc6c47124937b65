//! Where the summaries are kept: a file that refuses who is late.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The guard. Lines are only ever appended to the file, each in one write, and a line
/// counts only if its fence is larger than that of every earlier line of its chat. So
/// nobody comes between the look and the write: the order of the lines decides.
pub struct Shelf(PathBuf);

/// Why a summary is not kept.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    #[error("{fence} is late, {kept} has written")]
    Late { fence: u64, kept: u64 },
    #[error(transparent)]
    File(#[from] io::Error),
}

impl Shelf {
    pub fn at(directory: impl AsRef<Path>) -> Shelf {
        Shelf(directory.as_ref().join("summaries"))
    }

    /// Keeps a summary, unless one with a larger fence is there.
    pub fn save(
        &self,
        chat: &str,
        writer: &str,
        summary: &str,
        fence: u64,
    ) -> Result<(), SaveError> {
        let line = format!("{fence} {chat} {writer} {summary}\n");
        let mut file = OpenOptions::new().create(true).append(true).open(&self.0)?;
        file.write_all(line.as_bytes())?;
        let lines = fs::read_to_string(&self.0)?;
        match largest_before(&lines, chat, fence) {
            Some(kept) => Err(SaveError::Late { fence, kept }),
            None => Ok(()),
        }
    }
}

/// The largest fence in the lines of a chat before that of `fence`, if it is larger.
fn largest_before(lines: &str, chat: &str, fence: u64) -> Option<u64> {
    let of_chat = lines.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let fence: u64 = words.next()?.parse().ok()?;
        (words.next()? == chat).then_some(fence)
    });
    let before = of_chat.take_while(|earlier| *earlier != fence);
    before.max().filter(|largest| *largest > fence)
}
