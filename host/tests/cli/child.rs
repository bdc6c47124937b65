//! A `witlock` that runs beside the test: its lines as they come, its end, and a
//! watchdog over both.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long a test may wait for its `witlock`, all in all. The largest component takes a
/// quarter of a minute to compile, unoptimised, on a machine that does nothing else.
const WATCHDOG: Duration = Duration::from_secs(120);

/// Where a line was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Out,
    Err,
}

/// A line of the child's, and when it came.
#[derive(Debug, Clone)]
pub struct Line {
    pub at: Instant,
    pub source: Source,
    pub text: String,
}

/// A running `witlock`, killed if the test drops it.
pub struct Witlock {
    child: Child,
    stdin: Option<ChildStdin>,
    coming: Receiver<Line>,
    seen: Vec<Line>,
    /// How many of `seen` the test has looked at.
    read: usize,
    patience: Instant,
}

/// How it ended, with all its lines.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub lines: Vec<Line>,
    pub at: Instant,
}

/// Starts `witlock` with these arguments.
pub fn witlock<S: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = S>) -> Witlock {
    let mut command = Command::new(env!("CARGO_BIN_EXE_witlock"));
    command.args(arguments);
    Witlock::start(command)
}

impl Witlock {
    /// Starts a command, which is a `witlock`.
    pub fn start(command: Command) -> Witlock {
        Witlock::start_on(command, Stdio::piped())
    }

    /// The same on another standard input.
    pub fn start_on(mut command: Command, stdin: Stdio) -> Witlock {
        command.stdin(stdin);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        heed_signals(&mut command);
        let mut child = command.spawn().expect("witlock starts");
        let (tell, coming) = channel();
        let stdout = child.stdout.take().expect("stdout is piped");
        let stderr = child.stderr.take().expect("stderr is piped");
        forward(stdout, Source::Out, tell.clone());
        forward(stderr, Source::Err, tell);
        Witlock {
            stdin: child.stdin.take(),
            child,
            coming,
            seen: Vec::new(),
            read: 0,
            patience: Instant::now() + WATCHDOG,
        }
    }

    /// Waits for the next line that has all of `parts`, and passes over those
    /// before it.
    pub fn line(&mut self, parts: &[&str]) -> Line {
        loop {
            while self.read < self.seen.len() {
                let line = &self.seen[self.read];
                self.read += 1;
                if parts.iter().all(|part| line.text.contains(part)) {
                    return line.clone();
                }
            }
            if !self.take_next() {
                panic!(
                    "ended without a line with {parts:?}:\n{}",
                    Listed(&self.seen)
                );
            }
        }
    }

    /// Writes to its standard input.
    pub fn write(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(text.as_bytes()).expect("it reads");
    }

    /// Ends its standard input.
    pub fn end_input(&mut self) {
        self.stdin = None;
    }

    /// Its process's number.
    pub fn id(&self) -> String {
        self.child.id().to_string()
    }

    /// Sends it a signal, by its name.
    #[cfg(unix)]
    pub fn signal(&self, name: &str) {
        signal(&self.id(), name);
    }

    /// Waits for its end.
    pub fn end(mut self) -> Ended {
        while self.take_next() {}
        // Its outputs are closed, so it is ending, if it is.
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return Ended {
                    status,
                    lines: std::mem::take(&mut self.seen),
                    at: Instant::now(),
                };
            }
            if Instant::now() > self.patience {
                panic!("it does not end:\n{}", Listed(&self.seen));
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits for a line; false once there are no more.
    fn take_next(&mut self) -> bool {
        let left = self.patience.saturating_duration_since(Instant::now());
        match self.coming.recv_timeout(left) {
            Ok(line) => self.seen.push(line),
            Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) => {
                panic!(
                    "neither a line nor an end came in time:\n{}",
                    Listed(&self.seen)
                )
            }
        }
        true
    }
}

/// Whoever runs the tests may have them ignore signals, as nohup(1) does; what they
/// start does not.
fn heed_signals(command: &mut Command) {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        let signals = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];
        // SAFETY: signal(2) is one of those that may be called between fork and exec.
        unsafe {
            command.pre_exec(move || {
                for signal in signals {
                    libc::signal(signal, libc::SIG_DFL);
                }
                Ok(())
            });
        }
    }
}

/// Sends a process a signal, by its name.
///
/// One process, by its number: of a group's `-123` the kill(1) of procps reads
/// `-1`, which is everybody.
#[cfg(unix)]
pub fn signal(process: &str, name: &str) {
    let number: u32 = process.parse().expect("a process's number");
    assert!(number > 1, "{number} is nobody that a test may signal");
    let sent = Command::new("kill").args(["-s", name, process]).status();
    assert!(sent.expect("kill runs").success());
}

/// Whether a process is there that may still do something: one that was killed
/// and is not reaped yet can't.
#[cfg(unix)]
pub fn is_alive(process: &str) -> bool {
    let state = Command::new("ps")
        .args(["-o", "stat=", "-p", process])
        .output();
    let state = state.expect("ps runs").stdout;
    !matches!(state.first(), None | Some(b'Z'))
}

impl Drop for Witlock {
    fn drop(&mut self) {
        // In a failing test it may still run; else it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn forward(from: impl Read + Send + 'static, source: Source, tell: Sender<Line>) {
    thread::spawn(move || {
        for text in BufReader::new(from).lines() {
            let Ok(text) = text else { return };
            let at = Instant::now();
            if tell.send(Line { at, source, text }).is_err() {
                return;
            }
        }
    });
}

impl Ended {
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// All that it wrote to one place.
    pub fn text(&self, source: Source) -> String {
        let lines = self.lines.iter().filter(|line| line.source == source);
        lines.map(|line| line.text.clone() + "\n").collect()
    }

    pub fn out(&self) -> String {
        self.text(Source::Out)
    }

    pub fn err(&self) -> String {
        self.text(Source::Err)
    }

    /// Checks the exit code.
    #[track_caller]
    pub fn expect_code(&self, code: i32) -> &Ended {
        assert_eq!(
            self.code(),
            Some(code),
            "{:?}\n{}",
            self.status,
            Listed(&self.lines)
        );
        self
    }

    /// Checks that it failed with one message, which has all of `parts`.
    #[track_caller]
    pub fn expect_error(&self, code: i32, parts: &[&str]) {
        self.expect_code(code);
        let err = self.err();
        for part in parts {
            assert!(err.contains(part), "{part:?} is not in: {err}");
        }
        assert!(!err.contains("panicked"), "{err}");
    }
}

/// Lines as a failing test shows them.
struct Listed<'a>(&'a [Line]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = self.0.first().map(|line| line.at);
        for line in self.0 {
            let after = start.map_or(0, |start| (line.at - start).as_millis());
            writeln!(f, "{after:>6} ms {:?}: {}", line.source, line.text)?;
        }
        Ok(())
    }
}
