//! The suites for scorers, counters and token embedders: right ones pass, broken ones are
//! rejected by the rule that they break.

use std::sync::atomic::{AtomicUsize, Ordering};

use cornu_core::testing::conformance::{
    CounterOptions, EmbedderOptions, Rule, ScorerOptions, check_pair_scorer, check_token_counter,
    check_token_embedder,
};
use cornu_core::{
    ByteSpan, Fingerprint, PairScorer, ProviderError, Side, TextTokens, TokenCounter,
    TokenEmbedder, TokenVectors,
};
use ndarray::Array2;

type Score = fn(&str, &[&str], usize) -> Result<Vec<f32>, ProviderError>;

struct Scorer(Fingerprint, Score, AtomicUsize);

impl PairScorer for Scorer {
    fn fingerprint(&self) -> &Fingerprint {
        &self.0
    }
    fn score(&self, query: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
        (self.1)(query, documents, self.2.fetch_add(1, Ordering::SeqCst))
    }
}

/// How many of the document's first characters the query holds, each weighted by its place.
fn overlap(query: &str, document: &str) -> f32 {
    let letters = document.chars().take(200).enumerate();
    letters
        .map(|(at, one)| {
            if query.contains(one) {
                1.0 / (at + 1) as f32
            } else {
                0.0
            }
        })
        .sum()
}

fn failed() -> ProviderError {
    ProviderError::Failed {
        provider: "broken".into(),
        source: "out of memory".into(),
    }
}

#[test]
fn scorers() {
    let right: Score =
        |query, documents, _| Ok(documents.iter().map(|text| overlap(query, text)).collect());
    let faults: [(&str, Score, Rule); 9] = [
        (
            "sorts its output",
            |query, documents, _| {
                let mut scores: Vec<f32> =
                    documents.iter().map(|text| overlap(query, text)).collect();
                scores.sort_by(|a, b| b.total_cmp(a));
                Ok(scores)
            },
            Rule::Order,
        ),
        (
            "softmax over the batch",
            |query, documents, _| {
                let scores: Vec<f32> = documents
                    .iter()
                    .map(|text| overlap(query, text).exp())
                    .collect();
                let sum: f32 = scores.iter().sum();
                Ok(scores.iter().map(|score| score / sum).collect())
            },
            Rule::Distinct,
        ),
        (
            "scaled by the batch",
            |query, documents, _| {
                let count = documents.len() as f32;
                Ok(documents
                    .iter()
                    .map(|text| overlap(query, text) * (1.0 + 1e-6 * count))
                    .collect())
            },
            Rule::Neighbours,
        ),
        (
            "NaN for the empty text",
            |query, documents, _| {
                let score = |text: &&str| {
                    if text.is_empty() {
                        f32::NAN
                    } else {
                        overlap(query, text)
                    }
                };
                Ok(documents.iter().map(score).collect())
            },
            Rule::Finite,
        ),
        (
            "best three only",
            |query, documents, _| {
                Ok(documents
                    .iter()
                    .take(3)
                    .map(|text| overlap(query, text))
                    .collect())
            },
            Rule::Shape,
        ),
        (
            "a long document is an error",
            |query, documents, _| match documents.iter().any(|text| text.len() > 5_000) {
                true => Err(failed()),
                false => Ok(documents.iter().map(|text| overlap(query, text)).collect()),
            },
            Rule::Answers,
        ),
        (
            "cuts the query",
            |query, documents, _| {
                let query: String = query.chars().take(100).collect();
                Ok(documents.iter().map(|text| overlap(&query, text)).collect())
            },
            Rule::QueryWhole,
        ),
        (
            "the same score for all",
            |_, documents, _| Ok(vec![0.5; documents.len()]),
            Rule::Distinct,
        ),
        (
            "warms up after the first batches",
            |query, documents, calls| {
                let drift = if calls > 20 { 1e-3 } else { 0.0 };
                Ok(documents
                    .iter()
                    .map(|text| overlap(query, text) + drift)
                    .collect())
            },
            Rule::Repeatable,
        ),
    ];
    let check = |score: Score| {
        let scorer = Scorer(Fingerprint::new("scorer"), score, AtomicUsize::new(0));
        check_pair_scorer(&scorer, &ScorerOptions::default())
    };
    let report = check(right).unwrap();
    for (what, fault, rule) in faults {
        assert!(report.checked(rule) > 0, "{rule} was never checked");
        let violation = check(fault).expect_err(what);
        assert_eq!(violation.rule, rule, "{what}: {violation}");
    }
}

