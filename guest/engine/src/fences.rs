//! The fences that were added and not given yet.

use alloc::collections::VecDeque;
use core::ops::Range;

use crate::bounds::FENCE_END;

/// Ranges of fences, each above the one before.
#[derive(Debug, Default)]
pub(crate) struct Fences {
    ranges: VecDeque<Range<u64>>,
    /// Where the last range ended.
    end: u64,
    left: u64,
    /// Below this, more are asked for.
    low: u64,
    asked: bool,
}

impl Fences {
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Adds the part of a range that no fence before it reaches.
    pub fn add(&mut self, range: Range<u64>) {
        let range = range.start.max(self.end).max(1)..range.end.min(FENCE_END);
        if range.is_empty() {
            return;
        }
        self.end = range.end;
        self.left += range.end - range.start;
        self.low = (range.end - range.start) / 2;
        self.asked = false;
        self.ranges.push_back(range);
    }

    pub fn take(&mut self) -> Option<u64> {
        let range = self.ranges.front_mut()?;
        let fence = range.next()?;
        if range.is_empty() {
            self.ranges.pop_front();
        }
        self.left -= 1;
        Some(fence)
    }

    /// Whether to ask for more: once, until they came or failed to.
    pub fn ask(&mut self, wanted: bool) -> bool {
        let ask = !self.asked && (wanted || self.left < self.low);
        self.asked |= ask;
        ask
    }

    /// What was asked for didn't come.
    pub fn failed(&mut self) {
        self.asked = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn taken(fences: &mut Fences) -> Vec<u64> {
        core::iter::from_fn(|| fences.take()).collect()
    }

    // LOCK-02, case G3
    #[test]
    fn ranges_that_reach_back_are_cut() {
        let mut fences = Fences::default();
        for range in [0..3, 2..5, 1..4, 9..10, 5..9] {
            fences.add(range);
        }
        assert_eq!(taken(&mut fences), [1, 2, 3, 4, 9]);
    }

    // LOCK-02, case G10
    #[test]
    fn no_fence_reaches_the_end() {
        let mut fences = Fences::default();
        fences.add(FENCE_END - 2..u64::MAX);
        assert_eq!(taken(&mut fences), [FENCE_END - 2, FENCE_END - 1]);
        fences.add(0..u64::MAX);
        assert_eq!(fences.take(), None);
    }

    #[test]
    fn low_is_said_once_a_range() {
        let mut fences = Fences::default();
        fences.add(1..11);
        let mut said = 0;
        while fences.take().is_some() {
            said += u32::from(fences.ask(false));
        }
        assert_eq!(said, 1);
        fences.failed();
        assert!(fences.ask(false));
    }
}
