//! Systems compared on the same questions: differences, corrected p values, what could be seen.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use cornu_eval::evidence::{Measure, Row};
use cornu_eval::significance::{
    Bootstrap, Randomization, Scale, holm, smallest_resolvable_difference,
};

/// Level of the tests, and power at which a difference counts as one that the set can resolve.
const ALPHA: f64 = 0.05;
const POWER: f64 = 0.8;

/// Per metric the values of all questions, in one order for all systems.
pub type Samples = BTreeMap<&'static str, Vec<f64>>;

/// Appends a value where there is one.
pub fn put(samples: &mut Samples, metric: &'static str, value: Option<f64>) {
    samples.entry(metric).or_default().extend(value);
}

/// A row with the mean and interval of each metric that has values.
///
/// # Errors
/// A value outside 0 to 1.
pub fn row(dataset: &str, system: &str, samples: &Samples, seed: u64) -> Result<Row> {
    let bootstrap = Bootstrap {
        seed,
        scale: Scale::Rate,
        ..Bootstrap::default()
    };
    let mut row = Row::measured(dataset, system);
    for (metric, values) in samples.iter().filter(|(_, values)| !values.is_empty()) {
        let interval = bootstrap.mean(values)?;
        let measure = Measure::of_interval(&interval, "fraction");
        row.metrics.insert((*metric).to_owned(), measure);
    }
    Ok(row)
}

/// Adds to each row but the reference's: `difference` (its mean minus the reference's, with the
/// paired bootstrap's interval), `p` (paired randomisation, corrected after Holm over the rows), and
/// `resolvable` (the smallest true difference that so many questions, differing as much as these
/// two systems do, show with probability 0.8 at level 0.05; absent where no question differs).
///
/// # Errors
/// A system without the metric, or with another number of questions.
pub fn compare(
    rows: &mut [Row],
    samples: &[Samples],
    reference: usize,
    metric: &str,
    seed: u64,
) -> Result<()> {
    let of = |at: usize| -> Result<&Vec<f64>> {
        samples
            .get(at)
            .and_then(|samples| samples.get(metric))
            .with_context(|| format!("system {at} has no {metric}"))
    };
    let theirs = of(reference)?;
    let others: Vec<usize> = (0..rows.len()).filter(|&at| at != reference).collect();
    let test = Randomization {
        seed,
        ..Randomization::default()
    };
    let raw = others
        .iter()
        .map(|&at| Ok(test.test(of(at)?, theirs)?.p))
        .collect::<Result<Vec<f64>>>()?;
    let bootstrap = Bootstrap {
        seed,
        ..Bootstrap::default()
    };
    for (&at, p) in others.iter().zip(holm(&raw)?) {
        let ours = of(at)?;
        let interval = bootstrap.mean_difference(ours, theirs)?;
        let differences: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| a - b).collect();
        let n = differences.len() as u64;
        let row = rows.get_mut(at).context("a row for each system")?;
        let mut add = |name: &str, measure| row.metrics.insert(name.to_owned(), measure);
        add("difference", Measure::of_interval(&interval, "difference"));
        add("p", Measure::exact(p, "p", n));
        let deviation = deviation(&differences);
        if deviation > 0.0 {
            let least = smallest_resolvable_difference(deviation, differences.len(), ALPHA, POWER)?;
            add("resolvable", Measure::exact(least, "difference", n));
        }
    }
    Ok(())
}

/// The sample's standard deviation (divided by n − 1); 0 for a single value.
fn deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (n - 1.0).max(1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(values: &[f64]) -> Samples {
        Samples::from([("recall@5", values.to_vec())])
    }

    #[test]
    fn differences_are_signed_corrected_and_say_what_they_could_show() {
        let ones = [1.0; 8];
        let half = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0];
        let none = [0.0; 8];
        let all = [
            samples(&half),
            samples(&ones),
            samples(&none),
            samples(&ones),
        ];
        let mut rows: Vec<Row> = all
            .iter()
            .zip(["a", "b", "c", "d"])
            .map(|(samples, name)| row("set", name, samples, 1).unwrap())
            .collect();
        compare(&mut rows, &all, 1, "recall@5", 1).unwrap();
        let get = |at: usize, name: &str| rows[at].metrics.get(name).map(|m| m.value);
        assert_eq!(get(1, "difference"), None, "the reference has none");
        assert_eq!(get(0, "difference"), Some(-0.5));
        assert_eq!(get(2, "difference"), Some(-1.0));
        // 4 of 8 differ: 2 of 2^4 patterns; all differ: 2 of 2^8. Holm over three tests.
        assert_eq!(get(2, "p"), Some(3.0 * 2.0 / 256.0));
        assert_eq!(get(0, "p"), Some(2.0 * 2.0 / 16.0));
        assert_eq!((get(3, "p"), get(3, "resolvable")), (Some(1.0), None));
        // (1.95996 + 0.84162) · s / √8 with s² = 2/7.
        let expected = 2.801_585 * (2.0_f64 / 7.0).sqrt() / 8.0_f64.sqrt();
        assert!((get(0, "resolvable").unwrap() - expected).abs() < 1e-5);
        let interval = &rows[0].metrics["difference"];
        assert!(interval.lo.unwrap() < -0.5 && interval.hi.unwrap() > -0.5);
    }

    #[test]
    fn systems_on_different_questions_are_refused() {
        let all = [samples(&[1.0, 0.0]), samples(&[1.0])];
        let mut rows = vec![Row::measured("s", "a"), Row::measured("s", "b")];
        assert!(compare(&mut rows, &all, 0, "recall@5", 1).is_err());
        assert!(compare(&mut rows, &all, 0, "recall@9", 1).is_err());
    }

    #[test]
    fn a_metric_without_values_is_left_out() {
        let empty = Samples::from([("cited", Vec::new()), ("recall@5", vec![1.0, 0.5])]);
        let row = row("set", "a", &empty, 1).unwrap();
        assert_eq!(row.metrics.keys().collect::<Vec<_>>(), ["recall@5"]);
    }
}
