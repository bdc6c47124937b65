//! A server that starts again, and goes on with the leases of which a journal tells.

use witlock_engine::{Command, Engine, Seed};
use witlock_session::client::{Ending, Event};
use witlock_session::journal::Body;
use witlock_session::wire::ended::How;
use witlock_session::wire::refused::Why;
use witlock_session::wire::to_client::Body as Told;
use witlock_session::wire::to_store::Body as Said;
use witlock_session::wire::{Ended, Enter, Lease, Release, Renew};

use crate::network::Fate;
use crate::raw::hello;
use crate::world::{MS, S, TOKEN, TTL, World};
use witlock_session::server::{ConnectionId, Trust};

/// The ttl in nanoseconds.
const TTL_NS: u64 = TTL as u64 * MS;

impl World {
    /// The server is killed and another starts, which knows what the journal tells.
    fn restart_knowing(&mut self) {
        self.begin_anew();
        for who in 0..self.machines.len() {
            if self.machines[who].connection.take().is_some() {
                self.machines[who].client.cut(self.now, "cut");
            }
        }
        self.strangers.clear();
        self.go_on();
    }

    /// A new engine, and the leases.
    fn go_on(&mut self) {
        self.engine = Engine::new(Seed {
            low: self.now,
            high: 7,
        });
        self.journal.start(self.now);
        self.server.restore(self.now, self.journal.leases());
        let first = (self.now / S + 2) << 20;
        self.step(vec![Command::AddFences(first..first + (1 << 20))]);
        self.settle();
    }

    /// A stranger that is back after a restart, and the lease of the key `k` that it has
    /// from before and names.
    fn back_with_a_lease(&mut self) -> (ConnectionId, Lease) {
        let before = self.guest(1);
        let lease = self.hold(before, 1, "k");
        self.restart_knowing();
        let holder = self.stranger(Trust::Nobody);
        self.say(holder, 0, Said::Hello(hello(TOKEN)));
        let enter = Enter {
            leases: vec![lease],
            entry: 2,
            ..crate::raw::enter(1)
        };
        self.say(holder, 1, Said::Enter(enter));
        self.heard(holder);
        (holder, lease)
    }

    /// A client cannot reach the server, nor be reached by it.
    fn lose(&mut self, who: usize) {
        self.machines[who].network.refuses = true;
        self.cut(who);
    }
}

// LOCK-01, LOCK-08, LOCK-09, case G7, case L3
#[test]
fn the_next_server_goes_on_with_every_lease() {
    let mut world = World::with(3);
    let held = world.ask(0, "k");
    let waiter = world.ask(1, "k");
    world.run(4 * S);
    world.restart_knowing();
    let free = world.ask(2, "free");
    world.run(2 * S);
    assert!(
        world.granted_at(free).is_some(),
        "a free key is given at once"
    );
    world.run(3 * TTL_NS);
    assert_eq!(world.ending(held), None);
    assert_eq!(world.granted_at(waiter), None);
    world.release(0, held);
    assert_eq!(world.ending(held), Some(Ending::Released));
    assert!(world.fence(waiter) > world.fence(free));
    world.release(1, waiter);
    world.release(2, free);
    world.assert_nothing_left();
    assert!(world.journal.is_empty());
}

// LOCK-05, LOCK-06, case E7
#[test]
fn a_holder_that_does_not_come_back_has_its_key_for_a_ttl_from_the_start() {
    let mut world = World::with(2);
    world.ask(0, "k");
    world.run(4 * S);
    world.lose(0);
    let started = world.now;
    world.restart_knowing();
    let next = world.ask(1, "k");
    world.run(TTL_NS - MS);
    assert_eq!(world.granted_at(next), None);
    world.run(MS);
    assert_eq!(world.granted_at(next), Some(started + TTL_NS));
}

// LOCK-05, case E12
#[test]
fn restarts_add_one_ttl_at_most_to_a_dead_holders_lease() {
    let mut world = World::with(2);
    world.ask(0, "k");
    world.run(4 * S);
    world.lose(0);
    let first = world.now;
    let next = world.ask(1, "k");
    for _ in 0..10 {
        world.restart_knowing();
        world.run(TTL_NS / 2);
    }
    assert_eq!(world.granted_at(next), Some(first + TTL_NS));
}

