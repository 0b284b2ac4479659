//! The suite for [`PairScorer`].

use proptest::collection::vec;

use super::provider::{Batched, Bits, PLAIN, show};
use super::report::{Checks, Report, Violation};
use super::rule::Rule;
use crate::provider::PairScorer;
use crate::testing::strategies::{AWKWARD, awkward_text};

const QUERY: &str = "How does zero_grad clear the gradient? 如何清空梯度？";

/// How much a scorer is asked.
///
/// ```
/// assert_eq!(cornu_core::testing::conformance::ScorerOptions::default().cases, 8);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScorerOptions {
    /// Random batches of one to five short documents. Default 8.
    pub cases: u32,
    /// Of the random batches. Default 0.
    pub seed: u64,
    /// Size of the long document, in characters. Default 20,000.
    pub long_characters: usize,
    /// Size of the long query, in characters; within the model's limit. Default 300.
    pub query_characters: usize,
}

impl Default for ScorerOptions {
    fn default() -> Self {
        Self {
            cases: 8,
            seed: 0,
            long_characters: 20_000,
            query_characters: 300,
        }
    }
}

/// Checks a pair scorer: one finite score a document, in order; the same bits at every call, in
/// every batch and in every thread; a long document is scored; a long query is not cut.
///
/// ```
/// use cornu_core::testing::conformance::{ScorerOptions, check_pair_scorer};
/// use cornu_core::{Fingerprint, PairScorer, ProviderError};
///
/// /// Counts the words of the document that the query holds.
/// struct Overlap(Fingerprint);
/// impl PairScorer for Overlap {
///     fn fingerprint(&self) -> &Fingerprint { &self.0 }
///     fn score(&self, query: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
///         let count = |text: &&str| text.split(' ').filter(|word| query.contains(word)).count();
///         Ok(documents.iter().map(|text| count(text) as f32).collect())
///     }
/// }
/// check_pair_scorer(&Overlap(Fingerprint::new("overlap")), &ScorerOptions::default())?;
/// # Ok::<(), cornu_core::testing::conformance::Violation>(())
/// ```
///
/// # Errors
/// The first [`Violation`].
pub fn check_pair_scorer(
    scorer: &dyn PairScorer,
    options: &ScorerOptions,
) -> Result<Report, Violation> {
    let checks = Checks::default();
    let fingerprint = scorer.fingerprint().clone();
    let batched = Batched {
        checks: &checks,
        call: &|documents| Ok(as_bits(&scorer.score(QUERY, documents)?)),
        valid: &|documents| valid(scorer, &checks, QUERY, documents),
    };
    (batched.valid)(&[])?;
    // A scorer may give many texts the same score, so the two lists go together.
    batched.check(&[PLAIN, AWKWARD, &[QUERY]].concat())?;
    (batched.valid)(&["", " "])?;
    let long = "Filler about gradients. 填充句子。".repeat(options.long_characters / 29 + 1);
    (batched.valid)(&["short", &long])?;
    check_query_is_whole(scorer, &checks, options.query_characters, &long)?;
    let batches = vec(awkward_text(), 1..=5);
    checks.random(options.cases, options.seed, &batches, |texts| {
        batched.check_random(texts)
    })?;
    checks.check(
        Rule::FingerprintStays,
        *scorer.fingerprint() == fingerprint,
        || "after use".to_owned(),
        || fingerprint.differences(scorer.fingerprint()).join("; "),
    )?;
    Ok(checks.report())
}

fn valid(
    scorer: &dyn PairScorer,
    checks: &Checks,
    query: &str,
    documents: &[&str],
) -> Result<Vec<Bits>, Violation> {
    let input = || format!("{query:?} with {}", show(documents));
    let scores = checks.ok(Rule::Answers, scorer.score(query, documents), input)?;
    checks.check(Rule::Shape, scores.len() == documents.len(), input, || {
        format!("{} scores for {} documents", scores.len(), documents.len())
    })?;
    let finite = scores.iter().all(|score| score.is_finite());
    checks.check(Rule::Finite, finite, input, || format!("{scores:?}"))?;
    Ok(as_bits(&scores))
}

/// Two queries that differ at the end, beside a document that is too long and begins with the end
/// of one of them: a scorer that cuts the query cannot tell them apart. It may refuse.
fn check_query_is_whole(
    scorer: &dyn PairScorer,
    checks: &Checks,
    characters: usize,
    filler: &str,
) -> Result<(), Violation> {
    let long = "which of the steps, and why, ".repeat(characters / 29 + 1);
    let queries = ["tulip", "walrus"].map(|end| format!("{long} {end}"));
    let document = format!("tulip tulip tulip {filler}");
    let scores = queries.each_ref().map(|query| {
        scorer
            .score(query, &[&document])
            .map(|scores| as_bits(&scores))
    });
    if let [Ok(first), Ok(second)] = scores {
        checks.check(
            Rule::QueryWhole,
            first != second,
            || format!("two queries that differ in the last word, {queries:?}"),
            || "the same score for a document that begins with one of the words".to_owned(),
        )?;
    }
    Ok(())
}

fn as_bits(scores: &[f32]) -> Vec<Bits> {
    scores.iter().map(|score| vec![score.to_bits()]).collect()
}
