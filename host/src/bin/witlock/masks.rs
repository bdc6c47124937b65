//! Which signals this process ignores or is deaf to.
//!
//! What is ignored stays ignored in a command that it starts, what it blocks does
//! not: the standard library starts every child with nothing blocked.

use std::mem::MaybeUninit;
use std::ptr;

/// Makes this thread, and those it starts, deaf to all signals but SIGKILL and
/// SIGSTOP.
///
/// Who stops a service signals every process of it, and the guardian has to
/// outlive its command.
pub fn hear_nothing() {
    let mut all = MaybeUninit::uninit();
    // SAFETY: sigfillset fills the set, which lives for the calls.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), ptr::null_mut());
        // Where it is ignored, the system forgets how children ended.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
    }
}

/// Lets this thread set a terminal's foreground group from the background too,
/// for which it would be stopped by SIGTTOU.
pub fn may_set_foreground() {
    let mut stop = MaybeUninit::uninit();
    // SAFETY: sigemptyset fills the set, which lives for the calls.
    unsafe {
        libc::sigemptyset(stop.as_mut_ptr());
        libc::sigaddset(stop.as_mut_ptr(), libc::SIGTTOU);
        libc::pthread_sigmask(libc::SIG_BLOCK, stop.as_ptr(), ptr::null_mut());
    }
}

/// Whether this process was started to ignore a signal, as nohup(1) does, and
/// shells for what they run in the background.
pub fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: sigaction fills the action unless it fails, and sets none.
    unsafe {
        libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}
