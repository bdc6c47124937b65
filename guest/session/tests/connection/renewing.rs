//! Renewals that are not answered, refused, or come too late.

use witlock_session::client::{Ending, Event};
use witlock_session::wire::to_client::Body as Told;
use witlock_session::wire::to_store::Body as Said;

use crate::network::Fate;
use crate::world::{MS, S, World};

/// Loses the first answers to renewals, so many; without a cut, since others
/// arrive.
fn lose_renewed(world: &mut World, who: usize, many: usize) {
    let mut lost = 0;
    world.machines[who].network.to_client = Box::new(move |message| {
        let is_renewed = matches!(message.body, Some(Told::Renewed(_)));
        if is_renewed && lost < many {
            lost += 1;
            return Fate::Lost;
        }
        Fate::Arrives
    });
}

fn retrying(events: &[Event]) -> usize {
    let is = |event: &&Event| matches!(event, Event::Retrying { .. });
    events.iter().filter(is).count()
}

// LOCK-07, case A7
#[test]
fn a_renewal_that_fails_is_told_once_and_the_loss_once() {
    let mut world = World::with(1);
    let ask = world.ask(0, "k");
    let mut renewals = 0;
    // The first renewal gets lost; of the second, only that the lease is gone.
    world.machines[0].network.to_store = Box::new(move |message| {
        let is_renewal = matches!(message.body, Some(Said::Renew(_)));
        renewals += usize::from(is_renewal);
        match is_renewal && renewals == 1 {
            true => Fate::Lost,
            false => Fate::Arrives,
        }
    });
    world.run(4 * S);
    assert_eq!(retrying(&world.told(ask)), 0, "too early");
    world.machines[0].network.to_client = Box::new(|message| match message.body {
        Some(Told::Ended(_)) => Fate::Lost,
        _ => Fate::Arrives,
    });
    world.break_all();
    world.machines[0].network.to_client = Box::new(|_| Fate::Arrives);
    world.run(60 * S);
    let told = world.told(ask);
    assert_eq!(retrying(&told), 1, "{told:?}");
    assert_eq!(world.ending(ask), Some(Ending::Broken), "{told:?}");
    world.assert_nothing_left();
}

// LOCK-05, case C11
#[test]
fn a_lease_outlives_two_renewals_whose_answers_got_lost() {
    let mut world = World::with(2);
    let ask = world.ask(0, "k");
    lose_renewed(&mut world, 0, 2);
    let waiter = world.ask(1, "k");
    world.run(55 * S);
    let told = world.told(ask);
    assert_eq!(world.ending(ask), None, "{told:?}");
    assert_eq!(retrying(&told), 1, "{told:?}");
    assert!(world.deadline(ask) > Some(world.now));
    assert!(world.told(waiter).is_empty());
}

// LOCK-05, case C1, case C2
#[test]
fn nothing_is_left_of_a_lease_that_was_released_while_it_was_renewed() {
    for (renewal, release) in [(0, 700), (700, 0), (300, 300)] {
        let mut world = World::with(1);
        let ask = world.ask(0, "k");
        world.machines[0].network.to_store = Box::new(move |message| match message.body {
            Some(Said::Renew(_)) => Fate::Late(renewal * MS),
            Some(Said::Release(_)) => Fate::Late(release * MS),
            _ => Fate::Arrives,
        });
        // The first renewal is sent at 2/6 of the ttl.
        world.run(3_333 * MS);
        world.run(MS);
        world.release(0, ask);
        world.run(S);
        let told = world.told(ask);
        assert_eq!(world.ending(ask), Some(Ending::Released));
        world.assert_nothing_left();
        let client = &world.machines[0].client;
        assert_eq!(client.deadline(ask), None);
        let ping = client.next_deadline().expect("a ping");
        assert!(ping > world.now + 2 * S, "more than a ping is to be done");
        world.run(60 * S);
        assert_eq!(world.told(ask), told);
    }
}

// LOCK-07: nobody ran to renew it.
#[test]
fn a_client_that_was_not_run_knows_of_the_loss_before_anything_else() {
    let mut world = World::with(2);
    let ask = world.ask(0, "k");
    let before = world.now;
    world.now += 30 * S;
    world.machines[0].client.release(world.now, ask);
    let events = world.machines[0].client.events();
    let how = Ending::Expired;
    assert_eq!(events, [Event::Ended { ask, how }], "since {before}");
}
