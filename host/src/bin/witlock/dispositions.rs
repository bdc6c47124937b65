//! What the signals do to this process.

use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ptr;

/// Those that would end or stop a process which neither catches nor ignores them,
/// and are sent from outside.
const ENDING: [c_int; 8] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGTSTP,
];

/// Makes this process outlast all signals but SIGKILL and SIGSTOP: who stops a
/// service signals every process of it, and the guardian has to outlast its
/// command.
///
/// They are caught, neither ignored nor blocked, for that would be inherited by
/// the command.
pub fn outlast_signals() {
    for signal in ENDING {
        if !is_ignored(signal) {
            set(signal, nothing as *const () as libc::sighandler_t);
        }
    }
    // Where it is ignored, the system forgets how children ended.
    set(libc::SIGCHLD, libc::SIG_DFL);
}

extern "C" fn nothing(_: c_int) {}

fn set(signal: c_int, handler: libc::sighandler_t) {
    // SAFETY: the handler is none, or does nothing.
    unsafe {
        libc::signal(signal, handler);
    }
}

/// Whether this process was started to ignore a signal, as nohup(1) does, and
/// shells for what they run in the background.
pub fn is_ignored(signal: c_int) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: sigaction fills the action unless it fails, and sets none.
    unsafe {
        libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Does what a process in the background of its terminal would be stopped for.
pub fn from_background<T>(work: impl FnOnce() -> T) -> T {
    let mut stop = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: each set is filled by its first use, and lives for the calls.
    unsafe {
        libc::sigemptyset(stop.as_mut_ptr());
        libc::sigemptyset(before.as_mut_ptr());
        libc::sigaddset(stop.as_mut_ptr(), libc::SIGTTOU);
        libc::pthread_sigmask(libc::SIG_BLOCK, stop.as_ptr(), before.as_mut_ptr());
    }
    let done = work();
    // SAFETY: as above.
    unsafe {
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut());
    }
    done
}
