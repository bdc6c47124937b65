//! What releases and renews a lease, and what doesn't.

use witlock_session::wire::ended::How;
use witlock_session::wire::to_client::Body as Told;
use witlock_session::wire::to_store::Body as Said;
use witlock_session::wire::{Ended, Lease, Release, Renew};

use crate::raw::frame;
use crate::world::{MS, S, World};

fn release(lease: Lease) -> Said {
    let lease = Some(lease);
    Said::Release(Release { lease })
}

fn renew(lease: Lease) -> Said {
    let leases = vec![lease];
    Said::Renew(Renew { leases })
}

fn ended(lease: Lease, how: How) -> Ended {
    let fence = lease.fence;
    let how = how.into();
    Ended { fence, how }
}

// LOCK-10, case B1
#[test]
fn a_fence_without_its_secret_releases_and_renews_nothing() {
    let mut world = World::with(0);
    let holder = world.guest(1);
    let lease = world.hold(holder, 1, "k");
    let deadline = world.store_deadline();
    world.run(S);
    let secret = lease.secret ^ 1;
    for forged in [Lease { secret, ..lease }, Lease { secret: 0, ..lease }] {
        for said in [release(forged), renew(forged)] {
            world.say(holder, 1, said);
            assert_eq!(world.ended(holder), [ended(lease, How::Unknown)]);
            assert_eq!(world.store_deadline(), deadline);
        }
    }
    // It is none the worse for it.
    world.say(holder, 1, release(lease));
    assert_eq!(world.ended(holder), [ended(lease, How::Released)]);
    world.assert_nothing_left();
}

// LOCK-10: another session's, even by its whole id.
#[test]
fn a_session_releases_and_renews_its_own_leases_only() {
    let mut world = World::with(0);
    let (holder, other) = (world.guest(1), world.guest(2));
    let lease = world.hold(holder, 1, "k");
    let deadline = world.store_deadline();
    world.run(S);
    for said in [release(lease), renew(lease)] {
        world.say(other, 1, said);
        assert_eq!(world.ended(other), [ended(lease, How::Unknown)]);
        assert_eq!(world.heard(holder), []);
        assert_eq!(world.store_deadline(), deadline);
    }
    assert_eq!(world.server.kept().under_way, 0);
}

// LOCK-10, case B2, case B9
#[test]
fn releasing_twice_says_so_and_touches_no_successor() {
    let mut world = World::with(0);
    let (holder, next) = (world.guest(1), world.guest(2));
    let first = world.hold(holder, 1, "k");
    world.say(holder, 1, release(first));
    assert_eq!(world.ended(holder), [ended(first, How::Released)]);
    let second = world.hold(next, 1, "k");
    for said in [release(first), renew(first)] {
        world.say(holder, 1, said);
        assert_eq!(world.ended(holder), [ended(first, How::Unknown)]);
    }
    assert_eq!(world.heard(next), []);
    world.say(next, 1, renew(second));
    assert!(matches!(world.heard(next)[..], [Told::Renewed(_)]));
}

// LOCK-05, LOCK-10, case B2, case C5
#[test]
fn what_ran_out_is_neither_renewed_nor_released() {
    let mut world = World::with(0);
    let holder = world.guest(1);
    let lease = world.hold(holder, 1, "k");
    world.run(9_999 * MS);
    assert_eq!(world.heard(holder), []);
    world.run(MS);
    assert_eq!(world.ended(holder), [ended(lease, How::Expired)]);
    for said in [renew(lease), release(lease)] {
        world.say(holder, 1, said);
        assert_eq!(world.ended(holder), [ended(lease, How::Expired)]);
    }
    world.assert_nothing_left();
}

// LOCK-10: a release that meets the end of its lease is answered twice by the
// engine; the second answer is for nobody else.
#[test]
fn a_release_that_comes_as_its_lease_ends_says_nothing_of_another_lease() {
    let mut world = World::with(0);
    let holder = world.guest(1);
    let first = world.hold(holder, 1, "a");
    let second = world.hold(holder, 2, "b");
    // The engine ends the first as the release of it is on its way, ...
    world
        .server
        .received(world.now, holder, &frame(1, release(first)));
    let on_its_way = world.server.commands();
    world.break_fence(first.fence);
    // ... and a renewal comes behind that.
    world
        .server
        .received(world.now, holder, &frame(1, renew(second)));
    world.step(on_its_way);
    world.settle();
    let heard = world.heard(holder);
    let fences = |told: &Told| match told {
        Told::Ended(ended) => Some(ended.fence),
        _ => None,
    };
    let lost: Vec<u64> = heard.iter().filter_map(fences).collect();
    assert_eq!(lost, [first.fence], "{heard:?}");
    let renewed = heard.iter().filter(|it| matches!(it, Told::Renewed(_)));
    assert_eq!(renewed.count(), 1, "{heard:?}");
}