// LOCK-05, LOCK-08, case E12: who renews in between loses nothing.
#[test]
fn a_lease_that_is_renewed_between_restarts_lasts() {
    let mut world = World::with(2);
    let held = world.ask(0, "k");
    let next = world.ask_for(1, "k", 600_000);
    for _ in 0..20 {
        world.restart_knowing();
        world.run(TTL_NS * 2 / 5);
        assert_eq!(world.ending(held), None);
    }
    world.lose(0);
    let started = world.now;
    world.restart_knowing();
    world.run(2 * TTL_NS);
    let granted = world.granted_at(next).expect("the holder is gone");
    assert_eq!(granted, started + TTL_NS);
    assert_eq!(world.ending(held), Some(Ending::Unreachable));
}

// LOCK-03
#[test]
fn a_restart_begins_no_max_hold_anew() {
    let mut world = World::with(2);
    let held = world.ask_with(0, "k", 0, Some(15_000));
    let next = world.ask(1, "k");
    let granted = world.granted_at(held).expect("free");
    for _ in 0..3 {
        world.run(4 * S);
        world.restart_knowing();
    }
    world.run(TTL_NS);
    assert_eq!(world.ending(held), Some(Ending::Revoked));
    assert_eq!(world.granted_at(next), Some(granted + 15 * S));
}

// LOCK-09, case D10: the grant was on its way as the server was killed.
#[test]
fn a_lease_of_which_its_holder_was_not_told_is_told_by_the_next_server() {
    let mut world = World::with(2);
    let before = world.ask(0, "k");
    let next = world.ask(1, "k");
    world.machines[1].network.to_client = Box::new(|_| Fate::Lost);
    world.release(0, before);
    assert_eq!(world.granted_at(next), None);
    let fence = world.journal.leases().next().expect("it has it").fence;
    world.machines[1].network.heal();
    world.restart_knowing();
    world.run(2 * S);
    assert_eq!(world.fence(next), fence);
    world.run(2 * TTL_NS);
    assert_eq!(world.ending(next), None);
}

// LOCK-06
#[test]
fn what_was_released_is_free_at_the_next_server() {
    let mut world = World::with(2);
    let held = world.ask(0, "k");
    world.release(0, held);
    world.lose(0);
    world.restart_knowing();
    let next = world.ask(1, "k");
    world.run(2 * S);
    assert!(world.granted_at(next).is_some());
}

// LOCK-09, case L4: what its holder gave up meanwhile ends as it comes back.
#[test]
fn a_lease_that_its_holder_does_not_count_on_any_more_ends_as_it_comes_back() {
    let mut world = World::with(2);
    let held = world.ask(0, "k");
    let other = world.ask(0, "other");
    world.lose(0);
    world.release(0, held);
    world.restart_knowing();
    let next = world.ask(1, "k");
    world.run(S);
    assert_eq!(world.granted_at(next), None);
    world.machines[0].network.heal();
    world.run(3 * S);
    assert!(world.granted_at(next).is_some());
    assert_eq!(world.ending(other), None);
}

// LOCK-07, LOCK-12: an engine that trapped is followed by one that knows the leases.
#[test]
fn an_engine_that_trapped_loses_no_lease_over_a_connection() {
    let mut world = World::with(2);
    let held = world.ask(0, "k");
    let next = world.ask(1, "k");
    world.run(4 * S);
    world.server.forget_all();
    world.go_on();
    world.run(2 * TTL_NS);
    assert_eq!((world.ending(held), world.granted_at(next)), (None, None));
    world.release(0, held);
    assert!(world.granted_at(next).is_some());
}

// LOCK-06, LOCK-13: what was asked of the engine that took the place of one that
// trapped, before the server was told so, is let go.
#[test]
fn what_was_asked_of_the_next_engine_too_early_is_let_go() {
    let mut world = World::with(1);
    world.ask(0, "k");
    world.engine = Engine::new(Seed::default());
    world.step(vec![Command::AddFences((1 << 20)..(1 << 21))]);
    let session = world.machines[0].client.open_session(9, None, None);
    world.machines[0].session = session;
    let early = world.ask(0, "early");
    world.server.forget_all();
    world.go_on();
    // Its client asks for it again, and stands behind nobody.
    world.run(3 * S);
    assert!(world.granted_at(early).is_some());
    assert_eq!(world.ending(early), None);
    let keys: Vec<_> = world.holdings().into_iter().map(|it| it.key).collect();
    assert_eq!(keys, ["k", "early"]);
}

// LOCK-12: what the engine has no room for is not tried again by the next server.
#[test]
fn what_cannot_be_restored_is_over() {
    let mut world = World::with(1);
    world.ask(0, "k");
    let mut damaged = world.journal.leases().next().expect("a lease").clone();
    (damaged.fence, damaged.ask) = (damaged.fence + 1, 99);
    world.journal.apply(Body::Given(damaged).into());
    world.restart_knowing();
    assert_eq!(world.journal.leases().count(), 1);
    assert_eq!(world.holdings().len(), 1);
}

