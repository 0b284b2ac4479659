//! How often the machine itself keeps a core from who only counts.

use std::thread;
use std::time::{Duration, Instant};

use cornu_eval::evidence::{Measure, Row};

use crate::timing::median;

/// A shorter pause may be an interrupt; from here on somebody else had the core.
const STALL: Duration = Duration::from_micros(200);

/// What threads met, one for each core, that did nothing but read the clock.
#[derive(Default)]
pub(super) struct Stalls {
    watches: Vec<Watch>,
}

/// What all of them together met in one watch.
struct Watch {
    /// Pauses of 0.2 ms and more, of each core's time.
    share: f64,
    /// How many there were in a second of a core's time.
    per_second: f64,
    longest: Duration,
}

impl Stalls {
    /// Watches all cores for so long.
    pub(super) fn watch(&mut self, lasts: Duration) {
        let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let pauses: Vec<Vec<Duration>> = thread::scope(|scope| {
            let watchers: Vec<_> = (0..cores).map(|_| scope.spawn(|| pauses(lasts))).collect();
            let met = watchers
                .into_iter()
                .map(|one| one.join().unwrap_or_default());
            met.collect()
        });
        let watched = lasts.as_secs_f64() * cores as f64;
        let all = || pauses.iter().flatten();
        self.watches.push(Watch {
            share: all().sum::<Duration>().as_secs_f64() / watched,
            per_second: all().count() as f64 / watched,
            longest: all().max().copied().unwrap_or_default(),
        });
    }

    /// Medians of the watches, with the least and the largest.
    pub(super) fn row(&self) -> Row {
        let mut row = Row::measured("machine", "counting-only");
        let of = |unit: &str, figure: fn(&Watch) -> f64| -> Measure {
            let figures: Vec<f64> = self.watches.iter().map(figure).collect();
            median(&figures, unit, |figure| figure)
        };
        for (metric, measure) in [
            ("stalled", of("fraction", |watch| watch.share)),
            ("stalls", of("per_s", |watch| watch.per_second)),
            (
                "longest_ms",
                of("ms", |watch| watch.longest.as_secs_f64() * 1e3),
            ),
        ] {
            row.metrics.insert(metric.to_owned(), measure);
        }
        row
    }
}

fn pauses(lasts: Duration) -> Vec<Duration> {
    let (start, mut last, mut pauses) = (Instant::now(), Duration::ZERO, Vec::new());
    while last < lasts {
        let now = start.elapsed();
        if now - last >= STALL {
            pauses.push(now - last);
        }
        last = now;
    }
    pauses
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With three threads a core that count as well, cores are taken away.
    #[test]
    fn who_shares_a_core_is_seen_to_stall() {
        let mut stalls = Stalls::default();
        let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let lasts = Duration::from_millis(200);
        thread::scope(|scope| {
            for _ in 0..3 * cores {
                scope.spawn(|| pauses(2 * lasts));
            }
            stalls.watch(lasts);
        });
        let row = stalls.row();
        assert!(row.metrics["stalled"].value > 0.2, "{row:?}");
        assert!(row.metrics["longest_ms"].value > 1.0, "{row:?}");
        assert!(row.metrics["stalls"].value > 1.0, "{row:?}");
    }
}
