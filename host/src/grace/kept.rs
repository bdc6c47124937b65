//! What the file of the grace tells, and how it comes to tell something else.

use std::io::{self, ErrorKind};

use witlock_engine::bounds::TTL_MOST;

use super::files::Files;

/// The longest ttl there may be, in seconds.
pub(super) const LONGEST: u32 = TTL_MOST / 1_000;

/// What is kept of a store that has a directory, and of one that has none.
pub(super) struct Kept {
    files: Option<Box<dyn Files>>,
    /// The seconds that the file tells at least; 0 if there may be none.
    pub told: u32,
}

impl Kept {
    /// What an earlier opening left. A file that can't be understood stands for
    /// the longest ttl there may be.
    pub fn read(files: Option<Box<dyn Files>>) -> Self {
        let told = files.as_deref().map_or(0, read);
        Kept { files, told }
    }

    /// Has the file tell `seconds`, durable when this returns. After an error it
    /// tells these or those before.
    pub fn tell(&mut self, seconds: u32) -> io::Result<()> {
        let before = self.told;
        self.told = before.min(seconds);
        if let Some(files) = &mut self.files {
            match seconds {
                0 => remove(files.as_mut())?,
                _ => write(files.as_mut(), &text(seconds))?,
            }
        }
        self.told = seconds;
        Ok(())
    }

    /// Writes nothing from now on.
    pub fn let_go(&mut self) {
        self.files = None;
    }
}

fn read(files: &dyn Files) -> u32 {
    let why = match files.read() {
        Ok(text) => match seconds(&text) {
            Some(seconds) => return seconds,
            None => "damaged".into(),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => return 0,
        Err(error) => error.to_string(),
    };
    log::warn!(
        "the store's file `grace`, which tells how long leases may last, is not used: {why}"
    );
    LONGEST
}

/// A file is whole or not there, so it is written under another name first.
fn write(files: &mut dyn Files, text: &str) -> io::Result<()> {
    files.write(text)?;
    files.sync()?;
    files.replace()?;
    files.sync_names()
}

fn remove(files: &mut dyn Files) -> io::Result<()> {
    match files.remove() {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => files.sync_names(),
    }
}

/// The number twice: a digit that was damaged is found out.
fn text(seconds: u32) -> String {
    format!("leases over connections last at most {seconds} s\nonce more {seconds} s\n")
}

fn seconds(read: &str) -> Option<u32> {
    let digits = |c: &char| c.is_ascii_digit();
    let number: String = read
        .chars()
        .skip_while(|c| !digits(c))
        .take_while(digits)
        .collect();
    let number = number.parse().ok()?;
    ((1..=LONGEST).contains(&number) && read == text(number)).then_some(number)
}
