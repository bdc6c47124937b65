//! What every SDK has to do, by cases: `conformance CASE`.

use std::{env, process, thread};

use witlock_guest::Lock;

// What the cases are written in, here for functions that block.
macro_rules! cases {
    ($(fn $name:ident($($argument:ident: $type:ty)?) $body:block)*) => {
        $(pub fn $name($($argument: $type)?) -> Told $body)*
    };
}
macro_rules! answer {
    ($asked:expr) => {
        $asked
    };
}
macro_rules! work {
    (|$lease:pat_param| $body:expr) => {
        |$lease: &witlock_guest::Lease| $body
    };
}

mod cases;

fn open(lock: witlock_guest::LockBuilder) -> Result<Lock, witlock_guest::LockError> {
    lock.open()
}

fn pause() {
    thread::sleep(cases::PAUSE);
}

/// Who would cancel a hold that blocks all of its guest?
fn cancel() -> cases::Told {
    Err("a hold that blocks can't be cancelled".into())
}

fn main() {
    let case = env::args().nth(1).unwrap_or_default();
    if let Err(why) = cases::run(&case) {
        eprintln!("{why}");
        process::exit(1);
    }
}
