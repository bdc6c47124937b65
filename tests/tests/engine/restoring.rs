//! Leases that an earlier engine gave.

use witlock_engine::{Ending, Options, Restore};
use witlock_tests::{Command, Event, Hold, Machine, Why};

use crate::steps::*;

const MS: u64 = 1_000_000;

/// A lease of the key, with a ttl of 10 s, until then.
fn lease(ticket: u64, session: u64, key: &str, until: u64) -> Restore<'static> {
    let Command::Hold(hold) = ask_as(ticket.into(), 10_000, hold(ticket, session, key)) else {
        unreachable!("an ask is a hold");
    };
    Restore {
        hold,
        fence: 100 + ticket,
        since: 0,
        expires: until * MS,
        revoked: None,
    }
}

fn restore(ticket: u64, session: u64, key: &str, until: u64) -> Command {
    Command::Restore(lease(ticket, session, key, until))
}

fn tries(ticket: u64, key: &str) -> Command {
    Command::Hold(Hold {
        wait: Some(0),
        ..hold(ticket, 9, key)
    })
}

// LOCK-01, LOCK-02, LOCK-05, LOCK-10, case G7
pub fn a_restored_lease_goes_on<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    let events = steps.at(5_000, [restore(1, 1, "k", 12_000)]);
    let grant = granted(&events, 1);
    assert_eq!(grant.lease.fence, 101);
    assert_eq!(grant.expires, Some(12_000 * MS));
    assert_eq!(grant.revoked, None);
    assert_eq!(steps.at(11_999, [tries(2, "k")]), [refused(2, Why::InUse)]);
    let renewed = steps.at(11_999, [renew(grant.lease)]);
    assert!(matches!(
        renewed[..],
        [Event::Renewed { deadline: Some(at), .. }] if at == 21_999 * MS
    ));
    let events = steps.at(12_001, [release(grant.lease), tries(3, "k")]);
    assert_eq!(events[0], ended(1, Ending::Released));
    // Fences come from where they came before.
    assert_eq!(granted(&events, 3).lease.fence, 1);
}

// LOCK-03, LOCK-05, case E7
pub fn a_restored_lease_ends_at_its_time<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    let revoked = Command::Restore(Restore {
        revoked: Some(7_000 * MS),
        ..lease(2, 1, "revoked", 12_000)
    });
    let overdue = restore(3, 1, "overdue", 4_000);
    let events = steps.all_at(5_000, vec![restore(1, 1, "k", 12_000), revoked, overdue]);
    assert_eq!(grants(&events).len(), 3);
    assert_eq!(events[3..], [ended(3, Ending::Expired)]);
    assert_eq!(steps.at(6_999, [ask(4, 2, "k")]), []);
    assert_eq!(steps.at(7_000, []), [ended(2, Ending::Revoked)]);
    let events = steps.at(12_000, []);
    assert_eq!(events[0], ended(1, Ending::Expired));
    granted(&events, 4);
}

// LOCK-09
pub fn a_restored_lease_is_asked_for_again<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    let lease = granted(&steps.at(0, [restore(1, 1, "k", 5_000)]), 1).lease;
    let again = ask_as(1, 10_000, hold(7, 1, "k"));
    let events = steps.at(3_000, [again]);
    assert_eq!(events[0], Event::Superseded(1));
    let grant = granted(&events, 7);
    assert_eq!(grant.lease, lease);
    assert_eq!(grant.expires, Some(13_000 * MS));
}

// LOCK-09, case L4
pub fn a_restored_lease_is_resumed_or_given_up<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    let commands = [
        restore(1, 1, "kept", 9_000),
        restore(2, 1, "given up", 9_000),
        restore(3, 1, "asked for", 9_000),
        Command::Suspend(1),
    ];
    let events = steps.at(0, commands);
    let kept = granted(&events, 1).lease;
    // Without a connection for longer than a place in line lasts.
    assert_eq!(steps.at(6_000, []), []);
    let events = steps.at(6_000, [resume(1, &[kept], &[3])]);
    assert_eq!(events, [Event::Fine { tag: 3 }, ended(2, Ending::Released)]);
    assert_eq!(steps.counts(15_999).leases, 2);
    assert_eq!(over(&steps.at(16_000, [])), 2);
}

// LOCK-08, case L10
pub fn leases_are_restored_in_the_grace<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    steps.at(0, [Command::Grace(5_000 * MS), ask(1, 1, "k")]);
    let lease = granted(&steps.at(0, [restore(2, 2, "k", 9_000)]), 2).lease;
    assert_eq!(steps.at(5_000, []), []);
    let events = steps.at(5_000, [release(lease)]);
    granted(&events, 1);
}

// LOCK-01, LOCK-04
pub fn a_restored_semaphore_is_as_full_as_before<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    let pooled = |ticket, session| {
        let mut lease = lease(ticket, session, "pool", 9_000);
        lease.hold.limit = Some(2);
        Command::Restore(lease)
    };
    let events = steps.at(0, [pooled(1, 1), pooled(2, 1), pooled(3, 2)]);
    assert_eq!(grants(&events).len(), 2);
    assert_eq!(events[2], refused(3, Why::InUse));
    let own = Command::Hold(Hold {
        limit: Some(2),
        alone: true,
        ..hold(4, 1, "pool")
    });
    assert_eq!(steps.at(1, [own]), [refused(4, Why::HeldByCaller)]);
}

// LOCK-12: what was given was within its bounds; what tells of it may be damaged.
pub fn what_has_no_room_is_not_restored<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    steps.at(0, [restore(1, 1, "k", 9_000)]);
    let mut other_limit = lease(2, 2, "pool", 9_000);
    other_limit.hold.limit = Some(2);
    steps.at(0, [Command::Restore(other_limit.clone())]);
    other_limit.hold.limit = Some(3);
    other_limit.hold.ticket = 3;
    let mut no_ttl = lease(4, 1, "l", 9_000);
    no_ttl.hold.options = Options {
        ttl: Some(1),
        ..Options::default()
    };
    let mut no_fence = lease(5, 1, "l", 9_000);
    no_fence.fence = 0;
    let mut twice = lease(6, 1, "l", 9_000);
    twice.hold.request = Some(1);
    let nobody = lease(7, 99, "l", 9_000);
    for damaged in [other_limit, no_ttl, no_fence, twice, nobody] {
        let ticket = damaged.hold.ticket;
        let events = steps.at(0, [Command::Restore(damaged)]);
        assert!(
            matches!(events[..], [Event::Refused { ticket: refused, .. }] if refused == ticket),
            "{ticket}: {events:?}"
        );
    }
    let counts = steps.counts(0);
    assert_eq!((counts.keys, counts.leases, counts.waiters), (2, 2, 0));
}
