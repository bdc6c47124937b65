//! A server that starts again, and does not know what the one before gave.

use witlock_engine::{Command, Engine, Seed};
use witlock_session::client::Ending;
use witlock_session::server::Event;
use witlock_session::wire::refused::Why;

use crate::world::{MS, S, TTL, World};

/// The same in nanoseconds.
const TTL_NS: u64 = TTL as u64 * MS;

impl World {
    /// The server stops and another starts, which waits out the longest ttl.
    fn restart(&mut self) {
        self.server.stop();
        self.settle();
        let grace = self.now + TTL_NS;
        self.engine = Engine::new(Seed::default());
        self.begin_anew();
        self.server.unknown_until(grace);
        let fences = (1 << 20)..(1 << 21);
        self.step(vec![Command::AddFences(fences), Command::Grace(grace)]);
    }
}

// LOCK-08, case L3
#[test]
fn a_holder_counts_on_its_lease_until_its_own_deadline() {
    let mut world = World::with(2);
    let ask = world.ask(0, "k");
    world.run(3 * S);
    world.restart();
    let other = world.ask(1, "k");
    let deadline = world.deadline(ask).expect("held");
    world.run(deadline - world.now - MS);
    assert_eq!(world.ending(ask), None);
    assert_eq!(world.granted_at(other), None);
    world.run(MS);
    assert_eq!(world.ending(ask), Some(Ending::Unreachable));
    world.run(u64::from(TTL) * MS);
    assert!(world.granted_at(other).expect("the grace is over") > deadline);
    assert!(world.fence(other) > world.fence(ask));
}

// LOCK-07, LOCK-08, case L3
#[test]
fn what_an_earlier_server_gave_is_released_in_time() {
    let mut world = World::with(1);
    let ask = world.ask(0, "k");
    world.run(3 * S);
    world.restart();
    world.run(2 * S);
    world.release(0, ask);
    assert_eq!(world.ending(ask), Some(Ending::Released));
}

// LOCK-05, case L3
#[test]
fn after_the_grace_an_unknown_lease_is_over() {
    let mut world = World::with(1);
    let ask = world.ask(0, "k");
    world.machines[0].network.refuses = true;
    world.cut(0);
    world.restart();
    world.run(TTL_NS);
    world.machines[0].network.heal();
    assert_eq!(world.ending(ask), Some(Ending::Unreachable));
    let again = world.ask(0, "k");
    world.run(3 * S);
    assert!(world.granted_at(again).is_some());
}

// LOCK-07: of an engine that trapped, events may be under way still.
#[test]
fn what_an_engine_that_is_gone_says_is_about_no_ask_of_the_next() {
    let mut world = World::with(1);
    world.ask(0, "k");
    world.server.forget_all();
    world.engine = Engine::new(Seed::default());
    world.step(vec![Command::AddFences((1 << 20)..(1 << 21))]);
    world.run(2 * S);
    let waiting = [world.ask(0, "other"), world.ask(0, "other")];
    world.server.told(
        world.now,
        Event::Refused {
            ticket: 1 << 63,
            why: Why::InUse,
            text: String::new(),
        },
    );
    world.settle();
    assert!(world.granted_at(waiting[0]).is_some());
    assert_eq!(world.refusal(waiting[0]), None);
    assert_eq!(world.server.kept().asks, 2);
}
