//! What a turn came to.

use std::time::Duration;

/// All cycles of a turn.
pub struct Turn {
    pub took: Duration,
    pub latencies: Vec<Duration>,
}

/// Its figures.
#[derive(Debug, Clone, Copy)]
pub struct Figures {
    /// Cycles in a second.
    pub rate: f64,
    /// Seconds.
    pub p50: f64,
    pub p99: f64,
}

impl Turn {
    pub fn figures(mut self) -> Figures {
        assert!(!self.latencies.is_empty(), "nothing was done in a turn");
        self.latencies.sort_unstable();
        let at = |share: f64| {
            let place = (self.latencies.len() as f64 * share) as usize;
            self.latencies[place].as_secs_f64()
        };
        Figures {
            rate: self.latencies.len() as f64 / self.took.as_secs_f64(),
            p50: at(0.50),
            p99: at(0.99),
        }
    }
}

pub fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<_> = numbers.collect();
    numbers.sort_unstable_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
