//! Asks that are cancelled, and sessions that leave, as they are answered.

use witlock_session::wire::refused::Why;
use witlock_session::wire::to_client::Body as Told;
use witlock_session::wire::to_store::Body as Said;
use witlock_session::wire::{Cancel, Hold, Leave, Left, Release};

use crate::network::Fate;
use crate::raw::{frame, hold};
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

// LOCK-06
#[test]
fn an_ask_of_a_session_that_left_is_refused_at_once() {
    for is_connected in [true, false] {
        let mut world = World::with(1);
        world.ask(0, "k");
        if !is_connected {
            world.machines[0].network.refuses = true;
            world.cut(0);
        }
        // Its end is not confirmed yet.
        world.machines[0].network.to_store = Box::new(|_| Fate::Late(S));
        world.end_session(0);
        let late = world.ask(0, "k");
        assert_eq!(world.refusal(late), Some(Why::Closed));
    }
}

// LOCK-13: nobody is left to be told that the lease ended, and nothing is kept of that.
#[test]
fn a_session_that_releases_and_leaves_at_once_leaves_nothing() {
    let mut world = World::with(0);
    let holder = world.guest(1);
    let lease = world.hold(holder, 1, "k");
    let lease = Some(lease);
    let release = frame(1, Said::Release(Release { lease }));
    let leave = frame(1, Said::Leave(Leave {}));
    world.send(holder, &[release, leave].concat());
    assert_eq!(world.heard(holder), [Told::Left(Left {})]);
    world.assert_nothing_left();
}

// LOCK-12: nothing is kept of an ask that was refused, and the ask whose number it had
// waits on as before.
#[test]
fn an_ask_goes_on_that_was_asked_again_for_another_key() {
    let mut world = World::with(1);
    world.ask(0, "k");
    let waiter = world.guest(1);
    let waits = |key| Hold {
        wait: Some(60_000),
        ..hold(1, key)
    };
    let first = frame(1, Said::Hold(waits("k")));
    let others = ["a", "b"].map(|key| frame(1, Said::Hold(waits(key))));
    world.send(waiter, &first);
    world.send(waiter, &others.concat());
    let refusals = [(1, Why::Invalid); 2];
    assert_eq!(whys(world.heard(waiter)), refusals);
    world.say(waiter, 1, Said::Cancel(Cancel { ask: 1 }));
    assert_eq!(whys(world.heard(waiter)), [(1, Why::Cancelled)]);
    assert_eq!(world.engine.counts().waiters, 0);
}

fn whys(heard: Vec<Told>) -> Vec<(u64, Why)> {
    let why = |told| match told {
        Told::Refused(refused) => (refused.ask, refused.why()),
        other => panic!("{other:?}"),
    };
    heard.into_iter().map(why).collect()
}