type Count = fn(&str, usize) -> usize;
type Fit = fn(&str, usize) -> usize;

struct Counter {
    fingerprint: Fingerprint,
    count: Count,
    fit: Option<Fit>,
    slack: usize,
    calls: AtomicUsize,
}

impl TokenCounter for Counter {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
    fn count(&self, text: &str) -> usize {
        (self.count)(text, self.calls.fetch_add(1, Ordering::SeqCst))
    }
    fn slack(&self) -> usize {
        self.slack
    }
    fn fit(&self, text: &str, limit: usize) -> usize {
        match self.fit {
            Some(fit) => fit(text, limit),
            None => self.fit_within(text, text.len(), limit),
        }
    }
}

fn characters(text: &str, _: usize) -> usize {
    text.chars().count()
}

/// "zero_grad" is one token, as a merging tokenizer has it.
fn merging(text: &str, _: usize) -> usize {
    text.chars().count() - 8 * text.matches("zero_grad").count()
}

#[test]
fn counters() {
    let counter = |count, fit, slack| Counter {
        fingerprint: Fingerprint::new("counter"),
        count,
        fit,
        slack,
        calls: AtomicUsize::new(0),
    };
    let check = |counter: &Counter| check_token_counter(counter, &CounterOptions::default());
    let report = check(&counter(characters, None, 0)).unwrap();
    check(&counter(merging, None, 7)).unwrap();

    let faults: [(&str, Counter, Rule); 8] = [
        (
            "special tokens counted",
            counter(|text, _| text.chars().count() + 2, None, 0),
            Rule::EmptyCountsZero,
        ),
        (
            "words by space, and none without",
            counter(|text, _| text.matches(' ').count(), None, 0),
            Rule::Answers,
        ),
        (
            "merges without slack",
            counter(merging, None, 0),
            Rule::PrefixSlack,
        ),
        (
            "too little slack",
            counter(merging, None, 6),
            Rule::PrefixSlack,
        ),
        (
            "counts its calls",
            counter(
                |text, calls| {
                    if text.is_empty() {
                        0
                    } else {
                        text.len() + calls
                    }
                },
                None,
                99,
            ),
            Rule::Repeatable,
        ),
        (
            "fits bytes",
            counter(characters, Some(|text, limit| text.len().min(limit)), 0),
            Rule::FitHolds,
        ),
        (
            "fits one too many",
            counter(
                characters,
                Some(|text, limit| {
                    text.char_indices()
                        .nth(limit.saturating_add(1))
                        .map_or(text.len(), |(at, _)| at)
                }),
                0,
            ),
            Rule::FitHolds,
        ),
        (
            "fits one too few",
            counter(
                characters,
                Some(|text, limit| {
                    text.char_indices()
                        .nth(limit.saturating_sub(1))
                        .map_or(text.len(), |(at, _)| at)
                }),
                0,
            ),
            Rule::FitFull,
        ),
    ];
    for (what, broken, rule) in faults {
        assert!(report.checked(rule) > 0, "{rule} was never checked");
        let violation = check(&broken).expect_err(what);
        assert_eq!(violation.rule, rule, "{what}: {violation}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum TokenFault {
    None,
    Padding,
    NotNormalised,
    WrongDimension,
    NoRowForChinese,
    SpansCountCharacters,
    SpansMissing,
    SilentCut,
    DropsLast,
    QueryAlwaysPadded,
}

struct Tokens(Fingerprint, TokenFault);

impl TokenEmbedder for Tokens {
    fn token_dimension(&self) -> usize {
        2
    }
    fn fingerprint(&self) -> &Fingerprint {
        &self.0
    }
    fn embed_tokens(&self, texts: &[&str], side: Side) -> Result<Vec<TokenVectors>, ProviderError> {
        let is = |fault: TokenFault| self.1 == fault;
        let longest = texts
            .iter()
            .map(|text| text.chars().count())
            .max()
            .unwrap_or(0)
            .min(300);
        let entry = |text: &&str| {
            let total = text.chars().count();
            let kept = total.min(300);
            let skip = |letter: char| is(TokenFault::NoRowForChinese) && !letter.is_ascii();
            let letters: Vec<(usize, char)> = text
                .char_indices()
                .take(kept)
                .filter(|(_, letter)| !skip(*letter))
                .collect();
            let mut spans: Vec<Option<ByteSpan>> = letters
                .iter()
                .map(|&(at, letter)| Some(ByteSpan::from_range(at..at + letter.len_utf8())))
                .collect();
            let mut angles: Vec<f32> = letters
                .iter()
                .flat_map(|&(_, letter)| {
                    let (sin, cos) = f64::from(u32::from(letter)).sin_cos();
                    [cos as f32, sin as f32]
                })
                .collect();
            // One row for a special token in front.
            spans.insert(0, None);
            angles.splice(0..0, [1.0, 0.0]);
            if is(TokenFault::Padding) {
                spans.resize(longest + 1, None);
                angles.resize(2 * (longest + 1), std::f32::consts::FRAC_1_SQRT_2);
            }
            if is(TokenFault::SpansCountCharacters) {
                for (at, span) in spans.iter_mut().skip(1).enumerate() {
                    *span = Some(ByteSpan::from_range(at..at + 1));
                }
            }
            if is(TokenFault::SpansMissing) {
                spans.pop();
            }
            let rows = angles.len() / 2;
            let mut vectors = Array2::from_shape_vec((rows, 2), angles).unwrap();
            if is(TokenFault::NotNormalised)
                || (is(TokenFault::QueryAlwaysPadded) && side == Side::Query)
            {
                vectors *= 2.0;
            }
            if is(TokenFault::WrongDimension) {
                vectors = Array2::from_shape_fn((rows, 3), |(_, column)| f32::from(column == 0));
            }
            let cut = !is(TokenFault::SilentCut);
            let tokens = TextTokens {
                kept,
                total: if cut { total } else { kept },
            };
            TokenVectors {
                vectors,
                spans,
                tokens,
            }
        };
        let mut output: Vec<TokenVectors> = texts.iter().map(entry).collect();
        if is(TokenFault::DropsLast) && output.len() > 1 {
            output.pop();
        }
        Ok(output)
    }
}

#[test]
fn token_embedders() {
    let options = EmbedderOptions {
        cases: 4,
        long_characters: 1_000,
        ..EmbedderOptions::default()
    };
    let check = |fault| check_token_embedder(&Tokens(Fingerprint::new("tokens"), fault), &options);
    let report = check(TokenFault::None).unwrap();
    for (fault, rule) in [
        (TokenFault::Padding, Rule::Neighbours),
        (TokenFault::NotNormalised, Rule::UnitNorm),
        (TokenFault::QueryAlwaysPadded, Rule::UnitNorm),
        (TokenFault::WrongDimension, Rule::Shape),
        (TokenFault::DropsLast, Rule::Shape),
        (TokenFault::NoRowForChinese, Rule::TokenSpans),
        (TokenFault::SpansCountCharacters, Rule::TokenSpans),
        (TokenFault::SpansMissing, Rule::TokenSpans),
        (TokenFault::SilentCut, Rule::Truncation),
    ] {
        assert!(report.checked(rule) > 0, "{rule} was never checked");
        let violation = check(fault).expect_err(&format!("{fault:?} passes"));
        assert_eq!(violation.rule, rule, "{fault:?}: {violation}");
    }
}
