//! How many fences are reserved when, and from where on.

use std::ops::Range;
use std::time::SystemTime;

use witlock_engine::ranges::{self, OPENING_RESERVE, next_count};

use super::{FenceError, FenceStorage};

/// The next range above `high_water`, the largest fence ever reserved (0 if
/// there was none): `count` fences from `at_least` on, fewer at the end.
///
/// # Errors
///
/// [`FenceError::Exhausted`] if there is none left below
/// [`FENCE_END`](super::FENCE_END).
pub fn next_range(high_water: u64, at_least: u64, count: u64) -> Result<Range<u64>, FenceError> {
    ranges::next_range(high_water, at_least, count).ok_or(FenceError::Exhausted)
}

/// The first fence of an opening by the wall clock; 1, with a warning, where
/// the clock is plainly wrong.
pub(crate) fn first_fence(wall: SystemTime) -> u64 {
    let since_1970 = wall.duration_since(SystemTime::UNIX_EPOCH);
    let since_1970 = since_1970.unwrap_or_default();
    ranges::first_fence(since_1970).unwrap_or_else(|| {
        log::warn!(
            "the wall clock is not used for the first fence: it says {} s since 1970, which is \
             not between 2024 and 2150; fences go on from those given before",
            since_1970.as_secs()
        );
        1
    })
}

/// A storage, and what to ask of it next.
pub(crate) struct Reserver {
    storage: Box<dyn FenceStorage>,
    last: Range<u64>,
    next_count: u64,
}

impl Reserver {
    /// Reserves an opening's first range.
    pub fn open(
        mut storage: Box<dyn FenceStorage>,
        at_least: u64,
    ) -> Result<(Self, Range<u64>), FenceError> {
        let first = storage.reserve(at_least, OPENING_RESERVE)?;
        let reserver = Reserver {
            storage,
            last: first.clone(),
            next_count: next_count(OPENING_RESERVE),
        };
        Ok((reserver, first))
    }

    /// Reserves the next range, twice as large as the one before.
    pub fn next(&mut self) -> Result<Range<u64>, FenceError> {
        let range = self.storage.reserve(self.last.end, self.next_count)?;
        self.next_count = next_count(self.next_count);
        self.last = range.clone();
        Ok(range)
    }

    /// Gives back those of the last range that are among the `left` that no
    /// lease had.
    pub fn close(mut self, left: u64) {
        let first = self.last.end.saturating_sub(left).max(self.last.start);
        let unused = first..self.last.end;
        if !unused.is_empty()
            && let Err(error) = self.storage.give_back(unused)
        {
            log::warn!("fences that no lease had could not be given back: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use super::*;
    use crate::driver::lock;
    use crate::fences::MemoryFences;
    use witlock_engine::ranges::{CLOCK_FROM, FENCES_PER_SECOND, LARGEST_RESERVE};

    // LOCK-02, case F1
    #[test]
    fn a_wall_clock_that_is_plainly_wrong_is_not_used() {
        let at = |seconds| first_fence(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(CLOCK_FROM), CLOCK_FROM << 20);
        assert_eq!(at(0), 1);
        let before_1970 = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(first_fence(before_1970), 1);
    }

    /// One storage for several openings.
    #[derive(Clone)]
    struct Shared(Arc<Mutex<MemoryFences>>);

    impl Shared {
        fn new(high_water: u64) -> Self {
            Shared(Arc::new(Mutex::new(MemoryFences::new(high_water))))
        }

        fn open(&self, at_least: u64) -> (Reserver, Range<u64>) {
            Reserver::open(Box::new(self.clone()), at_least).expect("fences")
        }
    }

    impl FenceStorage for Shared {
        fn reserve(&mut self, at_least: u64, count: u64) -> Result<Range<u64>, FenceError> {
            lock(&self.0).reserve(at_least, count)
        }

        fn give_back(&mut self, unused: Range<u64>) -> Result<(), FenceError> {
            lock(&self.0).give_back(unused)
        }
    }

    // LOCK-02, case L11
    #[test]
    fn openings_that_give_little_take_little() {
        let by_clock = CLOCK_FROM * FENCES_PER_SECOND;
        let storage = Shared::new(0);
        let mut last_given = 0;
        for _ in 0..100_000 {
            let (reserver, first) = storage.open(by_clock);
            assert!(first.start > last_given);
            last_given = first.start;
            reserver.close(OPENING_RESERVE - 1);
        }
        let (_, a_second_later) = Shared::new(0).open(by_clock + FENCES_PER_SECOND);
        assert!(a_second_later.start > last_given);
    }

    // LOCK-02
    #[test]
    fn only_what_no_lease_had_is_given_back() {
        for given in [0, 1, OPENING_RESERVE - 1, OPENING_RESERVE] {
            let storage = Shared::new(99);
            let (reserver, first) = storage.open(0);
            assert_eq!(first, 100..100 + OPENING_RESERVE);
            reserver.close(OPENING_RESERVE - given);
            assert_eq!(storage.open(0).1.start, 100 + given);
        }
    }

    // LOCK-02
    #[test]
    fn reservations_double_up_to_the_largest() {
        let (mut reserver, mut last) = Shared::new(0).open(0);
        for doubled in 1..15 {
            let next = reserver.next().expect("fences");
            assert_eq!(next.start, last.end);
            let count = (OPENING_RESERVE << doubled).min(LARGEST_RESERVE);
            assert_eq!(next.end - next.start, count);
            last = next;
        }
    }
}
