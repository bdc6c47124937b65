//! The program `tasks`, run, and spoken to in lines. It is run by this process,
//! as a guest of a store or composed with `locks.wasm`; or by another runtime.

mod guest;
mod stdio;
mod time;
#[path = "../../../programs/clock/src/timeline.rs"]
mod timeline;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;

use tokio::sync::mpsc::UnboundedSender;
use wasmtime::Result;
use witlock::LocksCtx;

pub(crate) use time::{Time, TimeView};

/// A program that runs. Dropped, it ends: its stdin does if it runs here, and it
/// is killed if it runs elsewhere.
pub struct Tasks(Running);

enum Running {
    Here {
        stdin: Option<UnboundedSender<Vec<u8>>>,
        stdout: Receiver<Vec<u8>>,
        said: Vec<u8>,
        thread: Option<JoinHandle<Result<()>>>,
    },
    Elsewhere {
        child: Child,
        stdin: ChildStdin,
        stdout: BufReader<ChildStdout>,
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
        Tasks(Running::Here {
            stdin: Some(stdin),
            stdout,
            said: Vec::new(),
            thread: Some(std::thread::spawn(run)),
        })
    }

    /// Another process, which runs the program with this command.
    #[must_use]
    pub fn elsewhere(command: &mut Command) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().expect("the runtime starts");
        let stdin = child.stdin.take().expect("it is piped");
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        Tasks(Running::Elsewhere {
            child,
            stdin,
            stdout,
        })
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
        match &mut self.0 {
            Running::Here { stdin, .. } => stdin.as_ref()?.send(bytes.to_vec()).ok(),
            Running::Elsewhere { stdin, .. } => stdin.write_all(bytes).ok(),
        }
    }

    /// The next line that it says; none if it ended.
    pub fn hear(&mut self) -> Option<String> {
        match &mut self.0 {
            Running::Here { stdout, said, .. } => loop {
                if let Some(end) = said.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = said.drain(..=end).collect();
                    return Some(String::from_utf8_lossy(&line).trim_end().to_owned());
                }
                said.extend(stdout.recv().ok()?);
            },
            Running::Elsewhere { stdout, .. } => {
                let mut line = String::new();
                let read = stdout.read_line(&mut line).ok()?;
                (read > 0).then(|| line.trim_end().to_owned())
            }
        }
    }

    /// Kills a program that runs elsewhere, after so long, without a chance to
    /// clean up.
    #[cfg(unix)]
    #[must_use]
    pub fn kill_after(&self, life: std::time::Duration) -> JoinHandle<()> {
        let Running::Elsewhere { child, .. } = &self.0 else {
            panic!("it runs here");
        };
        let id = child.id().to_string();
        std::thread::spawn(move || {
            std::thread::sleep(life);
            let killed = Command::new("kill").args(["-s", "KILL", &id]).status();
            assert!(killed.expect("kill runs").success());
        })
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
        match &mut self.0 {
            Running::Here { stdin, thread, .. } => {
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

/// A text as a line has it.
#[must_use]
pub fn text(text: &str) -> String {
    let digits = text.bytes().map(|byte| format!("{byte:02x}"));
    format!("x{}", digits.collect::<String>())
}
