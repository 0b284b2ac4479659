//! The suite for [`FactStore`].

mod ask;
mod examples;
mod histories;
mod oracle;
mod refusals;
mod sample;

use proptest::strategy::Strategy;

use super::report::{Checks, Report, Violation, given};
use crate::acl::Principal;
use crate::store::FactStore;
use crate::testing::strategies::{history, principal, unit_vector};

use histories::Ask;

/// How much a store is asked.
///
/// ```
/// use cornu_core::testing::conformance::StoreOptions;
/// let options = StoreOptions { seed: 7, ..StoreOptions::new(384) };
/// assert_eq!((options.dimension, options.cases, options.crowd), (384, 64, 4097));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreOptions {
    /// The dimension of the stores under test; at least 2.
    pub dimension: usize,
    /// Random histories, of up to 16 writes each. Default 64.
    pub cases: u32,
    /// Of the random histories. Default 0.
    pub seed: u64,
    /// How many hidden chunks stand nearer to a query than the one that is seen: more than any
    /// limit on k that the store's engine has. Default 4097.
    pub crowd: usize,
}

impl StoreOptions {
    /// The defaults, for stores of this dimension.
    #[must_use]
    pub fn new(dimension: usize) -> Self {
        Self {
            dimension,
            cases: 64,
            seed: 0,
            crowd: 4097,
        }
    }

    /// The suite needs a plane to place its vectors in.
    fn check(&self) -> Result<(), Violation> {
        given(match self.dimension {
            0 | 1 => Err("the dimension of the options is below 2"),
            _ => Ok(()),
        })
    }
}

/// Checks a store against an oracle: [`check_store_examples`], then [`check_store_histories`].
///
/// `make` gives a new, empty store at every call; two of its stores share nothing.
///
/// How answers are judged:
/// - The oracle computes cosines in f64. A store may use f32, so its scores may be 1e-5 off, and
///   two chunks whose cosines differ by no more than 2e-5 may stand in either order.
/// - Chunks whose vectors are equal in every component have no such freedom: their scores have to
///   be equal, bit for bit, and they come in order of id. When k cuts through them, those of the
///   smallest ids are in.
/// - For a store there is one order: a smaller k gives a prefix of a larger one, bit for bit.
/// - Against a store to which the history was written
///   [`without_hidden`](crate::testing::strategies::History::without_hidden) documents, and
///   against one that was given the visible documents only, in reverse order of name, every
///   answer is equal bit for bit.
///
/// Cost with the defaults: about 600 stores, 1,500 writes and 23,000 rankings; with
/// [`MemoryStore`](crate::testing::MemoryStore) less than a second, without optimisation.
///
/// # Errors
/// The first [`Violation`]; of a random history, on the smallest that was found.
///
/// See [`testing`](crate::testing) for an example.
pub fn check_store<S: FactStore>(
    make: impl Fn() -> S,
    options: &StoreOptions,
) -> Result<Report, Violation> {
    let checks = Checks::default();
    options.check()?;
    examples::check(&make, &checks, options)?;
    random(&make, &checks, options)?;
    Ok(checks.report())
}

/// The directed part of [`check_store`]: one small script for each known way to fail, so that a
/// violation is easy to read.
///
/// # Errors
/// As [`check_store`].
///
/// ```
/// use cornu_core::testing::{MemoryStore, conformance::*};
/// let options = StoreOptions { crowd: 20, ..StoreOptions::new(3) };
/// let report = check_store_examples(|| MemoryStore::new(3), &options)?;
/// assert!(report.checked(Rule::RefusesNotUnit) > 0);
/// # Ok::<(), Violation>(())
/// ```
pub fn check_store_examples<S: FactStore>(
    make: impl Fn() -> S,
    options: &StoreOptions,
) -> Result<Report, Violation> {
    let checks = Checks::default();
    options.check()?;
    examples::check(&make, &checks, options)?;
    Ok(checks.report())
}

/// The random part of [`check_store`]: seeded histories of writes in which hidden documents
/// resemble visible ones.
///
/// # Errors
/// As [`check_store`].
///
/// ```
/// use cornu_core::testing::{MemoryStore, conformance::*};
/// let options = StoreOptions { cases: 4, ..StoreOptions::new(3) };
/// let report = check_store_histories(|| MemoryStore::new(3), &options)?;
/// assert!(report.checked(Rule::NonInterference) > 0);
/// # Ok::<(), Violation>(())
/// ```
pub fn check_store_histories<S: FactStore>(
    make: impl Fn() -> S,
    options: &StoreOptions,
) -> Result<Report, Violation> {
    let checks = Checks::default();
    options.check()?;
    random(&make, &checks, options)?;
    Ok(checks.report())
}

fn random<S: FactStore>(
    make: &dyn Fn() -> S,
    checks: &Checks,
    options: &StoreOptions,
) -> Result<(), Violation> {
    let dimension = options.dimension;
    let cases = (history(dimension), principal(), unit_vector(dimension));
    let cases = cases.prop_map(|(history, asker, query)| {
        let rows = history
            .facts()
            .filter_map(|facts| facts.vectors.rows().into_iter().next());
        let mut queries: Vec<_> = rows.map(|row| row.to_owned()).take(6).collect();
        queries.push(query);
        let askers = vec![asker, Principal::public(), Principal::default()];
        Ask {
            history,
            askers,
            queries,
            ks: vec![0, 1, 2, 3, 5, 8, 100],
        }
    });
    checks.random(options.cases, options.seed, &cases, |ask| {
        histories::check(make, checks, ask)
    })
}
