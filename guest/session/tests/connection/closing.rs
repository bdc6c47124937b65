//! The store closes, and the server stops.

use witlock_engine::Command;
use witlock_session::client::{Ending, Event};
use witlock_session::wire::refused::Why;

use crate::world::{MS, S, TTL, World};

fn close(world: &mut World) {
    world.server.close();
    world.step(vec![Command::Close]);
    world.settle();
}

// LOCK-06, LOCK-07
#[test]
fn closing_is_told_and_keys_are_let_go_as_their_holders_confirm() {
    let mut world = World::with(2);
    let held = world.ask(0, "k");
    let waiter = world.ask(1, "k");
    world.run(2 * S);
    close(&mut world);
    assert_eq!(world.ending(held), Some(Ending::Closed));
    assert_eq!(world.refusal(waiter), Some(Why::Closed));
    let counts = world.engine.counts();
    assert_eq!((counts.leases, counts.waiters), (1, 0));
    world.release(0, held);
    world.assert_nothing_left();
    let late = world.ask(1, "k");
    assert_eq!(world.refusal(late), Some(Why::Closed));
    assert_eq!(world.ending(held), Some(Ending::Closed), "told once");
}

// LOCK-06: or at its ttl.
#[test]
fn a_key_whose_holder_does_not_confirm_is_let_go_at_its_ttl() {
    let mut world = World::with(1);
    let held = world.ask(0, "k");
    close(&mut world);
    world.run(u64::from(TTL) * MS - MS);
    assert_eq!(world.engine.counts().leases, 1);
    world.run(MS);
    assert_eq!(world.engine.counts().leases, 0);
    assert_eq!(world.ending(held), Some(Ending::Closed), "told once");
    world.release(0, held);
    world.assert_nothing_left();
}

// LOCK-06: a cut between the closing and its confirmation confirms nothing.
#[test]
fn a_holder_that_comes_back_after_the_closing_still_is_to_confirm_it() {
    let mut world = World::with(1);
    let held = world.ask(0, "k");
    close(&mut world);
    world.cut(0);
    world.run(S);
    assert_eq!(world.engine.counts().leases, 1);
    world.release(0, held);
    world.assert_nothing_left();
    assert_eq!(world.ending(held), Some(Ending::Closed), "told once");
}

// LOCK-06, LOCK-07: it was away as the store closed, or was never there.
#[test]
fn who_comes_after_the_closing_is_told_of_it() {
    let mut world = World::with(1);
    let held = world.ask(0, "k");
    world.machines[0].network.refuses = true;
    world.cut(0);
    close(&mut world);
    assert_eq!(world.ending(held), None);
    world.machines[0].network.heal();
    let new = world.add_client(crate::world::TOKEN, witlock_session::server::Trust::Nobody);
    let ask = world.ask(new, "other");
    world.run(2 * S);
    assert_eq!(world.ending(held), Some(Ending::Closed));
    assert_eq!(world.refusal(ask), Some(Why::Closed));
}

// LOCK-08, case L3, case I7
#[test]
fn clients_of_a_server_that_stops_come_back_and_lose_nothing() {
    let mut world = World::with(3);
    let held = [world.ask(0, "a"), world.ask(1, "b")];
    let waiter = world.ask(2, "a");
    world.run(4 * S);
    let fences = held.map(|ask| world.fence(ask));
    world.server.stop();
    world.settle();
    let stopped = world.now;
    world.run(S);
    for machine in &world.machines {
        let back =
            |(at, event): &&(u64, Event)| matches!(event, Event::Welcome { .. }) && *at >= stopped;
        assert_eq!(machine.events.iter().filter(back).count(), 1);
    }
    world.run(20 * S);
    for (ask, fence) in held.into_iter().zip(fences) {
        assert_eq!((world.ending(ask), world.fence(ask)), (None, fence));
    }
    world.release(0, held[0]);
    assert_eq!(world.granted_at(waiter), Some(world.now));
}

#[test]
fn a_server_that_stops_says_so() {
    let mut world = World::with(0);
    let id = world.guest(1);
    world.server.stop();
    world.settle();
    let (why, _) = world.goodbye(id);
    assert_eq!(why, witlock_session::wire::goodbye::Reason::Stopping);
}
