//! What is left of asks and leases after a cut.

use witlock_session::client::{Ending, Event};
use witlock_session::wire::refused::Why;
use witlock_session::wire::to_client::Body as Told;
use witlock_session::wire::to_store::Body as Said;

use crate::network::Fate;
use crate::world::{MS, S, World};

// LOCK-09, case L4
#[test]
fn a_client_that_gave_its_lease_up_gets_its_key_again() {
    let mut world = World::with(1);
    let ask = world.ask(0, "k");
    world.run(4 * S);
    // Its renewals arrive, and keep the lease for the store.
    world.machines[0].network.to_client = Box::new(|_| Fate::Lost);
    while world.ending(ask).is_none() {
        world.run(100 * MS);
    }
    assert_eq!(world.engine.counts().leases, 1);
    world.machines[0].network.heal();
    let again = world.ask(0, "k");
    world.run(3 * S);
    let asked = world.now - 3 * S;
    let granted = world.granted_at(again).expect("granted");
    assert!(
        granted <= asked + 2 * S + 500 * MS,
        "after the longest pause"
    );
    assert!(world.fence(again) > world.fence(ask));
}

// LOCK-09, case D10
#[test]
fn what_was_given_while_a_waiter_was_cut_off_is_there_when_it_comes_back() {
    let mut world = World::with(2);
    let first = world.ask(0, "k");
    let waiter = world.ask(1, "k");
    world.run(3 * S);
    world.machines[1].network.to_client = Box::new(|_| Fate::Lost);
    world.release(0, first);
    world.machines[1].network.heal();
    world.cut(1);
    world.run(300 * MS);
    assert!(world.granted_at(waiter).is_some());
    assert!(world.ending(waiter).is_none());
    assert_eq!(world.engine.counts().leases, 1);
    world.run(30 * S);
    assert!(world.ending(waiter).is_none(), "it is renewed");
}

// LOCK-09, case E1, case E5, case E11
#[test]
fn a_waiter_that_comes_back_again_and_again_has_one_place() {
    let mut world = World::with(3);
    let first = world.ask(0, "k");
    let waiter = world.ask(1, "k");
    let behind = world.ask(2, "k");
    for _ in 0..5 {
        world.cut(1);
        world.run(2 * S);
        assert_eq!(world.engine.counts().waiters, 2);
    }
    world.release(0, first);
    assert_eq!(world.granted_at(waiter), Some(world.now));
    assert_eq!(world.engine.counts().waiters, 1);
    world.release(1, waiter);
    assert_eq!(
        world.granted_at(behind),
        Some(world.now),
        "one release frees"
    );
    world.release(2, behind);
    world.assert_nothing_left();
}

// LOCK-09, case E2: 5 s without a connection.
#[test]
fn a_waiter_that_does_not_come_back_loses_its_place() {
    let mut world = World::with(2);
    let first = world.ask(0, "k");
    let waiter = world.ask(1, "k");
    world.machines[1].network.refuses = true;
    world.cut(1);
    world.run(4_900 * MS);
    assert_eq!(world.engine.counts().waiters, 1);
    world.run(200 * MS);
    assert_eq!(world.engine.counts().waiters, 0);
    world.machines[1].network.heal();
    world.run(5 * S);
    assert_eq!(world.engine.counts().waiters, 1, "it asks again");
    world.release(0, first);
    world.run(S);
    assert!(world.granted_at(waiter).is_some());
}

// Case E13
#[test]
fn a_wait_that_ran_out_is_told_by_the_store() {
    for delay in [0, 500 * MS, 2 * S] {
        let mut world = World::with(2);
        world.machines[1].network.to_client = Box::new(move |_| Fate::Late(delay));
        world.machines[1].network.to_store = Box::new(move |_| Fate::Late(delay));
        world.ask(0, "k");
        let waiter = world.ask_for(1, "k", 1_000);
        world.run(20 * S);
        assert_eq!(world.refusal(waiter), Some(Why::InUse), "{delay}");
        assert_eq!(world.told(waiter).len(), 1);
    }
}

/// What a client says from now on comes later than all it says at its next
/// connection.
fn hold_back(world: &mut World, who: usize) {
    world.machines[who].network.to_store = Box::new(|message| match message.body {
        Some(Said::Hello(_)) => Fate::Arrives,
        _ => Fate::Late(8 * S),
    });
    world.machines[who].network.hides_ends = true;
}

// LOCK-09, case L5
#[test]
fn an_ask_that_an_older_connection_had_not_read_is_given_to_nobody() {
    let mut world = World::with(1);
    let before = world.ask(0, "warm");
    hold_back(&mut world, 0);
    let ask = world.ask(0, "k");
    world.machines[0].network.to_store = Box::new(|_| Fate::Arrives);
    world.lose_sight(0);
    world.run(S);
    assert!(world.granted_at(ask).is_some());
    world.release(0, ask);
    world.release(0, before);
    assert_eq!(world.ending(ask), Some(Ending::Released));
    // Now the older connection's ask is read.
    world.run(20 * S);
    world.assert_nothing_left();
}

// LOCK-09, case L5: the session left, too, before its first entry was read.
#[test]
fn an_entry_that_is_read_after_its_session_left_opens_nothing() {
    let mut world = World::with(1);
    hold_back(&mut world, 0);
    let ask = world.ask(0, "k");
    world.machines[0].network.to_store = Box::new(|_| Fate::Arrives);
    world.lose_sight(0);
    world.run(S);
    assert!(world.granted_at(ask).is_some());
    world.end_session(0);
    world.run(S);
    world.assert_nothing_left();
    // Now the older connection's entry and ask are read.
    for _ in 0..80 {
        world.run(100 * MS);
        world.assert_nothing_left();
        assert_eq!(world.server.kept().sessions, 0);
    }
    world.run(30 * S);
    assert_eq!(world.engine.counts().sessions, 0);
}

// LOCK-06, case E1: its entry may be read after its holder is gone.
#[test]
fn a_holder_that_leaves_without_a_connection_is_told_of_at_the_next_one() {
    let mut world = World::with(1);
    world.machines[0].network.to_client = Box::new(|message| match message.body {
        Some(Told::Granted(_)) => Fate::Lost,
        _ => Fate::Arrives,
    });
    world.ask(0, "k");
    world.machines[0].network.refuses = true;
    world.cut(0);
    world.end_session(0);
    assert_eq!(world.engine.counts().leases, 1);
    world.machines[0].network.heal();
    world.run(2 * S);
    world.assert_nothing_left();
}

// LOCK-08: half a message of a connection that was given up is not read into the
// next one.
#[test]
fn bytes_of_an_older_connection_are_not_read() {
    let mut world = World::with(1);
    let ask = world.ask(0, "k");
    world.machines[0].network.refuses = true;
    world.cut(0);
    world.machines[0].client.received(world.now, &[0, 0]);
    world.machines[0].network.heal();
    world.run(30 * S);
    assert_eq!(world.ending(ask), None);
    let events = world.machines[0].events.iter();
    let welcomes = events.filter(|(_, it)| matches!(it, Event::Welcome { .. }));
    assert_eq!(welcomes.count(), 2);
}

// LOCK-07, case J8
#[test]
fn how_a_lease_ended_is_told_again_if_it_was_lost_on_its_way() {
    let mut world = World::with(1);
    let ask = world.ask(0, "k");
    world.machines[0].network.to_client = Box::new(|_| Fate::Lost);
    world.break_all();
    assert_eq!(world.ending(ask), None);
    world.machines[0].network.heal();
    world.cut(0);
    world.run(300 * MS);
    assert_eq!(world.ending(ask), Some(Ending::Broken));
}
