//! Ctrl-C and SIGTERM.

use std::io;
use std::thread;
use std::time::Duration;

use tokio::runtime;
use tokio::sync::oneshot;
use witlock::Store;

/// How long the guests may take to stop: one that computes needs a tick, one
/// that is stuck in a call of the system may never come back.
const GRACE: Duration = Duration::from_secs(1);

/// Who asked the process to end.
#[derive(Debug, Clone, Copy)]
pub enum Signal {
    Interrupt,
    #[cfg_attr(windows, expect(dead_code, reason = "Windows has no such signal"))]
    Terminate,
}

impl Signal {
    /// The exit code that a shell gives for the signal.
    pub fn code(self) -> u8 {
        match self {
            Signal::Interrupt => 130,
            Signal::Terminate => 143,
        }
    }
}

/// Tells of the first signal, and ends the process if that has not happened
/// after a grace, or as soon as there is a second signal.
///
/// It has a thread and a runtime of its own: the guests may be blocking every
/// thread of theirs.
pub fn watch(store: Store) -> io::Result<oneshot::Receiver<Signal>> {
    let (tell, told) = oneshot::channel();
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    // Caught from here on, not from whenever the thread gets to run.
    let signals = runtime.block_on(async { Signals::catch() })?;
    let watcher = thread::Builder::new().name("witlock-signals".to_owned());
    watcher.spawn(move || runtime.block_on(end(signals, store, tell)))?;
    Ok(told)
}

async fn end(mut signals: Signals, store: Store, tell: oneshot::Sender<Signal>) {
    let signal = signals.next().await;
    // Nobody listens once the guests have ended, and then the process is ending.
    let _ = tell.send(signal);
    let closed = async {
        tokio::time::sleep(GRACE).await;
        let _ = tokio::task::spawn_blocking(move || store.close()).await;
    };
    tokio::select! {
        () = closed => {}
        _ = signals.next() => {}
    }
    std::process::exit(signal.code().into());
}

/// The signals that stop a process, caught.
#[cfg(unix)]
pub struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub fn catch() -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    pub async fn next(&mut self) -> Signal {
        tokio::select! {
            Some(()) = self.interrupt.recv() => Signal::Interrupt,
            Some(()) = self.terminate.recv() => Signal::Terminate,
            else => std::future::pending().await,
        }
    }
}

/// The signals that stop a process, caught.
#[cfg(windows)]
pub struct Signals {
    interrupt: tokio::signal::windows::CtrlC,
}

#[cfg(windows)]
impl Signals {
    pub fn catch() -> io::Result<Signals> {
        let interrupt = tokio::signal::windows::ctrl_c()?;
        Ok(Signals { interrupt })
    }

    pub async fn next(&mut self) -> Signal {
        match self.interrupt.recv().await {
            Some(()) => Signal::Interrupt,
            None => std::future::pending().await,
        }
    }
}
