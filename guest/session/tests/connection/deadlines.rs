//! The holder's own deadline, beside the store's.

use witlock_session::client::{Ending, Event};
use witlock_session::wire::refused::Why;
use witlock_session::wire::to_client::Body as Told;
use witlock_session::wire::to_store::Body as Said;

use crate::network::Fate;
use crate::world::{MS, S, TTL, World};

const TTL_NS: u64 = TTL as u64 * MS;

/// One holder loses its way to the server; another waits for its key.
fn loss(lose: impl Fn(&mut World)) {
    for phase in [0, 1_700, 3_400, 5_100, 9_000, 20_000] {
        let mut world = World::with(2);
        let ask = world.ask(0, "k");
        let waiter = world.ask(1, "k");
        world.run(phase * MS);
        lose(&mut world);
        let lost_since = world.now;
        world.run(2 * TTL_NS);
        assert_eq!(world.ending(ask), Some(Ending::Unreachable));
        let (lost, _) = *world.times(ask).last().expect("told");
        let granted = world.granted_at(waiter).expect("granted");
        assert!(lost <= granted, "known at {lost}, given on at {granted}");
        assert!(lost <= lost_since + TTL_NS);
        assert!(world.fence(waiter) > world.fence(ask));
    }
}

// LOCK-02, LOCK-08, case A4, case A9
#[test]
fn a_holder_that_is_cut_off_knows_of_its_loss_before_the_key_is_given_on() {
    loss(|world| {
        world.machines[0].network.refuses = true;
        world.cut(0);
    });
}

// LOCK-02, LOCK-08, case A5
#[test]
fn so_does_one_of_which_everything_gets_lost_without_a_word() {
    loss(|world| world.machines[0].network.black_hole());
}

// LOCK-08, case A4: renewals get through, their answers don't.
#[test]
fn a_holder_that_hears_nothing_knows_of_its_loss_as_well() {
    loss(|world| {
        world.machines[0].network.refuses = true;
        world.machines[0].network.to_client = Box::new(|_| Fate::Lost);
    });
}

// LOCK-08, case L1
#[test]
fn the_deadline_of_a_lease_that_was_waited_for_counts_from_shortly_before_its_grant() {
    let mut world = World::with(2);
    let first = world.ask(0, "k");
    let waiter = world.ask(1, "k");
    world.run(40 * S - world.now);
    assert_eq!(world.granted_at(waiter), None);
    world.release(0, first);
    assert_eq!(world.granted_at(waiter), Some(40 * S));
    let deadline = world.deadline(waiter).expect("held");
    let of_store = world.store_deadline();
    assert!((40 * S..=of_store).contains(&deadline), "{deadline}");
    // Its pings, each third of the ttl, kept the echo young.
    assert!(deadline > 40 * S + TTL_NS / 2, "{deadline}");
}

/// A grant arrives 12 s late; what was known of it then, and what at the end.
fn late_grant(store_is_reachable: bool) -> (World, u64) {
    let mut world = World::with(2);
    world.machines[0].network.to_client = Box::new(|message| match message.body {
        Some(Told::Granted(_)) => Fate::Late(12 * S),
        _ => Fate::Arrives,
    });
    let ask = world.ask(0, "k");
    world.run(12 * S - MS);
    assert!(world.told(ask).is_empty());
    if !store_is_reachable {
        world.machines[0].network.to_store = Box::new(|_| Fate::Lost);
        world.machines[0].network.refuses = true;
    }
    (world, ask)
}

// LOCK-08, case L1: the store gave the key on meanwhile.
#[test]
fn a_grant_that_comes_after_its_ttl_is_told_to_nobody() {
    let (mut world, ask) = late_grant(true);
    let other = world.ask(1, "k");
    world.run(S);
    assert_eq!(world.granted_at(ask), None);
    assert_eq!(world.refusal(ask), Some(Why::Unavailable));
    assert!(world.granted_at(other).is_some());
}

// Case E13, case L1: no answer tells whether the lease lasts.
#[test]
fn a_late_grant_that_cannot_be_renewed_ends_with_the_wait() {
    let (mut world, ask) = late_grant(false);
    world.run(66 * S - world.now);
    assert_eq!(world.granted_at(ask), None);
    assert_eq!(world.refusal(ask), Some(Why::Unavailable));
}

// LOCK-08, case L1: what its session says takes half a ttl to arrive.
#[test]
fn a_grant_whose_echo_is_old_is_renewed_before_it_is_told() {
    let mut world = World::with(2);
    let first = world.ask(0, "k");
    let waiter = world.ask(1, "k");
    world.machines[1].network.to_store = Box::new(|message| match message.body {
        Some(Said::Ping(_)) => Fate::Late(4_900 * MS),
        _ => Fate::Arrives,
    });
    world.run(30 * S);
    world.release(0, first);
    let told = world.told(waiter);
    assert!(matches!(told[..], [Event::Granted { .. }]), "{told:?}");
    let deadline = world.deadline(waiter).expect("held");
    assert!(deadline > world.now + TTL_NS / 10 * 9, "{deadline}");
    assert!(deadline <= world.store_deadline());
}

// LOCK-08, LOCK-09, case L2
#[test]
fn asking_again_renews_the_lease_that_it_finds() {
    let mut world = World::with(2);
    world.machines[0].network.to_client = Box::new(|message| match message.body {
        Some(Told::Granted(_)) => Fate::Lost,
        _ => Fate::Arrives,
    });
    let ask = world.ask(0, "k");
    world.run(TTL_NS / 10 * 8);
    assert_eq!(world.granted_at(ask), None);
    world.machines[0].network.heal();
    world.cut(0);
    world.run(200 * MS);
    let granted = world.granted_at(ask).expect("granted");
    assert!(granted < TTL_NS);
    let deadline = world.deadline(ask).expect("held");
    assert!(deadline > granted + TTL_NS / 2, "the lease was not renewed");
    assert!(deadline <= world.store_deadline());
    let other = world.ask(1, "k");
    world.run(30 * S);
    assert_eq!(world.ending(ask), None);
    assert_eq!(world.granted_at(other), None);
}

// LOCK-03, LOCK-08, case L1: the max-hold is shorter than a third of the ttl, at which
// a session that waits says so.
#[test]
fn a_max_hold_counts_from_the_grant_however_old_its_echo() {
    let mut world = World::with(2);
    let first = world.ask(0, "k");
    let waiter = world.ask_with(1, "k", 60_000, Some(2_000));
    world.run(3 * S);
    world.release(0, first);
    let granted = world.granted_at(waiter).expect("granted");
    let deadline = world.deadline(waiter).expect("held");
    assert!(deadline > granted + 1_900 * MS, "{deadline}");
    assert!(deadline <= world.store_deadline());
    world.run(2 * S);
    assert_eq!(world.ending(waiter), Some(Ending::Revoked));
}
