//! The command and its process group.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process_group, test_kill_process_group, waitid,
};

use crate::codes::{self, Failure};

/// How long the killed may take to be gone. They run no more: what takes time is
/// a call of the system that they are in, or a machine where nobody reaps them.
const GONE: Duration = Duration::from_secs(1);

/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(2);

/// The command, which leads a group of its own. It is not reaped before its
/// group was killed, so that the group's number is nobody else's.
pub struct Group {
    leader: Child,
    id: Pid,
}

/// What a wait for the command tells.
pub enum Change {
    /// By this signal.
    Stopped(i32),
    Ended,
}

impl Group {
    /// Starts the command. The wrapper is told its group before it runs, by the
    /// command's own process: it has to know it whenever this one is killed.
    pub fn start(command: &[OsString], wrapper: &UnixStream) -> Result<Group, Failure> {
        let (program, arguments) = command.split_first().ok_or_else(no_command)?;
        adopt_orphans();
        let mut starting = Command::new(program);
        starting.args(arguments).process_group(0);
        let wrapper = wrapper.as_raw_fd();
        // SAFETY: the socket is open in the new process until the command runs, and
        // what is done there allocates nothing and takes no lock.
        let started = unsafe {
            let wrapper = BorrowedFd::borrow_raw(wrapper);
            starting.pre_exec(move || tell_started(wrapper)).spawn()
        };
        let leader = started.map_err(|error| unstartable(program, error))?;
        let id = Pid::from_child(&leader);
        Ok(Group { leader, id })
    }

    pub fn id(&self) -> Pid {
        self.id
    }

    /// Asks every process of the group to end; a stopped one must go on for it.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
    }

    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    pub fn signal(&self, signal: Signal) {
        // Nobody is left whom it could reach, or who may be reached.
        let _ = kill_process_group(self.id, signal);
    }

    /// Kills what the command, which has ended, left of its group; its exit
    /// code once they are gone.
    pub fn end(mut self) -> io::Result<u8> {
        self.kill();
        let status = self.leader.wait()?;
        reap_orphans(self.id);
        until_gone(self.id);
        Ok(code(status))
    }
}

/// Tells the wrapper [`News::Started`] with this process's number, which its group
/// has too.
fn tell_started(wrapper: BorrowedFd<'_>) -> io::Result<()> {
    let mut line = [0; 64];
    let mut rest = &mut line[..];
    writeln!(rest, r#"{{"started":{}}}"#, getpid().as_raw_pid())?;
    let left = rest.len();
    // A wrapper that is gone is found out by its orders.
    let _ = rustix::io::write(wrapper, &line[..line.len() - left]);
    Ok(())
}

/// What the command leaves behind becomes this process's: others may take their time
/// to reap it, and until then its group is not gone.
fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_child_subreaper(Some(getpid())) {
        log::debug!("orphans are left to others: {error}");
    }
}

/// Waits for whoever of a killed group is a child of this process.
fn reap_orphans(group: Pid) {
    let start = Instant::now();
    while start.elapsed() < GONE {
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        match waitid(WaitId::Pgid(Some(group)), ended) {
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => thread::sleep(LOOK),
            // There is none.
            Err(_) => return,
        }
    }
}

fn no_command() -> Failure {
    Failure::new(codes::USAGE, anyhow!("there is no command"))
}

fn unstartable(program: &OsStr, error: io::Error) -> Failure {
    let code = match error.kind() {
        io::ErrorKind::NotFound => codes::NOT_FOUND,
        _ => codes::NOT_RUNNABLE,
    };
    let program = program.display();
    Failure::new(code, anyhow!("{program} cannot be run: {error}"))
}

/// Waits until a killed group has no process left, but not for ever.
pub fn until_gone(group: Pid) {
    let start = Instant::now();
    while test_kill_process_group(group).is_ok() && start.elapsed() < GONE {
        thread::sleep(LOOK);
    }
}

/// Waits until a child stops or ends, without reaping it.
pub fn next_change(child: Pid) -> Change {
    let any = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::Pid(child), any) {
            Ok(Some(status)) if status.stopped() => {
                // Taken, or it would be told again and again.
                let taken = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG;
                let _ = waitid(WaitId::Pid(child), taken);
                let signal = status.stopping_signal();
                return Change::Stopped(signal.unwrap_or(Signal::STOP.as_raw()));
            }
            Ok(Some(_)) => return Change::Ended,
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            // There is no such child any more.
            Err(_) => return Change::Ended,
        }
    }
}

/// The exit code that a shell tells.
fn code(status: ExitStatus) -> u8 {
    match (status.code(), status.signal()) {
        // Codes have 8 bits.
        (Some(code), _) => code as u8,
        (None, Some(signal)) => codes::of_signal(signal),
        (None, None) => codes::BROKEN_OURSELVES,
    }
}
