//! What the library and the command have to say, on standard error.

use std::io::{self, Write};

use log::{LevelFilter, Log, Metadata, Record};

/// Writes warnings and errors to standard error from now on.
pub fn to_stderr() {
    // Refused only where a logger was set before, and there is one `main`.
    let _ = log::set_logger(&Stderr);
    log::set_max_level(LevelFilter::Warn);
}

struct Stderr;

impl Log for Stderr {
    fn enabled(&self, metadata: &Metadata) -> bool {
        metadata.level() <= LevelFilter::Warn
    }

    fn log(&self, record: &Record) {
        if self.enabled(record.metadata()) {
            // A closed standard error is no reason to end.
            let _ = writeln!(io::stderr(), "witlock: {}", record.args());
        }
    }

    fn flush(&self) {}
}
