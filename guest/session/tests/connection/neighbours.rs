//! Clients beside whoever does wrong.

use witlock_session::client::Event;

use crate::world::{S, World};

/// A world in which somebody holds a key and somebody waits for it.
pub struct Neighbours {
    pub world: World,
    held: u64,
    waiter: u64,
}

impl Neighbours {
    pub fn new() -> Self {
        let mut world = World::with(2);
        let held = world.ask(0, "theirs");
        let waiter = world.ask(1, "theirs");
        Neighbours {
            world,
            held,
            waiter,
        }
    }

    /// They noticed nothing, and go on.
    pub fn assert_unharmed(mut self) {
        let world = &mut self.world;
        world.run(15 * S);
        assert_eq!(world.ending(self.held), None);
        for who in [0, 1] {
            let events = world.machines[who].events.iter();
            let welcomes = events.filter(|(_, it)| is_welcome(it));
            assert_eq!(welcomes.count(), 1, "its connection was cut");
        }
        world.release(0, self.held);
        assert_eq!(world.granted_at(self.waiter), Some(world.now));
        assert!(world.fence(self.waiter) > world.fence(self.held));
    }
}

fn is_welcome(event: &Event) -> bool {
    matches!(event, Event::Welcome { .. })
}
