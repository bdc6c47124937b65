//! The cases, for functions that block and for async ones: what differs between the
//! two are the macros `cases`, `answer` and `work`, and the functions of the root.

use std::error::Error;
use std::time::Duration;

use witlock_guest::{HoldError, LockBuilder, LockError, lock, semaphore};

use crate::{open, pause};

pub type Told = Result<(), Box<dyn Error>>;

/// Between two looks at a lease.
pub const PAUSE: Duration = Duration::from_millis(10);

const NAME: &str = "conformance";
const KEY: &str = "key";
const BRIEF: Duration = Duration::from_millis(50);
const LOSES: Duration = Duration::from_millis(100);

/// One millisecond more than fits.
const TOO_LONG: Duration = Duration::from_millis(1 << 32);

cases! {
    fn run(case: &str) {
        match case {
            "hold" => answer!(hold()),
            "wait" => answer!(wait()),
            "try" => answer!(tries()),
            "held-by-caller" => answer!(held_by_caller()),
            "lost" => answer!(lost()),
            "invalid" => answer!(invalid()),
            "spans" => answer!(spans()),
            "drop" => answer!(dropped()),
            "exception" => answer!(exception()),
            "exception-lost" => answer!(exception_lost()),
            "uncaught" => answer!(uncaught()),
            "semaphore" => answer!(of_semaphore()),
            "fence" => answer!(fence()),
            "released" => answer!(released()),
            "cancel" => answer!(crate::cancel()),
            _ => Err(format!("{case:?} is no case").into()),
        }
    }

    fn hold() {
        let lock = open(lock(NAME))?;
        answer!(lock.hold(KEY, work!(|lease| {
            say_fence(lease.fence());
            tell(answer!(lock.try_hold(KEY, work!(|lease| lease.fence()))));
        })))?;
        tell(answer!(lock.try_hold(KEY, work!(|lease| lease.fence()))));
        Ok(())
    }

    fn wait() {
        let patient = open(lock(NAME))?.with_wait(BRIEF);
        tell_held(answer!(patient.hold(KEY, work!(|lease| lease.fence()))));
        let brief = open(lock(NAME).wait(BRIEF))?;
        tell_held(answer!(brief.hold(KEY, work!(|lease| lease.fence()))));
        Ok(())
    }

    fn tries() {
        let lock = open(lock(NAME))?;
        tell(answer!(lock.try_hold(KEY, work!(|lease| lease.fence()))));
        tell(answer!(lock.try_hold("other", work!(|lease| lease.fence()))));
        Ok(())
    }

    fn held_by_caller() {
        let lock = open(lock(NAME).wait(LOSES))?;
        answer!(lock.hold(KEY, work!(|_| {
            tell_held(answer!(lock.hold(KEY, work!(|lease| lease.fence()))));
        })))?;
        Ok(())
    }

    fn lost() {
        let lock = open(lock(NAME).max_hold(LOSES))?;
        tell_held(answer!(lock.hold(KEY, work!(|lease| {
            while lease.ended().is_none() {
                answer!(pause());
            }
            println!("ended {}", lease.ended().map_or_else(String::new, |how| how.to_string()));
            lease.fence()
        }))));
        Ok(())
    }

    fn invalid() {
        let jobs = open(lock(NAME))?;
        tell_opened(lock(""));
        tell_opened(lock("n".repeat(129)));
        tell_held(answer!(jobs.hold("", work!(|lease| lease.fence()))));
        let long = "k".repeat(1025);
        tell(answer!(jobs.try_hold(&long, work!(|lease| lease.fence()))));
        tell_opened(semaphore(NAME, 0));
        tell_opened(semaphore(NAME, 1001));
        tell_opened(lock(NAME).ttl(Duration::from_millis(999)));
        tell_opened(lock(NAME).max_hold(Duration::ZERO));
        tell_opened(lock(NAME).label("l".repeat(129)));
        Ok(())
    }

    fn spans() {
        let patient = open(lock(NAME))?.with_wait(TOO_LONG);
        tell_held(answer!(patient.hold(KEY, work!(|lease| lease.fence()))));
        tell_opened(lock(NAME).ttl(TOO_LONG));
        tell_opened(lock(NAME).max_hold(TOO_LONG));
        Ok(())
    }

    fn dropped() {
        let lock = open(lock(NAME))?;
        let lease = answer!(lock.lease(KEY))?;
        say_fence(lease.fence());
        drop(lease);
        tell(answer!(lock.try_hold(KEY, work!(|lease| lease.fence()))));
        Ok(())
    }

    fn exception() {
        let lock = open(lock(NAME))?;
        let caught = answer!(lock.hold(KEY, work!(|_| Err::<(), _>("boom"))))?;
        println!("{}", caught.expect_err("it fails"));
        tell(answer!(lock.try_hold(KEY, work!(|lease| lease.fence()))));
        Ok(())
    }

    fn exception_lost() {
        let lock = open(lock(NAME).max_hold(LOSES))?;
        let caught = answer!(lock.hold(KEY, work!(|lease| {
            while lease.ended().is_none() {
                answer!(pause());
            }
            Err::<(), _>("boom")
        })));
        match caught {
            Ok(failed) => println!("{}", failed.expect_err("it fails")),
            Err(why) => println!("{}", said(&why)),
        }
        Ok(())
    }

    fn uncaught() {
        let lock = open(lock(NAME))?;
        answer!(lock.hold(KEY, work!(|lease| {
            say_fence(lease.fence());
            panic!("boom");
        })))?;
        Ok(())
    }

    fn of_semaphore() {
        let two = open(semaphore(NAME, 2).wait(LOSES))?;
        answer!(two.hold(KEY, work!(|first| {
            say_fence(first.fence());
            let second = answer!(two.hold(KEY, work!(|second| {
                say_fence(second.fence());
                tell(answer!(two.try_hold(KEY, work!(|third| third.fence()))));
                tell_held(answer!(two.hold(KEY, work!(|third| third.fence()))));
            })));
            second.expect("a second place");
        })))?;
        tell(answer!(two.try_hold(KEY, work!(|lease| lease.fence()))));
        Ok(())
    }

    fn fence() {
        let lock = open(lock(NAME))?;
        tell_held(answer!(lock.hold(KEY, work!(|lease| lease.fence()))));
        Ok(())
    }

    fn released() {
        let lock = open(lock(NAME))?;
        answer!(lock.hold(KEY, work!(|lease| {
            say_fence(lease.fence());
            answer!(lease.release()).expect("it lasted");
            tell(answer!(lock.try_hold(KEY, work!(|lease| lease.fence()))));
        })))?;
        println!("ok");
        Ok(())
    }
}

