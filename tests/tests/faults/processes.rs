//! Processes that a run starts, stops for a while, and kills.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// More than any of them takes to end by itself: an ask waits some seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// A child, killed if the test drops it. It ends by itself with its standard input.
pub struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
}

impl Process {
    /// Starts one.
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped());
        let mut child = command.spawn().expect("a process");
        let stdin = child.stdin.take();
        Process { child, stdin }
    }

    /// Starts one and waits until it says something.
    pub fn start_and_hear(mut command: Command) -> Self {
        command.stdout(Stdio::piped());
        let mut process = Process::start(command);
        let stdout = process.child.stdout.take().expect("it is piped");
        let mut line = String::new();
        let heard = BufReader::new(stdout).read_line(&mut line);
        assert!(heard.is_ok_and(|bytes| bytes > 0), "it ended");
        process
    }

    pub fn pause(&self) {
        self.signal("STOP");
    }

    pub fn go_on(&self) {
        self.signal("CONT");
    }

    /// One process, by its number.
    fn signal(&self, name: &str) {
        let number = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &number]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Kills it, and waits until it is gone.
    pub fn kill(mut self) {
        self.child.kill().expect("a child");
        self.child.wait().expect("a child");
    }

    /// Asks it to end.
    pub fn end_input(&mut self) {
        self.stdin = None;
    }

    /// Waits for its end; whether it came, and well.
    pub fn ends(&mut self) -> bool {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status.success();
            }
            thread::sleep(Duration::from_millis(5));
        }
        false
    }

    /// Whether it goes on.
    pub fn is_alive(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_none()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended, save in a failing test; SIGKILL ends a stopped one too.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
