//! Asks that are cancelled, and sessions that leave, as they are answered.

use witlock_session::wire::to_client::Body as Told;
use witlock_session::wire::to_store::Body as Said;

use crate::network::Fate;
use crate::world::{MS, S, World};

/// What the wire does to a grant and to what gives it up.
fn delays() -> impl Iterator<Item = (u64, u64)> {
    let spans = [0, 1, 7, 50, 400];
    spans
        .into_iter()
        .flat_map(move |grant| spans.into_iter().map(move |cancel| (grant, cancel)))
}

/// The key is given to a second client that gives up so much later; then nobody
/// holds it, and its connection is as before.
fn race(give_up: impl Fn(&mut World, u64)) {
    for (grant, cancel) in delays() {
        for after in [0, 1, 3, 30, 60, 410] {
            let mut world = World::with(2);
            let first = world.ask(0, "k");
            let waiter = world.ask(1, "k");
            world.run(S);
            let network = &mut world.machines[1].network;
            network.to_client = Box::new(move |message| match message.body {
                Some(Told::Granted(_)) => Fate::Late(grant * MS),
                _ => Fate::Arrives,
            });
            network.to_store = Box::new(move |message| match message.body {
                Some(Said::Cancel(_) | Said::Leave(_)) => Fate::Late(cancel * MS),
                _ => Fate::Arrives,
            });
            world.release(0, first);
            world.run(after * MS);
            let was_granted = world.granted_at(waiter).is_some();
            give_up(&mut world, waiter);
            world.run(2 * S);
            assert_eq!(world.granted_at(waiter).is_some(), was_granted);
            let events = world.machines[1].events.iter();
            let welcomes = events.filter(|(_, it)| is_welcome(it)).count();
            assert_eq!(welcomes, 1, "its connection was cut");
            world.assert_nothing_left();
        }
    }
}

fn is_welcome(event: &witlock_session::client::Event) -> bool {
    matches!(event, witlock_session::client::Event::Welcome { .. })
}

// LOCK-06, case B7, case E8
#[test]
fn a_cancel_that_meets_the_grant_leaves_nothing_held() {
    race(|world, ask| {
        // One that was granted is released instead.
        match world.deadline(ask) {
            Some(_) => world.release(1, ask),
            None => world.cancel(1, ask),
        }
    });
}

// LOCK-06, case E8
#[test]
fn a_session_that_leaves_as_it_is_granted_leaves_nothing_held() {
    race(|world, _| world.end_session(1));
}

// LOCK-06: its renewal had been about to be sent.
#[test]
fn a_session_that_leaves_as_it_renews_cuts_nobody_off() {
    let mut world = World::with(1);
    world.ask(0, "k");
    world.now += 5 * S;
    let (now, machine) = (world.now, &mut world.machines[0]);
    // A renewal is due, and an answer is read before the client is called for it.
    let mut bytes = Vec::new();
    let pong = witlock_session::wire::ToClient {
        body: Some(Told::Pong(witlock_session::wire::Pong {})),
        ..Default::default()
    };
    witlock_session::wire::put(&pong, &mut bytes);
    machine.client.received(now, &bytes);
    machine.client.end_session(now, machine.session);
    world.run(S);
    let welcomes = world.machines[0].events.iter();
    assert_eq!(welcomes.filter(|(_, it)| is_welcome(it)).count(), 1);
    world.assert_nothing_left();
}
