//! Servers that are broken on purpose are found out.

use std::time::{Duration, Instant};

use witlock_tests::watchdog_besides;

use crate::breach::What;
use crate::checker::Checker;
use crate::driver::Driver;
use crate::run::{Run, Settings};
use crate::{alone, settings};

/// Far more than it takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// Between looks at what was recorded.
const LOOKS: Duration = Duration::from_secs(1);

/// Goes on until both were seen.
#[track_caller]
fn is_found_out(settings: Settings, by: [What; 2]) {
    let _alone = alone();
    watchdog_besides(PATIENCE);
    let mut driver = Driver::new(Run::new(settings));
    let until = Instant::now() + PATIENCE;
    let mut left = by.to_vec();
    // Whoever lives on in the end is killed with the run.
    while !left.is_empty() {
        assert!(Instant::now() < until, "{left:?} was not seen");
        driver.go_on(LOOKS);

        driver.run().resource.look(|history| {
            // A pause that goes on was not noted yet; whom it stopped says nothing.
            let mut checker = Checker::new(history, &driver.run().faults);
            let breaches = checker.check().breaches();
            left.retain(|what| !breaches.iter().any(|breach| breach.what == *what));
        });
    }
    println!("found out after {:?}", PATIENCE - (until - Instant::now()));
}

// LOCK-05: a server whose clock runs at double rate gives a key on at half the ttl.
#[test]
fn a_server_that_gives_keys_on_at_half_the_ttl_is_found_out() {
    let settings = Settings {
        // It would be over early as well, and that is seen at once.
        holders: "unbounded",
        ..settings("hasty")
    };
    is_found_out(settings, [What::Overlap, What::GivenEarly]);
}

// LOCK-08, case G7: a server that forgets its leases as it starts.
#[test]
fn a_server_that_forgets_leases_at_a_restart_is_found_out() {
    let settings = Settings {
        holders: "lasting",
        restarts: 5,
        ..settings("forgetful")
    };
    is_found_out(settings, [What::Overlap, What::GivenEarly]);
}
