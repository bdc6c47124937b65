//! The record that the guests write: `FENCE CHAT WRITER TEXT`, a line each.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::guest::CHAT;

/// The directory of the record.
pub struct Shelf(PathBuf);

/// A line of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub fence: u64,
    pub writer: String,
}

impl Shelf {
    pub fn new(directory: PathBuf) -> Shelf {
        fs::create_dir_all(&directory).unwrap();
        Shelf(directory)
    }

    pub fn directory(&self) -> &Path {
        &self.0
    }

    /// All that was written.
    pub fn lines(&self) -> Vec<Line> {
        let text = fs::read_to_string(self.record()).unwrap_or_default();
        text.lines().map(line).collect()
    }

    /// Checks that a guest, which printed this, wrote last; under which fence.
    pub fn wrote_last(&self, language: &str, printed: &str) -> u64 {
        let lines = self.lines();
        let last = lines.last().unwrap();
        assert_eq!(last.writer, language);
        let told = format!("{language} wrote {CHAT} under fence {}\n", last.fence);
        assert!(printed.ends_with(&told), "{printed}");
        last.fence
    }

    /// Writes as a guest does.
    pub fn append(&self, fence: u64, chat: &str, writer: &str) {
        let mut record = OpenOptions::new();
        let mut record = record
            .create(true)
            .append(true)
            .open(self.record())
            .unwrap();
        record
            .write_all(format!("{fence} {chat} {writer} a summary\n").as_bytes())
            .unwrap();
    }

    fn record(&self) -> PathBuf {
        self.0.join("summaries")
    }
}

fn line(text: &str) -> Line {
    let words: Vec<&str> = text.splitn(4, ' ').collect();
    let [fence, CHAT, writer, _] = words[..] else {
        panic!("{text:?} is no line of the record");
    };
    Line {
        fence: fence.parse().unwrap(),
        writer: writer.to_owned(),
    }
}
