//! α from a dev set, as a value that says where it comes from.

use cornu_core::{Fingerprint, Ranking};

use crate::convex::{Normalisation, convex_fuse};
use crate::error::FuseError;
use crate::random::Draws;
use crate::weighted::dense_sparse;

/// One query of a dev set: what both routes found, and what they should have found.
///
/// See [`fit_alpha`] for an example.
#[derive(Clone, Debug, PartialEq)]
pub struct DevQuery<I, R> {
    /// The dense route's ranking.
    pub dense: Ranking<I>,
    /// The sparse route's ranking.
    pub sparse: Ranking<I>,
    /// What is relevant, in the form that the metric takes.
    pub relevant: R,
}

/// Where a fitted number comes from: enough to refuse it where it does not belong.
///
/// ```
/// let origin = cornu_fuse::Origin { set: "dev".to_owned(), ..Default::default() };
/// assert!(origin.fingerprints.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The name of the dev set.
    pub set: String,
    /// The digest of the [`View`](cornu_core::View) that the rankings come from.
    pub view: [u8; 32],
    /// Of the models and tokenizers behind the rankings.
    pub fingerprints: Vec<Fingerprint>,
}

/// What [`fit_alpha`] tries, and how it measures its own uncertainty.
///
/// ```
/// let options = cornu_fuse::FitOptions::default();
/// assert_eq!((options.grid.len(), options.resamples), (21, 2000));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FitOptions {
    /// The values of α to try, each from 0 to 1; 0, 0.05, …, 1 by default.
    pub grid: Vec<f64>,
    /// How scores are normalised; with the same settings the fitted α is to be used.
    pub normalisation: Normalisation,
    /// Number of bootstrap resamples; 2,000 by default.
    pub resamples: usize,
    /// Of the interval; 0.95 by default.
    pub confidence: f64,
    /// Of the bootstrap: the same seed, the same interval.
    pub seed: u64,
    /// What the rankings were made of.
    pub origin: Origin,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            grid: (0..=20_u8).map(|step| f64::from(step) / 20.0).collect(),
            normalisation: Normalisation::default(),
            resamples: 2000,
            confidence: 0.95,
            seed: 0,
            origin: Origin::default(),
        }
    }
}

/// A fitted α.
///
/// See [`fit_alpha`] for an example.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedAlpha {
    /// The weight of the dense list.
    pub alpha: f64,
    /// Percentile bootstrap interval of `alpha` over resampled queries. When it spans the grid,
    /// the dev set does not say what α should be.
    pub interval: (f64, f64),
    /// Mean of the metric on the dev set at `alpha`. It is the best of several, so it flatters:
    /// measure on other queries.
    pub dev_mean: f64,
    /// The mean at every α that was tried, by α.
    pub curve: Vec<(f64, f64)>,
    /// Number of queries.
    pub queries: usize,
    /// The settings of the fit, its origin among them.
    pub options: FitOptions,
}

