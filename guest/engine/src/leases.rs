//! The keys that are held, each by a lease.

use crate::deadlines::{Due, Ends};
use crate::event::{Ending, Grant};
use crate::list::Link;
use crate::slab::{Place, Slab};
use crate::tickets::Ask;
use crate::{NEVER, Nanoseconds, Seed, after};

/// A key held.
#[derive(Debug)]
pub(crate) struct Lease {
    pub ask: Ask,
    pub fence: u64,
    pub since: Nanoseconds,
    /// When it ends unrenewed.
    pub expires: Nanoseconds,
    /// When it ends, whatever is renewed.
    pub revoked: Nanoseconds,
    /// When it ends unless its holder, whose connection is gone, comes back
    /// and learns of it.
    pub unseen: Nanoseconds,
    /// The session's count of its sweeps of leases at the grant; once the two
    /// differ the lease is over.
    pub epoch: u32,
    pub of_session: Link,
    pub of_key: Link,
}

impl Lease {
    pub fn new(ask: Ask, fence: u64, now: Nanoseconds) -> Self {
        Lease {
            fence,
            since: now,
            expires: ask.ttl.map_or(NEVER, |ttl| after(now, ttl)),
            revoked: ask.max_hold.map_or(NEVER, |max_hold| after(now, max_hold)),
            unseen: NEVER,
            epoch: 0,
            of_session: Link::default(),
            of_key: Link::default(),
            ask,
        }
    }

    pub fn deadline(&self) -> Nanoseconds {
        self.expires.min(self.revoked).min(self.unseen)
    }

    pub fn due(&self, place: Place) -> Due {
        Due {
            at: self.deadline(),
            ends: Ends::Lease,
            serial: self.fence,
            place,
        }
    }

    /// How the lease ends at its deadline.
    pub fn ending(&self) -> Ending {
        if self.revoked == self.deadline() {
            Ending::Revoked
        } else {
            Ending::Expired
        }
    }

    /// The holder has shown that it counts on the lease.
    pub fn renew(&mut self, now: Nanoseconds) {
        self.unseen = NEVER;
        self.expires = self.ask.ttl.map_or(NEVER, |ttl| after(now, ttl));
    }

    pub fn grant(&self, place: Place, seed: &Seed) -> Grant {
        Grant {
            ticket: self.ask.number,
            lease: seed.lease_id(self.fence, place),
            expires: moment(self.expires),
            revoked: moment(self.revoked),
        }
    }
}

/// A moment that may never come, as an option.
pub(crate) fn moment(at: Nanoseconds) -> Option<Nanoseconds> {
    (at != NEVER).then_some(at)
}

/// All leases.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    pub slab: Slab<Lease>,
}

impl Leases {
    pub fn add(&mut self, lease: Lease) -> Place {
        self.slab.insert(lease)
    }

    pub fn remove(&mut self, place: Place) -> Lease {
        self.slab.remove(place)
    }

    /// Whether the lease with this fence is in this place.
    pub fn is_at(&self, place: Place, fence: u64) -> bool {
        self.slab
            .get(place)
            .is_some_and(|lease| lease.fence == fence)
    }
}

impl core::ops::Index<Place> for Leases {
    type Output = Lease;

    fn index(&self, place: Place) -> &Lease {
        &self.slab[place]
    }
}

impl core::ops::IndexMut<Place> for Leases {
    fn index_mut(&mut self, place: Place) -> &mut Lease {
        &mut self.slab[place]
    }
}