// LOCK-10, LOCK-02
#[test]
fn a_restored_lease_goes_by_the_id_that_its_holder_was_told() {
    let mut world = World::with(0);
    let (holder, lease) = world.back_with_a_lease();
    let (fence, unknown) = (lease.fence, How::Unknown.into());
    let secret = lease.secret ^ 1;
    for forged in [Lease { secret, ..lease }, Lease { secret: 0, ..lease }] {
        let (leases, named) = (vec![forged], Some(forged));
        for said in [
            Said::Renew(Renew { leases }),
            Said::Release(Release { lease: named }),
        ] {
            world.say(holder, 1, said);
            let told = Ended {
                fence,
                how: unknown,
            };
            assert_eq!(world.ended(holder), [told]);
        }
    }
    let leases = vec![lease];
    world.say(holder, 1, Said::Renew(Renew { leases }));
    assert!(matches!(world.heard(holder)[..], [Told::Renewed(_)]));
    let lease = Some(lease);
    world.say(holder, 1, Said::Release(Release { lease }));
    let how = How::Released.into();
    assert_eq!(world.ended(holder), [Ended { fence, how }]);
    world.assert_nothing_left();
}

// LOCK-12: as with its first server, also by another's bound.
#[test]
fn a_session_has_its_bounds_at_the_next_server() {
    let mut world = World::with(1);
    let session = world.machines[0].client.open_session(77, Some(1), Some(1));
    world.machines[0].session = session;
    world.ask(0, "k");
    world.restart_knowing();
    let second = world.ask(0, "l");
    world.run(3 * S);
    assert_eq!(world.refusal(second), Some(Why::TooMany));
}

// LOCK-08, case A13
#[test]
fn a_grant_that_cannot_be_kept_is_none() {
    let mut world = World::with(2);
    let held = world.ask(0, "held");
    world.unwritable = Some("the disk is full".into());
    let refused = world.ask(0, "k");
    assert_eq!(world.refusal(refused), Some(Why::Unavailable));
    let waiter = world.ask(1, "held");
    // What is held goes on, and is let go.
    world.run(2 * TTL_NS);
    assert_eq!(world.ending(held), None);
    world.release(0, held);
    assert_eq!(world.ending(held), Some(Ending::Released));
    assert_eq!(world.refusal(waiter), Some(Why::Unavailable));
    world.unwritable = None;
    let next = world.ask(1, "k");
    assert!(world.granted_at(next).is_some(), "nothing is kept of it");
    assert_eq!(world.engine.counts().leases, 1);
}

// LOCK-08, case E12: the first renewal since a start is told once it is kept.
#[test]
fn a_renewal_that_must_be_kept_is_not_told_before() {
    let mut world = World::with(1);
    let held = world.ask(0, "k");
    world.run(S);
    world.restart_knowing();
    world.unwritable = Some("the disk is full".into());
    let renewals = |world: &World| {
        let told = world.told(held);
        let renewed = |event: &&Event| matches!(event, Event::Renewed { .. });
        told.iter().filter(renewed).count()
    };
    let before = renewals(&world);
    world.run(4 * S);
    assert_eq!(renewals(&world), before);
    let [lease] = world.journal.leases().collect::<Vec<_>>()[..] else {
        panic!("one lease");
    };
    assert!(lease.expires.is_some());
    world.unwritable = None;
    world.run(3 * TTL_NS);
    assert_eq!(world.ending(held), None);
    assert!(renewals(&world) > before);
}

// LOCK-06, LOCK-12, LOCK-13: nothing is kept of a lease that is refused as it is asked
// for again.
#[test]
fn a_restored_lease_that_cannot_be_kept_as_it_is_asked_for_again_is_over() {
    let mut world = World::with(0);
    let (holder, lease) = world.back_with_a_lease();
    world.unwritable = Some("the disk is full".into());
    world.say(holder, 1, Said::Hold(crate::raw::hold(1, "k")));
    let (fence, how) = (lease.fence, How::Released.into());
    let heard = world.heard(holder);
    let [Told::Refused(refused), Told::Ended(ended)] = &heard[..] else {
        panic!("{heard:?}");
    };
    assert_eq!(refused.why(), Why::Unavailable);
    assert_eq!(*ended, Ended { fence, how });
    // Its server asks the engine no more about it.
    let leases = vec![lease];
    world.say(holder, 1, Said::Renew(Renew { leases }));
    let how = How::Unknown.into();
    assert_eq!(world.ended(holder), [Ended { fence, how }]);
    world.assert_nothing_left();
}
