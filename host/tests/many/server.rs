//! A `witlock serve` of the test's own, and what it costs.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// Killed when it is dropped.
pub struct Server {
    child: Child,
    place: TempDir,
}

impl Server {
    pub fn start() -> Server {
        crate::common::watchdog();
        let place = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_witlock"));
        command.arg("serve").arg("--store").arg(place.path());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        assert!(line.starts_with("listening"), "{line}");
        Server { child, place }
    }

    pub fn socket(&self) -> std::path::PathBuf {
        self.place.path().join("witlock.sock")
    }

    pub fn address(&self) -> String {
        format!("unix:{}", self.socket().display())
    }

    /// The time for which it had a processor: proc(5), in hundredths of a second.
    pub fn busy(&self) -> Duration {
        let stat = self.proc("stat");
        let fields = stat.rsplit(')').next().unwrap().split_whitespace();
        let ticks: u64 = fields
            .skip(11)
            .take(2)
            .map(|it| it.parse::<u64>().unwrap())
            .sum();
        Duration::from_millis(ticks * 10)
    }

    /// The memory that it has, in MiB.
    pub fn memory(&self) -> u64 {
        let status = self.proc("status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.unwrap().trim().trim_end_matches(" kB");
        kib.parse::<u64>().unwrap() / 1024
    }

    /// Bytes of its journal.
    pub fn journal(&self) -> u64 {
        fs::metadata(self.place.path().join("journal"))
            .unwrap()
            .len()
    }

    fn proc(&self, file: &str) -> String {
        fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
