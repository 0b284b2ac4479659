//! What a suite gives back, and how it runs random cases.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use super::rule::Rule;

/// How often each rule was checked by a suite that found no fault.
///
/// ```
/// use cornu_core::testing::{MemoryStore, conformance::*};
/// let options = StoreOptions { cases: 2, crowd: 20, ..StoreOptions::new(3) };
/// let report = check_store(|| MemoryStore::new(3), &options)?;
/// assert!(report.rules().all(|(rule, _)| Rule::ALL.contains(&rule)));
/// assert_eq!(report.checked(Rule::QueryWhole), 0); // a rule of another suite
/// # Ok::<(), Violation>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    counts: BTreeMap<Rule, u64>,
}

impl Report {
    /// How often the rule was checked.
    #[must_use]
    pub fn checked(&self, rule: Rule) -> u64 {
        self.counts.get(&rule).copied().unwrap_or(0)
    }

    /// The rules that were checked at least once, with how often.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = (Rule, u64)> + '_ {
        self.counts.iter().map(|(&rule, &count)| (rule, count))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counts
            .iter()
            .try_for_each(|(rule, count)| writeln!(f, "{count:>8} {rule}"))
    }
}

/// A rule that was broken: which, on what input, and how.
///
/// ```
/// use cornu_core::testing::conformance::*;
/// use cornu_core::{Fingerprint, TokenCounter};
///
/// struct Bytes(Fingerprint); // counts one for the empty text
/// impl TokenCounter for Bytes {
///     fn fingerprint(&self) -> &Fingerprint { &self.0 }
///     fn count(&self, text: &str) -> usize { text.len() + 1 }
/// }
/// let counter = Bytes(Fingerprint::new("bytes"));
/// let violation = check_token_counter(&counter, &CounterOptions::default()).unwrap_err();
/// assert_eq!((violation.rule, violation.input.as_str()), (Rule::EmptyCountsZero, "\"\""));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("broken rule {rule}: {found}; on {input}")]
#[non_exhaustive]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The input, shown for a reader; long ones are cut in the middle.
    pub input: String,
    /// What was found.
    pub found: String,
}

/// Counts checks, and turns a failed one into a violation.
#[derive(Debug, Default)]
pub(super) struct Checks {
    counts: RefCell<BTreeMap<Rule, u64>>,
}

impl Checks {
    /// One check of a rule. `input` and `found` are asked for only when it fails.
    pub(super) fn check(
        &self,
        rule: Rule,
        holds: bool,
        input: impl FnOnce() -> String,
        found: impl FnOnce() -> String,
    ) -> Result<(), Violation> {
        self.count(rule);
        if holds {
            return Ok(());
        }
        Err(violation(rule, &input(), &found()))
    }

    /// A check that a call succeeds.
    pub(super) fn ok<T, E: fmt::Display>(
        &self,
        rule: Rule,
        result: Result<T, E>,
        input: impl FnOnce() -> String,
    ) -> Result<T, Violation> {
        self.count(rule);
        result.map_err(|error| violation(rule, &input(), &format!("an error: {error}")))
    }

    fn count(&self, rule: Rule) {
        *self.counts.borrow_mut().entry(rule).or_default() += 1;
    }

    pub(super) fn report(self) -> Report {
        Report {
            counts: self.counts.into_inner(),
        }
    }

    /// Runs seeded random cases; a failing case is shrunk, and its violation given.
    pub(super) fn random<S: Strategy>(
        &self,
        cases: u32,
        seed: u64,
        strategy: &S,
        test: impl Fn(&S::Value) -> Result<(), Violation>,
    ) -> Result<(), Violation> {
        if cases == 0 {
            return Ok(());
        }
        let config = Config {
            cases,
            failure_persistence: None,
            max_shrink_iters: 512,
            ..Config::default()
        };
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        // The last case that failed is the smallest: shrinking keeps to failing ones.
        let last = RefCell::new(None);
        let outcome = TestRunner::new_with_rng(config, rng).run(strategy, |value| {
            test(&value).map_err(|violation| {
                last.replace(Some(violation));
                TestCaseError::fail("rule broken")
            })
        });
        match (outcome, last.into_inner()) {
            (Ok(()), _) => self.check(Rule::CasesRun, true, String::new, String::new),
            (Err(_), Some(violation)) => Err(violation),
            (Err(TestError::Fail(reason, value)), None) => self.check(
                Rule::CasesRun,
                false,
                || format!("{value:?}"),
                || reason.to_string(),
            ),
            (Err(TestError::Abort(reason)), None) => self.check(
                Rule::CasesRun,
                false,
                || format!("seed {seed}"),
                || reason.to_string(),
            ),
        }
    }
}

fn violation(rule: Rule, input: &str, found: &str) -> Violation {
    Violation {
        rule,
        input: shorten(input),
        found: shorten(found),
    }
}

/// At most about 600 characters: the first 400 and the last 200.
fn shorten(text: &str) -> String {
    let count = text.chars().count();
    if count <= 600 {
        return text.to_owned();
    }
    let head: String = text.chars().take(400).collect();
    let tail: String = text.chars().skip(count - 200).collect();
    format!("{head} … ({} characters) … {tail}", count - 600)
}

/// A value that a suite makes itself; it fails when the options are no use.
pub(super) fn given<T, E: fmt::Display>(made: Result<T, E>) -> Result<T, Violation> {
    made.map_err(|error| violation(Rule::CasesRun, "a suite's own input", &error.to_string()))
}
