//! What is drawn from outside: the seed of hashes and secrets.

use core::hash::{BuildHasher, Hasher};

use siphasher::sip::SipHasher13;

use crate::LeaseId;

/// 128 random bits of who opens the engine. They seed every hash, so that keys
/// chosen by a stranger cannot be made to collide, and the secrets of lease
/// ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seed {
    /// One half.
    pub low: u64,
    /// The other half.
    pub high: u64,
}

impl BuildHasher for Seed {
    type Hasher = SipHasher13;

    fn build_hasher(&self) -> SipHasher13 {
        SipHasher13::new_with_keys(self.low, self.high)
    }
}

/// Hashes numbers that who drives the engine chooses, one after the other as a
/// rule: it has no reason to make its own collide.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Numbers;

/// A product by an odd number, high bits and low ones mixed.
#[derive(Debug, Default)]
pub(crate) struct NumberHasher(u64);

impl BuildHasher for Numbers {
    type Hasher = NumberHasher;

    fn build_hasher(&self) -> NumberHasher {
        NumberHasher(0)
    }
}

impl Hasher for NumberHasher {
    fn write_u64(&mut self, number: u64) {
        // 2^64 divided by the golden ratio: numbers in a row are spread evenly.
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        let product = (number ^ (number >> 32)).wrapping_mul(SPREAD);
        self.0 = product ^ (product >> 32);
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(self.0 ^ u64::from(*byte));
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Seed {
    /// The id of the lease with this fence in this place. The fence makes it
    /// unlike every other lease's; the secret can't be told from the fence, and
    /// hides the place, so that the lease is found without a search.
    pub(crate) fn lease_id(&self, fence: u64, place: u32) -> LeaseId {
        LeaseId {
            fence,
            secret: self.secret(fence) ^ u64::from(place),
        }
    }

    /// The place that an id names. Whether a lease with the id's fence is
    /// there remains to be seen.
    pub(crate) fn place(&self, id: LeaseId) -> Option<u32> {
        u32::try_from(id.secret ^ self.secret(id.fence)).ok()
    }

    fn secret(&self, fence: u64) -> u64 {
        // Apart from the seed's other use by the order of its halves.
        let mut hasher = SipHasher13::new_with_keys(self.high, self.low);
        hasher.write_u64(fence);
        hasher.finish()
    }
}
