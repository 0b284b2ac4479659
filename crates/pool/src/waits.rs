//! How long calls have waited.

use std::time::Duration;

const BUCKETS: usize = 32;

/// Waits by powers of two microseconds: the first count is of those below 1 µs (which found a place
/// free), the n-th after it of those from 2^(n-1) to 2^n µs, the last of all above half an hour.
///
/// ```
/// use std::time::Duration;
/// use cornu_pool::Waits;
///
/// let mut waits = Waits::default();
/// for micros in [0, 0, 0, 3, 900] {
///     waits.add(Duration::from_micros(micros));
/// }
/// assert_eq!(waits.count(), 5);
/// assert_eq!(waits.at_most(0.5), Some(Duration::from_micros(1)));
/// assert_eq!(waits.at_most(1.0), Some(Duration::from_micros(1024)));
/// assert_eq!(Waits::default().at_most(0.5), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    counts: [u64; BUCKETS],
}

impl Waits {
    /// Counts one more.
    pub fn add(&mut self, wait: Duration) {
        let micros = u64::try_from(wait.as_micros()).unwrap_or(u64::MAX);
        let place = (u64::BITS - micros.leading_zeros()) as usize;
        if let Some(count) = self.counts.get_mut(place.min(BUCKETS - 1)) {
            *count += 1;
        }
    }

    /// All that were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// A bound that a part of the waits (0 to 1) did not reach: the quantile, rounded up to a power
    /// of two microseconds. `None` when nothing was counted.
    #[must_use]
    pub fn at_most(&self, part: f64) -> Option<Duration> {
        let wanted = (part * self.count() as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let place = self.counts.iter().position(|count| {
            seen += count;
            seen >= wanted
        });
        place.map(|place| Duration::from_micros(1 << place))
    }

    /// The counts with the bounds that they stay below, shortest first.
    pub fn iter(&self) -> impl Iterator<Item = (Duration, u64)> + '_ {
        let bounds = (0..BUCKETS).map(|place| Duration::from_micros(1 << place));
        bounds.zip(self.counts.iter().copied())
    }
}
