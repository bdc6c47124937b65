//! How many fences are reserved when, and from where on. Whoever keeps fences
//! reserves by this: the host has this file too, by a link.

use core::ops::Range;
use core::time::Duration;

/// Fences stay below this, so that every language's numbers, and SQL's
/// `bigint`, hold them.
pub const FENCE_END: u64 = 1 << 53;

/// What an opening reserves: few, so that a store that is opened over and over
/// does not outrun the clock from which fences start once it was deleted.
pub const OPENING_RESERVE: u64 = 1 << 10;

/// What reservations double up to: at a million leases a second, one
/// reservation a second.
pub const LARGEST_RESERVE: u64 = 1 << 20;

/// The first fence of an opening is at least the seconds since 1970 times this:
/// a store that was deleted goes on above its old fences unless it gave more
/// than this many a second on average.
pub const FENCES_PER_SECOND: u64 = 1 << 20;

/// 2024-01-01, in seconds since 1970: this library is younger.
pub const CLOCK_FROM: u64 = 1_704_067_200;

/// 2150-01-01: a clock beyond would use up the fences.
pub const CLOCK_UNTIL: u64 = 5_680_281_600;

/// The next range above `high_water`, the largest fence ever reserved (0 if
/// there was none): `count` fences from `at_least` on, fewer at the end; none if
/// all below [`FENCE_END`] were reserved.
pub fn next_range(high_water: u64, at_least: u64, count: u64) -> Option<Range<u64>> {
    let first = high_water.saturating_add(1).max(at_least);
    let end = first.saturating_add(count.max(1)).min(FENCE_END);
    (first < end).then_some(first..end)
}

/// How many to reserve after a reservation of `count`.
pub fn next_count(count: u64) -> u64 {
    count.saturating_mul(2).min(LARGEST_RESERVE)
}

/// The first fence of an opening by the wall clock; none where that is plainly
/// wrong.
pub fn first_fence(since_1970: Duration) -> Option<u64> {
    let seconds = since_1970.as_secs();
    let within = u64::from(since_1970.subsec_nanos()) * FENCES_PER_SECOND / 1_000_000_000;
    let is_right = (CLOCK_FROM..CLOCK_UNTIL).contains(&seconds);
    is_right.then(|| seconds * FENCES_PER_SECOND + within)
}

#[cfg(test)]
mod tests {
    use super::*;

    // LOCK-02, case G3
    #[test]
    fn a_range_is_above_all_before_and_ends_below_the_bound() {
        assert_eq!(next_range(0, 0, 10), Some(1..11));
        assert_eq!(next_range(7, 3, 10), Some(8..18));
        assert_eq!(next_range(7, 20, 10), Some(20..30));
        let last = next_range(FENCE_END - 3, 0, 10);
        assert_eq!(last, Some(FENCE_END - 2..FENCE_END));
        for high_water in [FENCE_END - 1, FENCE_END, u64::MAX] {
            assert_eq!(next_range(high_water, 0, 10), None);
        }
    }

    // LOCK-02, case F1
    #[test]
    fn a_wall_clock_that_is_plainly_wrong_is_not_used() {
        let at = |seconds| first_fence(Duration::from_secs(seconds));
        assert_eq!(at(CLOCK_FROM), Some(CLOCK_FROM << 20));
        assert!(at(CLOCK_UNTIL - 1).is_some_and(|first| first < FENCE_END - FENCES_PER_SECOND));
        for wrong in [0, CLOCK_FROM - 1, CLOCK_UNTIL, 1 << 40] {
            assert_eq!(at(wrong), None);
        }
    }

    // LOCK-02
    #[test]
    fn openings_within_one_second_start_apart() {
        let at = |nanoseconds| first_fence(Duration::new(CLOCK_FROM, nanoseconds));
        let millisecond = at(1_000_000).zip(at(0)).map(|(late, early)| late - early);
        assert_eq!(millisecond, Some(FENCES_PER_SECOND / 1_000));
        assert!(at(999_999_999) < first_fence(Duration::from_secs(CLOCK_FROM + 1)));
    }

    // LOCK-02
    #[test]
    fn reservations_double_up_to_the_largest() {
        let mut count = OPENING_RESERVE;
        for doubled in 1..15 {
            count = next_count(count);
            assert_eq!(count, (OPENING_RESERVE << doubled).min(LARGEST_RESERVE));
        }
    }
}
