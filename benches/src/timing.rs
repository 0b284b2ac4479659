//! Timings of several systems on a machine that others use, too.

use std::time::Instant;

use anyhow::Result;
use cornu_eval::evidence::Measure;

/// Runs every job `rounds` times, round by round, so that a slow minute of the machine meets all
/// of them, and gives for each the seconds of its rounds. One round before these warms up.
///
/// # Errors
/// The first job that fails.
pub fn interleave(
    rounds: usize,
    jobs: &mut [Box<dyn FnMut() -> Result<()> + '_>],
) -> Result<Vec<Vec<f64>>> {
    let mut seconds = vec![Vec::with_capacity(rounds); jobs.len()];
    for round in 0..=rounds {
        for (job, seconds) in jobs.iter_mut().zip(&mut seconds) {
            let start = Instant::now();
            job()?;
            if round > 0 {
                seconds.push(start.elapsed().as_secs_f64());
            }
        }
    }
    Ok(seconds)
}

/// The median of `per_second(t)` over the rounds, with the smallest and largest as its spread.
#[must_use]
pub fn median(seconds: &[f64], unit: &str, figure: impl Fn(f64) -> f64) -> Measure {
    let mut figures: Vec<f64> = seconds.iter().map(|&seconds| figure(seconds)).collect();
    figures.sort_unstable_by(f64::total_cmp);
    let value = match (figures.len() / 2, figures.len() % 2) {
        (_, _) if figures.is_empty() => 0.0,
        (half, 1) => figures[half],
        (half, _) => f64::midpoint(figures[half - 1], figures[half]),
    };
    Measure {
        value,
        lo: figures.first().copied(),
        hi: figures.last().copied(),
        unit: unit.to_owned(),
        n: figures.len() as u64,
    }
}

/// The least value that at least this part of the values does not exceed (nearest rank); 0 of none.
#[must_use]
pub fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(
            (quantile(&values, 0.5), quantile(&values, 0.95)),
            (10.0, 19.0)
        );
        assert_eq!((quantile(&[7.0], 0.95), quantile(&[], 0.5)), (7.0, 0.0));
    }

    #[test]
    fn jobs_take_turns_and_the_first_round_is_not_counted() {
        let calls = std::cell::RefCell::new(Vec::new());
        let mut jobs: Vec<Box<dyn FnMut() -> Result<()> + '_>> = vec![
            Box::new(|| {
                calls.borrow_mut().push('a');
                Ok(())
            }),
            Box::new(|| {
                calls.borrow_mut().push('b');
                Ok(())
            }),
        ];
        let seconds = interleave(2, &mut jobs).unwrap();
        drop(jobs);
        assert_eq!(seconds.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
        assert_eq!(calls.into_inner(), ['a', 'b', 'a', 'b', 'a', 'b']);
    }

    #[test]
    fn median_of_an_even_number_lies_between() {
        let measure = median(&[1.0, 2.0, 4.0, 3.0], "s", |t| t);
        assert_eq!(
            (measure.value, measure.lo, measure.hi),
            (2.5, Some(1.0), Some(4.0))
        );
    }
}
