//! Timers of `wasi:clocks`.
//!
//! A future that wit-bindgen makes of an import belongs to the call that polls
//! it, and dropping it unfinished cancels the import then and there, and waits
//! for that: within a turn of this component's, while other calls may enter. So
//! timers are handles of the component model's here, and none is ever cancelled.
//! The call that keeps the time starts them. Answered, it stays behind, for
//! nobody to see, until its timers have run out, and tells the keeper of then.
//! Only a call that is cancelled cannot stay; the next keeper takes its timers.
//!
//! (That works with a clock of the runtime's. As a call of *another component's*
//! clock returns to one that is gone, wasmtime 48 traps.)

#![allow(unsafe_code)] // the canonical ABI

use std::cell::RefCell;

use witlock_engine::Nanoseconds;

use crate::asks::CallNumber;
use crate::waiting;

/// A millisecond.
const MILLISECOND: Nanoseconds = 1_000_000;

std::thread_local! {
    /// Those that have not run out yet.
    static TIMERS: RefCell<Vec<Timer>> = const { RefCell::new(Vec::new()) };
}

struct Timer {
    handle: u32,
    due: Nanoseconds,
    /// The call that it belongs to.
    call: Option<CallNumber>,
}

/// How long a timer runs that shall run out by `left` from now: a power of two
/// of milliseconds, so that at most one of each length runs at a time. What is
/// left then takes another, shorter one.
fn span(left: Nanoseconds) -> Nanoseconds {
    match left / MILLISECOND {
        0 => MILLISECOND,
        milliseconds => MILLISECOND << milliseconds.ilog2(),
    }
}

/// Whether a timer runs out in time for what is due at `deadline`: at most a
/// millisecond late.
pub(crate) fn is_covered(now: Nanoseconds, deadline: Nanoseconds) -> bool {
    let in_time = deadline.max(now.saturating_add(MILLISECOND));
    TIMERS.with_borrow(|timers| timers.iter().any(|timer| timer.due <= in_time))
}

/// Starts a timer towards `deadline`. False if it ran out at once.
pub(crate) fn start(now: Nanoseconds, deadline: Nanoseconds) -> bool {
    let span = span(deadline.saturating_sub(now));
    let Some(handle) = abi::wait_for(span) else {
        return false;
    };
    let timer = Timer {
        handle,
        due: now.saturating_add(span),
        call: None,
    };
    TIMERS.with_borrow_mut(|timers| timers.push(timer));
    true
}

/// Joins the timers that no call has to the one that is polled.
pub(crate) fn join(call: CallNumber) {
    TIMERS.with_borrow_mut(|timers| {
        for timer in timers.iter_mut().filter(|timer| timer.call.is_none()) {
            abi::join(timer.handle);
            timer.call = Some(call);
        }
    });
}

/// Takes its timers from a call that is dropped.
pub(crate) fn leave(call: CallNumber) {
    TIMERS.with_borrow_mut(|timers| {
        for timer in timers.iter_mut().filter(|timer| timer.call == Some(call)) {
            abi::leave(timer.handle);
            timer.call = None;
        }
    });
}

/// A timer that was joined has news, which part it from its call: it ran out,
/// or only began to run.
#[cfg_attr(not(target_family = "wasm"), allow(dead_code))]
fn news(handle: u32, is_over: bool) {
    TIMERS.with_borrow_mut(|timers| {
        if is_over {
            timers.retain(|timer| timer.handle != handle);
        } else if let Some(timer) = timers.iter_mut().find(|one| one.handle == handle) {
            timer.call = None;
        }
    });
    if is_over {
        abi::drop(handle);
    }
    waiting::wake_keeper();
}

/// What the canonical ABI has for this, and the interface by which wit-bindgen's
/// executor lets others join what they wait for to the call that it polls
/// (documented in its `rt/async_support/cabi.rs`).
#[cfg(target_family = "wasm")]
mod abi {
    use std::ffi::c_void;

    use super::{Nanoseconds, news};

    /// The state of a call that has returned.
    const RETURNED: u32 = 2;

    #[link(wasm_import_module = "wasi:clocks/monotonic-clock@0.3.0")]
    unsafe extern "C" {
        #[link_name = "[async-lower]wait-for"]
        fn call_wait_for(span: u64) -> u32;
    }

    #[link(wasm_import_module = "$root")]
    unsafe extern "C" {
        #[link_name = "[subtask-drop]"]
        fn subtask_drop(handle: u32);
    }

    unsafe extern "C" {
        fn wasip3_task_set(task: *mut Task) -> *mut Task;
    }

    /// The call that is polled: the first version of `wasip3_task`, with which
    /// every later one begins.
    #[repr(C)]
    struct Task {
        version: u32,
        this: *mut c_void,
        register: unsafe extern "C" fn(
            *mut c_void,
            u32,
            unsafe extern "C" fn(*mut c_void, u32),
            *mut c_void,
        ) -> *mut c_void,
        unregister: unsafe extern "C" fn(*mut c_void, u32) -> *mut c_void,
    }

    /// Calls the import. None if it returned at once.
    pub fn wait_for(span: Nanoseconds) -> Option<u32> {
        // SAFETY: this is the import's type when lowered: one number, and no
        // memory for parameters or results that would have to outlast the call.
        let packed = unsafe { call_wait_for(span) };
        // The state of the call, and above it a handle unless it has returned.
        (packed & 0xf != RETURNED).then_some(packed >> 4)
    }

    pub fn drop(handle: u32) {
        // SAFETY: called once for each handle, of a call that has returned.
        unsafe { subtask_drop(handle) }
    }

    pub fn join(handle: u32) {
        with_task(|task| {
            // SAFETY: a task's functions are called with its own pointer. What
            // is registered is no pointer: `called` reads the handle from it.
            unsafe { (task.register)(task.this, handle, called, handle as usize as *mut c_void) };
        });
    }

    pub fn leave(handle: u32) {
        with_task(|task| {
            // SAFETY: as above.
            unsafe { (task.unregister)(task.this, handle) };
        });
    }

    unsafe extern "C" fn called(handle: *mut c_void, state: u32) {
        news(handle as usize as u32, state == RETURNED);
    }

    /// The call that is polled, or whose future is dropped.
    fn with_task(act: impl FnOnce(&Task)) {
        // SAFETY: the executor sets a task that lives while it polls or drops
        // a future, which is when this is called; it is put back as it was.
        unsafe {
            let task = wasip3_task_set(std::ptr::null_mut());
            assert!(!task.is_null() && (*task).version >= 1, "no executor");
            act(&*task);
            wasip3_task_set(task);
        }
    }
}

/// Natively there is nothing to call: the component is only compiled so.
#[cfg(not(target_family = "wasm"))]
mod abi {
    use super::Nanoseconds;

    pub fn wait_for(_: Nanoseconds) -> Option<u32> {
        unreachable!("this is not wasm")
    }

    pub fn drop(_: u32) {}

    pub fn join(_: u32) {}

    pub fn leave(_: u32) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    // LOCK-11
    #[test]
    fn a_timer_never_runs_past_its_deadline_by_more_than_a_millisecond() {
        for left in [
            0,
            1,
            MILLISECOND - 1,
            MILLISECOND,
            3 * MILLISECOND,
            u64::MAX,
        ] {
            let span = span(left);
            assert!(span <= left.max(MILLISECOND));
            assert!(span >= left / 2 || left == u64::MAX);
        }
    }
}
