//! The suite for [`TokenEmbedder`].

use proptest::collection::vec;

use super::embedder::EmbedderOptions;
use super::provider::{BLANK, Batched, Bits, PLAIN, bits, check_counts, check_rows, show};
use super::report::{Checks, Report, Violation};
use super::rule::Rule;
use crate::provider::{ProviderError, Side, TokenEmbedder, TokenVectors};
use crate::testing::strategies::{AWKWARD, awkward_text};

/// Checks a token embedder, on both sides: one entry a text, rows of the stated dimension and of
/// norm 1, a span a row that lies in the text at character boundaries, the same bits at every
/// call, in every batch and in every thread (so padding is never among the rows), long texts,
/// counts, fingerprint.
///
/// A text without letters may be refused, but then at every call.
///
/// ```
/// use cornu_core::testing::conformance::{EmbedderOptions, check_token_embedder};
/// use cornu_core::{
///     ByteSpan, Fingerprint, ProviderError, Side, TextTokens, TokenEmbedder, TokenVectors,
/// };
///
/// /// One token a character: the angle is its code point.
/// struct Characters(Fingerprint);
/// impl TokenEmbedder for Characters {
///     fn token_dimension(&self) -> usize { 2 }
///     fn fingerprint(&self) -> &Fingerprint { &self.0 }
///     fn embed_tokens(&self, texts: &[&str], _: Side) -> Result<Vec<TokenVectors>, ProviderError> {
///         Ok(texts.iter().map(|text| {
///             let angles = text.chars().flat_map(|c| {
///                 let angle = f64::from(u32::from(c));
///                 [angle.cos() as f32, angle.sin() as f32]
///             }).collect();
///             let count = text.chars().count();
///             TokenVectors {
///                 vectors: ndarray::Array2::from_shape_vec((count, 2), angles).unwrap(),
///                 spans: text.char_indices()
///                     .map(|(at, c)| Some(ByteSpan::from_range(at..at + c.len_utf8())))
///                     .collect(),
///                 tokens: TextTokens::whole(count),
///             }
///         }).collect())
///     }
/// }
/// let embedder = Characters(Fingerprint::new("characters"));
/// check_token_embedder(&embedder, &EmbedderOptions::default())?;
/// # Ok::<(), cornu_core::testing::conformance::Violation>(())
/// ```
///
/// # Errors
/// The first [`Violation`].
pub fn check_token_embedder(
    embedder: &dyn TokenEmbedder,
    options: &EmbedderOptions,
) -> Result<Report, Violation> {
    let checks = Checks::default();
    let fingerprint = embedder.fingerprint().clone();
    let dimension = embedder.token_dimension();
    checks.check(
        Rule::DimensionStays,
        dimension > 0,
        || "a new token embedder".to_owned(),
        || "dimension 0".to_owned(),
    )?;
    for side in [Side::Query, Side::Document] {
        let batched = Batched {
            checks: &checks,
            call: &|texts| entries(embedder, texts, side),
            valid: &|texts| valid(embedder, &checks, texts, side),
        };
        (batched.valid)(&[])?;
        batched.check(PLAIN)?;
        batched.check(AWKWARD)?;
        for text in BLANK {
            batched.check_refusable(text)?;
        }
        batched.check_long(options.long_characters, &|texts| {
            let output = embedder.embed_tokens(texts, side)?;
            Ok(output
                .iter()
                .map(|entry| (entry_bits(entry), entry.tokens))
                .collect())
        })?;
        let batches = vec(awkward_text(), 1..=5);
        checks.random(options.cases, options.seed, &batches, |texts| {
            batched.check_random(texts)
        })?;
    }
    checks.check(
        Rule::DimensionStays,
        embedder.token_dimension() == dimension,
        || "after use".to_owned(),
        || format!("{dimension} before, {} now", embedder.token_dimension()),
    )?;
    checks.check(
        Rule::FingerprintStays,
        *embedder.fingerprint() == fingerprint,
        || "after use".to_owned(),
        || fingerprint.differences(embedder.fingerprint()).join("; "),
    )?;
    Ok(checks.report())
}

fn valid(
    embedder: &dyn TokenEmbedder,
    checks: &Checks,
    texts: &[&str],
    side: Side,
) -> Result<Vec<Bits>, Violation> {
    let input = || format!("{} as {side:?}", show(texts));
    let output = checks.ok(Rule::Answers, embedder.embed_tokens(texts, side), input)?;
    checks.check(Rule::Shape, output.len() == texts.len(), input, || {
        format!("{} entries for {} texts", output.len(), texts.len())
    })?;
    for (text, entry) in texts.iter().zip(&output) {
        let (rows, columns) = entry.vectors.dim();
        checks.check(
            Rule::Shape,
            columns == embedder.token_dimension(),
            || format!("{text:?} as {side:?}"),
            || format!("shape ({rows}, {columns})"),
        )?;
        check_rows(checks, &entry.vectors, || format!("{text:?} as {side:?}"))?;
        let inside = entry
            .spans
            .iter()
            .flatten()
            .all(|span| span.slice(text).is_some());
        let placed = entry.spans.iter().flatten().count();
        // What no vocabulary leaves out.
        let word = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '\u{4e00}'..='\u{9fff}');
        let known = placed > 0 || !text.contains(word);
        checks.check(
            Rule::TokenSpans,
            entry.spans.len() == rows && inside && known && placed <= entry.tokens.kept,
            || format!("{text:?} as {side:?}"),
            || format!("{rows} rows, spans {:?}, {:?}", entry.spans, entry.tokens),
        )?;
    }
    let tokens: Vec<_> = output.iter().map(|entry| entry.tokens).collect();
    check_counts(checks, texts, &tokens)?;
    Ok(output.iter().map(entry_bits).collect())
}

fn entries(
    embedder: &dyn TokenEmbedder,
    texts: &[&str],
    side: Side,
) -> Result<Vec<Bits>, ProviderError> {
    let output = embedder.embed_tokens(texts, side)?;
    Ok(output.iter().map(entry_bits).collect())
}

fn entry_bits(entry: &TokenVectors) -> Bits {
    bits(&entry.vectors)
}
