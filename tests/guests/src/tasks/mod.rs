//! The program `tasks`, run, and spoken to in lines. It is run by this process,
//! as a guest of a store or composed with `locks.wasm`; or by another runtime, as
//! other programs are that take the same lines.

mod guest;
mod stdio;
mod time;
#[path = "../../../programs/clock/src/timeline.rs"]
mod timeline;

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender};
use std::thread::JoinHandle;

use tokio::sync::mpsc::UnboundedSender;
use wasmtime::Result;
use witlock::LocksCtx;

pub(crate) use time::{Time, TimeView};

/// A program that runs. Dropped, it ends: its stdin does if it runs here, and it
/// is killed if it runs elsewhere.
pub struct Tasks {
    running: Running,
    stdout: Receiver<Vec<u8>>,
    /// What was said, and is not heard yet.
    said: Vec<u8>,
}

enum Running {
    Here {
        stdin: Option<UnboundedSender<Vec<u8>>>,
        thread: Option<JoinHandle<Result<()>>>,
    },
    Elsewhere {
        child: Child,
        stdin: Option<ChildStdin>,
    },
}

impl Tasks {
    /// A guest of a store.
    #[must_use]
    pub fn hosted(locks: LocksCtx) -> Self {
        Self::here(witlock_programs::TASKS, Some(locks))
    }

    /// A composition, without directories, in this process.
    #[must_use]
    pub fn composed(component: &'static str) -> Self {
        Self::here(component, None)
    }

    fn here(component: &'static str, locks: Option<LocksCtx>) -> Self {
        let (stdin, from_stdin) = tokio::sync::mpsc::unbounded_channel();
        let (to_stdout, stdout) = std::sync::mpsc::channel();
        let run = move || guest::run(component, locks, from_stdin, to_stdout);
        let running = Running::Here {
            stdin: Some(stdin),
            thread: Some(std::thread::spawn(run)),
        };
        Tasks {
            running,
            stdout,
            said: Vec::new(),
        }
    }

    /// Another process, which runs the program with this command.
    #[must_use]
    pub fn elsewhere(command: &mut Command) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().expect("the runtime starts");
        let stdin = child.stdin.take();
        let from_stdout = child.stdout.take().expect("it is piped");
        let (to_stdout, stdout) = std::sync::mpsc::channel();
        std::thread::spawn(move || pass_on(from_stdout, &to_stdout));
        Tasks {
            running: Running::Elsewhere { child, stdin },
            stdout,
            said: Vec::new(),
        }
    }

    /// Says a line and waits for the answer.
    pub fn say(&mut self, line: &str) -> String {
        let answer = self.try_say(line);
        answer.unwrap_or_else(|| panic!("{line:?} was not answered: {:?}", self.stop()))
    }

    /// Says a line and waits for the answer; none if the program ended.
    pub fn try_say(&mut self, line: &str) -> Option<String> {
        self.write(format!("{line}\n").as_bytes())?;
        self.hear()
    }

    /// Says a line, whose answer is heard by [`hear`](Tasks::hear).
    pub fn tell(&mut self, line: &str) {
        // That it ended is heard as well.
        let _ = self.write(format!("{line}\n").as_bytes());
    }

    fn write(&mut self, bytes: &[u8]) -> Option<()> {
        match &mut self.running {
            Running::Here { stdin, .. } => stdin.as_ref()?.send(bytes.to_vec()).ok(),
            Running::Elsewhere { stdin, .. } => stdin.as_mut()?.write_all(bytes).ok(),
        }
    }

    /// The next line that it says; none if it ended.
    pub fn hear(&mut self) -> Option<String> {
        loop {
            if let Some(line) = self.next_said() {
                return Some(line);
            }
            self.said.extend(self.stdout.recv().ok()?);
        }
    }

    /// The next line, if it has said one.
    pub fn heard(&mut self) -> Option<String> {
        self.said.extend(self.stdout.try_iter().flatten());
        self.next_said()
    }

    fn next_said(&mut self) -> Option<String> {
        let end = self.said.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.said.drain(..=end).collect();
        Some(String::from_utf8_lossy(&line).trim_end().to_owned())
    }

    /// Kills a program that runs elsewhere, after so long, without a chance to
    /// clean up.
    #[cfg(unix)]
    #[must_use]
    pub fn kill_after(&self, life: std::time::Duration) -> JoinHandle<()> {
        let Running::Elsewhere { child, .. } = &self.running else {
            panic!("it runs here");
        };
        let id = child.id().to_string();
        std::thread::spawn(move || {
            std::thread::sleep(life);
            let killed = Command::new("kill").args(["-s", "KILL", &id]).status();
            assert!(killed.expect("kill runs").success());
        })
    }

    /// Lets a program that runs elsewhere return, since there is no more to do;
    /// whether it did well.
    #[must_use]
    pub fn returns(mut self) -> bool {
        let Running::Elsewhere { child, stdin } = &mut self.running else {
            panic!("it runs here");
        };
        drop(stdin.take());
        child.wait().expect("it was started").success()
    }

    /// Ends the program, and says how it ended where it runs here.
    ///
    /// # Errors
    ///
    /// A trap.
    pub fn end(mut self) -> Result<()> {
        self.stop()
    }

    fn stop(&mut self) -> Result<()> {
        match &mut self.running {
            Running::Here { stdin, thread } => {
                drop(stdin.take());
                let ended = thread.take().map(JoinHandle::join);
                ended.map_or(Ok(()), |ended| ended.expect("no panic"))
            }
            Running::Elsewhere { child, .. } => {
                // It may have ended by itself.
                let _ = child.kill();
                child.wait()?;
                Ok(())
            }
        }
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        // Who wants to know how it ended calls `end`.
        let _ = self.stop();
    }
}

/// Hands on what a program elsewhere says, until it ends.
fn pass_on(mut stdout: ChildStdout, to: &Sender<Vec<u8>>) {
    let mut buffer = [0; 4_096];
    while let Ok(read @ 1..) = stdout.read(&mut buffer) {
        if to.send(buffer[..read].to_vec()).is_err() {
            return;
        }
    }
}

/// A text as a line has it.
#[must_use]
pub fn text(text: &str) -> String {
    let digits = text.bytes().map(|byte| format!("{byte:02x}"));
    format!("x{}", digits.collect::<String>())
}
