//! LOCK-10: only a lease's own id releases or renews it.

use std::collections::HashSet;

use witlock_engine::{Ending, LeaseId};
use witlock_tests::{Command, Event, Machine};

use crate::steps::*;

// LOCK-10, case B1
pub fn a_fence_and_a_guess_release_nothing<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    let lease = granted(&steps.at(0, [ask(1, 1, "k")]), 1).lease;
    let mut random = fastrand::Rng::with_seed(10);
    let mut guesses: Vec<u64> = (0..1_000).map(|_| random.u64(..)).collect();
    guesses.extend((0..64).map(|bit| lease.secret ^ (1 << bit)));
    guesses.extend([0, 1, lease.fence, !lease.secret, u64::MAX]);
    for secret in guesses {
        let guess = LeaseId { secret, ..lease };
        let events = steps.at(1, [release(guess), renew(guess)]);
        assert_eq!(
            events,
            [Event::NotHeld { tag: 1 }, Event::NotHeld { tag: 2 }]
        );
    }
    for fence in [0, lease.fence - 1, lease.fence + 1, u64::MAX] {
        let guess = LeaseId { fence, ..lease };
        let events = steps.at(1, [release(guess), renew(guess)]);
        assert_eq!(
            events,
            [Event::NotHeld { tag: 1 }, Event::NotHeld { tag: 2 }]
        );
    }
    assert_eq!(steps.at(1, [release(lease)]), [ended(1, Ending::Released)]);
}

// LOCK-10, case B3
pub fn a_listing_does_not_tell_the_secret<M: Machine>() {
    let mut steps = Steps::<M>::new();
    let asks = (0..100).map(|n| ask(n, 1, &n.to_string()));
    let events = steps.at(0, asks);
    let given = grants(&events);
    let secrets: HashSet<_> = given.iter().map(|grant| grant.lease.secret).collect();
    assert_eq!(secrets.len(), 100);
    let listed = steps.at(0, [Command::ListHoldings { tag: 1, cursor: 0 }]);
    let Event::Holdings { page, .. } = &listed[0] else {
        panic!("no listing: {listed:?}");
    };
    for (held, grant) in page.items.iter().zip(&given) {
        assert_eq!(held.fence, grant.lease.fence);
        for shown in [held.fence, held.place.into(), held.session, held.held] {
            assert!(!secrets.contains(&shown));
        }
        // Nor do those of neighbours differ as their fences or places do.
        let next = given.iter().find(|it| it.lease.fence == held.fence + 1);
        let apart = next.map(|next| next.lease.secret ^ grant.lease.secret);
        assert!(apart.is_none_or(|apart| apart > u64::from(u32::MAX)));
    }
}

// LOCK-10, LOCK-07
pub fn an_id_names_no_second_lease<M: Machine>() {
    let mut steps = Steps::<M>::remote();
    let mut ids = HashSet::new();
    let mut last: Option<LeaseId> = None;
    for ticket in 0..1_000 {
        let events = steps.at(ticket, [ask(ticket, 1, "k")]);
        let lease = granted(&events, ticket).lease;
        assert!(ids.insert(lease));
        if let Some(last) = last {
            let events = steps.at(ticket, [release(last), renew(last)]);
            assert_eq!(
                events,
                [Event::NotHeld { tag: 1 }, Event::NotHeld { tag: 2 }]
            );
        }
        steps.at(ticket, [release(lease)]);
        last = Some(lease);
    }
}

// LOCK-10
pub fn a_break_names_a_fence_and_a_place<M: Machine>() {
    let mut steps = Steps::<M>::new();
    let asks = [ask(1, 1, "k"), ask(2, 1, "l")];
    let events = steps.at(0, asks);
    let fence = granted(&events, 1).lease.fence;
    let by = |fence, place| Command::Break {
        tag: 4,
        fence,
        place,
    };
    for (fence, place) in [(fence, 1), (fence + 1, 0), (fence, u32::MAX), (0, 0)] {
        assert_eq!(steps.at(0, [by(fence, place)]), [Event::NotHeld { tag: 4 }]);
    }
    let events = steps.at(0, [by(fence, 0)]);
    assert_eq!(events, [ended(1, Ending::Broken), Event::Fine { tag: 4 }]);
}
