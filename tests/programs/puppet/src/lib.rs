//! A guest that does with locks what its host calls it to do, call by call.

mod strings;

use strings::{Opened, Strings};

#[allow(missing_docs)] // documented in the WIT
mod bindings {
    wit_bindgen::generate!({
        path: ["../../../wit/locks-0.2", "wit"],
        world: "witlock:puppet/puppet",
        generate_all,
    });
}

use bindings::exports::witlock::puppet::strings as wit;
use bindings::witlock::locks::locks::{Ending, Lock, LockError, Options, Semaphore};

std::thread_local! {
    static STRINGS: Strings = Strings::default();
}

/// The component.
#[cfg_attr(not(target_family = "wasm"), allow(dead_code))]
struct Puppet;

impl wit::Guest for Puppet {
    fn open_lock(name: String, options: Options) -> Result<u32, LockError> {
        let lock = Lock::open(&name, &options)?;
        Ok(STRINGS.with(|strings| strings.opened.add(Opened::Lock(lock))))
    }

    fn open_semaphore(name: String, limit: u32, options: Options) -> Result<u32, LockError> {
        let semaphore = Semaphore::open(&name, limit, &options)?;
        Ok(STRINGS.with(|strings| strings.opened.add(Opened::Semaphore(semaphore))))
    }

    fn hold(of: u32, key: String, wait: Option<u32>) -> Result<u32, LockError> {
        STRINGS.with(|strings| {
            let lease = strings.opened.with(of, |opened| opened.hold(&key, wait))?;
            Ok(strings.leases.add(lease))
        })
    }

    fn try_hold(of: u32, key: String) -> Result<Option<u32>, LockError> {
        STRINGS.with(|strings| {
            let lease = strings.opened.with(of, |opened| opened.try_hold(&key))?;
            Ok(lease.map(|lease| strings.leases.add(lease)))
        })
    }

    fn hold_often(of: u32, key: String, times: u64) -> Result<(), LockError> {
        STRINGS.with(|strings| {
            strings.opened.with(of, |opened| {
                (0..times).try_for_each(|_| opened.hold(&key, None).map(drop))
            })
        })
    }

    fn drop_opened(which: u32) {
        drop(STRINGS.with(|strings| strings.opened.take(which)));
    }

    fn fence(of: u32) -> u64 {
        STRINGS.with(|strings| strings.leases.with(of, |lease| lease.fence()))
    }

    fn ended(which: u32) -> Option<Ending> {
        STRINGS.with(|strings| strings.leases.with(which, |lease| lease.ended()))
    }

    fn release(which: u32) -> Result<(), Ending> {
        STRINGS.with(|strings| strings.leases.with(which, |lease| lease.release()))
    }

    fn drop_lease(which: u32) {
        drop(STRINGS.with(|strings| strings.leases.take(which)));
    }

    fn leak(which: u32) {
        core::mem::forget(STRINGS.with(|strings| strings.leases.take(which)));
    }

    fn trap() {
        trap()
    }

    fn spin() {
        spin()
    }

    fn sleep(span: u32) {
        std::thread::sleep(std::time::Duration::from_millis(span.into()));
    }

    fn hold_then_trap(of: u32, key: String) -> LockError {
        hold_then(of, &key, || trap())
    }

    fn hold_then_spin(of: u32, key: String) -> LockError {
        hold_then(of, &key, || spin())
    }
}

fn hold_then(of: u32, key: &str, what: impl FnOnce()) -> LockError {
    let held = STRINGS.with(|strings| strings.opened.with(of, |opened| opened.hold(key, None)));
    match held {
        Ok(_lease) => {
            what();
            unreachable!("neither a trap nor a spin returns");
        }
        Err(why) => why,
    }
}

/// A trap as it is, without a panic's message.
fn trap() -> ! {
    #[cfg(target_family = "wasm")]
    core::arch::wasm32::unreachable();
    #[cfg(not(target_family = "wasm"))]
    std::process::abort();
}

fn spin() -> ! {
    loop {
        // A loop that does nothing at all might be taken out.
        core::hint::black_box(());
    }
}

#[cfg(target_family = "wasm")]
bindings::export!(Puppet with_types_in bindings);
