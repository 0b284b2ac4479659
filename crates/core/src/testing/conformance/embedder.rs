//! The suite for [`EmbeddingProvider`].

use ndarray::Array1;
use proptest::collection::vec;

use super::provider::{
    BLANK, Batched, Bits, PLAIN, bits, check_counts, check_rows, check_unit, show,
};
use super::report::{Checks, Report, Violation};
use super::rule::Rule;
use crate::provider::EmbeddingProvider;
use crate::testing::strategies::{AWKWARD, awkward_text};

/// How much an embedder (or a token embedder) is asked.
///
/// ```
/// use cornu_core::testing::conformance::EmbedderOptions;
/// let options = EmbedderOptions { cases: 64, ..EmbedderOptions::default() };
/// assert_eq!(options.long_characters, 20_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbedderOptions {
    /// Random batches of one to five short texts. Default 8.
    pub cases: u32,
    /// Of the random batches. Default 0.
    pub seed: u64,
    /// Size of the long texts, in characters; beyond the model's limit, or they test nothing.
    /// Default 20,000.
    pub long_characters: usize,
}

impl Default for EmbedderOptions {
    fn default() -> Self {
        Self {
            cases: 8,
            seed: 0,
            long_characters: 20_000,
        }
    }
}

/// Checks an embedder: shape (also of no texts), order, finite vectors of norm 1, the same bits at
/// every call, in every batch and in every thread, long texts, awkward Unicode, token counts,
/// queries, fingerprint.
///
/// A text without letters may be refused, but then at every call. Cost with the defaults:
/// about 300 calls with 500 texts, 12 of them long.
///
/// # Errors
/// The first [`Violation`].
///
/// See [`testing`](crate::testing) for an example.
pub fn check_embedder(
    embedder: &dyn EmbeddingProvider,
    options: &EmbedderOptions,
) -> Result<Report, Violation> {
    let checks = Checks::default();
    let before = (embedder.dimension(), embedder.fingerprint().clone());
    checks.check(
        Rule::DimensionStays,
        before.0 > 0,
        || "a new embedder".to_owned(),
        || "dimension 0".to_owned(),
    )?;
    let batched = Batched {
        checks: &checks,
        call: &|texts| Ok(rows_of(&embedder.embed_counted(texts)?.vectors)),
        valid: &|texts| valid(embedder, &checks, texts),
    };
    (batched.valid)(&[])?;
    batched.check(PLAIN)?;
    batched.check(AWKWARD)?;
    for text in BLANK {
        batched.check_refusable(text)?;
    }
    batched.check_long(options.long_characters, &|texts| {
        let embeddings = embedder.embed_counted(texts)?;
        let rows = rows_of(&embeddings.vectors).into_iter();
        Ok(rows.zip(embeddings.tokens).collect())
    })?;
    check_queries(embedder, &checks)?;
    let batches = vec(awkward_text(), 1..=5);
    checks.random(options.cases, options.seed, &batches, |texts| {
        batched.check_random(texts)
    })?;
    checks.check(
        Rule::DimensionStays,
        embedder.dimension() == before.0,
        || "after use".to_owned(),
        || format!("{} before, {} now", before.0, embedder.dimension()),
    )?;
    checks.check(
        Rule::FingerprintStays,
        *embedder.fingerprint() == before.1,
        || "after use".to_owned(),
        || before.1.differences(embedder.fingerprint()).join("; "),
    )?;
    Ok(checks.report())
}

/// One call, with every check that concerns its output alone.
fn valid(
    embedder: &dyn EmbeddingProvider,
    checks: &Checks,
    texts: &[&str],
) -> Result<Vec<Bits>, Violation> {
    let input = || show(texts);
    let embeddings = checks.ok(Rule::Answers, embedder.embed_counted(texts), input)?;
    let expected = (texts.len(), embedder.dimension());
    let found = embeddings.vectors.dim();
    checks.check(Rule::Shape, found == expected, input, || {
        format!("shape {found:?}, not {expected:?}")
    })?;
    check_rows(checks, &embeddings.vectors, input)?;
    check_counts(checks, texts, &embeddings.tokens)?;
    let rows = rows_of(&embeddings.vectors);
    if texts.len() < 2 {
        // Of larger batches, the other rules judge order and neighbours.
        let plain = checks.ok(Rule::EmbedIsCounted, embedder.embed(texts), input)?;
        let same = plain.dim() == found && rows_of(&plain) == rows;
        checks.check(Rule::EmbedIsCounted, same, input, || {
            "other vectors".to_owned()
        })?;
    }
    Ok(rows)
}

fn check_queries(embedder: &dyn EmbeddingProvider, checks: &Checks) -> Result<(), Violation> {
    let texts = [PLAIN, AWKWARD].concat();
    let ask = |text: &str| -> Result<Array1<f32>, Violation> {
        let input = || format!("the query {text:?}");
        let vector = checks.ok(Rule::Answers, embedder.embed_query(text), input)?;
        let (found, expected) = (vector.len(), embedder.dimension());
        checks.check(Rule::QueryShape, found == expected, input, || {
            format!("shape ({found}), not ({expected})")
        })?;
        check_unit(checks, &vector.view(), input)?;
        Ok(vector)
    };
    let mut first = Vec::new();
    for text in &texts {
        first.push(bits(&ask(text)?));
    }
    for (text, before) in texts.iter().zip(&first).rev() {
        checks.ok(Rule::Answers, embedder.embed(&[text]), || show(&[text]))?;
        let again = bits(&ask(text)?);
        checks.check(
            Rule::QueryRepeatable,
            again == *before,
            || format!("the query {text:?}, after other calls"),
            || "another vector".to_owned(),
        )?;
    }
    let (front, back) = (&first, first.get(1..).unwrap_or_default());
    checks.check(
        Rule::Distinct,
        front.iter().zip(back).any(|(a, b)| a != b),
        || format!("the queries {texts:?}"),
        || "the same vector for all of them".to_owned(),
    )
}

fn rows_of(vectors: &ndarray::Array2<f32>) -> Vec<Bits> {
    vectors.rows().into_iter().map(bits).collect()
}