/// Fits α of [`convex_fuse`] by trying every value of a grid: the one with the best mean metric
/// over the dev queries. Among equal means (differences below 1e-12) the value nearest to 0.5 is
/// taken, then the smaller: where the data do not prefer a list, neither do we.
///
/// `metric` gets the fused ranking and the query's `relevant`; larger is better. It has to give
/// the same number for the same input.
///
/// O(queries × grid) fusions and metrics, O(resamples × queries × grid) additions.
///
/// # Errors
/// [`FuseError::NothingToFit`], [`FuseError::Alpha`] for a value of the grid,
/// [`FuseError::Confidence`], [`FuseError::Metric`], and those of [`convex_fuse`].
///
/// ```
/// use cornu_core::Ranking;
/// use cornu_fuse::{DevQuery, FitOptions, fit_alpha};
///
/// // The sparse list is right, by a little; the dense list is wrong by far. At any alpha below 1/9
/// // the right one comes first.
/// let query = DevQuery {
///     dense: Ranking::new([("wrong", 0.9), ("right", 0.1)])?,
///     sparse: Ranking::new([("right", 9.0), ("wrong", 8.0), ("other", 1.0)])?,
///     relevant: "right",
/// };
/// let first = |fused: &Ranking<&str>, right: &&str| {
///     f64::from(u8::from(fused.ids().next() == Some(right)))
/// };
/// let fitted = fit_alpha(&[query], &FitOptions::default(), first)?;
/// assert_eq!((fitted.alpha, fitted.dev_mean), (0.1, 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fit_alpha<I: Ord + Clone, R>(
    dev: &[DevQuery<I, R>],
    options: &FitOptions,
    metric: impl Fn(&Ranking<I>, &R) -> f64,
) -> Result<FittedAlpha, FuseError> {
    check(dev, options)?;
    let mut grid = options.grid.clone();
    grid.sort_unstable_by(f64::total_cmp);
    grid.dedup();
    let mut results: Vec<Vec<f64>> = Vec::with_capacity(dev.len()); // by query, then α
    for (at, query) in dev.iter().enumerate() {
        let mut row = Vec::with_capacity(grid.len());
        for &alpha in &grid {
            let lists = dense_sparse(&query.dense, &query.sparse, alpha)?;
            let fused = convex_fuse(&lists, &options.normalisation)?;
            let value = metric(fused.ranking(), &query.relevant);
            if !value.is_finite() {
                return Err(FuseError::Metric {
                    query: at,
                    alpha,
                    value,
                });
            }
            row.push(value);
        }
        results.push(row);
    }
    let curve = means(&grid, results.iter());
    let (alpha, dev_mean) = best(&curve);
    let mut draws = Draws::new(options.seed);
    let mut resampled: Vec<f64> = (0..options.resamples)
        .map(|_| {
            let rows = (0..results.len()).filter_map(|_| results.get(draws.below(dev.len())));
            best(&means(&grid, rows)).0
        })
        .collect();
    resampled.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - options.confidence) / 2.0;
    let quantile = |p: f64| {
        let at = (p * (resampled.len() - 1) as f64).round() as usize;
        resampled.get(at).copied().unwrap_or(alpha)
    };
    Ok(FittedAlpha {
        alpha,
        interval: (quantile(tail), quantile(1.0 - tail)),
        dev_mean,
        curve,
        queries: dev.len(),
        options: options.clone(),
    })
}

fn check<I, R>(dev: &[DevQuery<I, R>], options: &FitOptions) -> Result<(), FuseError> {
    let confidence = options.confidence;
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(FuseError::Confidence { confidence });
    }
    let parts = [
        ("queries", dev.len()),
        ("values of alpha in the grid", options.grid.len()),
        ("bootstrap resamples", options.resamples),
    ];
    match parts.into_iter().find(|&(_, count)| count == 0) {
        Some((missing, _)) => Err(FuseError::NothingToFit { missing }),
        None => Ok(()),
    }
}

/// The mean of every column, with its α.
fn means<'a>(grid: &[f64], rows: impl Iterator<Item = &'a Vec<f64>>) -> Vec<(f64, f64)> {
    let mut sums = vec![0.0; grid.len()];
    let mut count = 0_u32;
    for row in rows {
        count += 1;
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += value;
        }
    }
    let mean = |sum: f64| sum / f64::from(count.max(1));
    grid.iter()
        .copied()
        .zip(sums.into_iter().map(mean))
        .collect()
}

/// The α with the best mean; see [`fit_alpha`] for ties.
fn best(curve: &[(f64, f64)]) -> (f64, f64) {
    const EQUAL: f64 = 1e-12;
    let top = curve
        .iter()
        .fold(f64::NEG_INFINITY, |top, &(_, mean)| top.max(mean));
    let mut chosen: Option<(f64, f64)> = None;
    for &(alpha, mean) in curve.iter().filter(|&&(_, mean)| top - mean <= EQUAL) {
        let nearer = |old: f64| (alpha - 0.5).abs() < (old - 0.5).abs() - EQUAL;
        if chosen.is_none_or(|(old, _)| nearer(old)) {
            chosen = Some((alpha, mean));
        }
    }
    chosen.unwrap_or((0.5, 0.0))
}