fn say_fence(fence: u64) {
    println!("fence {fence}");
}

/// What came of a try.
pub fn tell(tried: Result<Option<u64>, HoldError>) {
    match tried {
        Ok(Some(fence)) => say_fence(fence),
        Ok(None) => println!("none"),
        Err(why) => println!("{}", said(&why)),
    }
}

/// What came of a hold.
fn tell_held(held: Result<u64, HoldError>) {
    tell(held.map(Some));
}

/// What came of opening, which fails.
fn tell_opened(lock: LockBuilder) {
    match open(lock) {
        Ok(_) => println!("opened"),
        Err(why) => println!("{}", said(&why.into())),
    }
}

fn said(error: &HoldError) -> String {
    match error {
        HoldError::Lost(how) => format!("lost: {how}"),
        HoldError::Lock(LockError::InUse) => "in-use".into(),
        HoldError::Lock(LockError::HeldByCaller) => "held-by-caller".into(),
        HoldError::Lock(LockError::Invalid(why)) => format!("invalid: {why}"),
        HoldError::Lock(LockError::TooMany(why)) => format!("too-many: {why}"),
        HoldError::Lock(LockError::Closed) => "closed".into(),
        HoldError::Lock(LockError::Unavailable(why)) => format!("unavailable: {why}"),
    }
}
