//! Whether a text that somebody else wrote, a model say, is held by what it cites.
//!
//! Each sentence is a claim. It is held when its markers resolve and the cited texts have its words.
//! The check goes by words alone, without a model: no number, name or identifier passes that the
//! cited texts do not have, and a claim in other words than theirs is flagged. What it does not see:
//! that words were put together differently ("A sued B" for "B sued A"), or a missing "not".

use std::collections::BTreeSet;

use cornu_core::ByteSpan;
use cornu_text::{StopWords, Tokenizer, sentences};

use crate::anchors::{anchors, forms, known_words, quantity};
use crate::markers::{Marker, Verdict, judge_markers};

/// The part of a claim's words that its sources have to have.
pub const HELD: f64 = 0.6;

/// A text that may be cited.
///
/// ```
/// use cornu::claims::Source;
/// assert_eq!(Source { label: "1", text: "Grass is green." }.label, "1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source<'a> {
    /// What a marker calls it; unique.
    pub label: &'a str,
    /// What it says.
    pub text: &'a str,
}

/// One sentence of a text, judged.
///
/// ```
/// use cornu::claims::{Source, Support, check_claims};
/// use cornu::text::Tokenizer;
///
/// let sources = [Source { label: "1", text: "Heron has 64 GPUs of type H200." }];
/// let text = "Heron has 64 GPUs [1]. Heron has 96 GPUs [1]. It is fast.";
/// let claims = check_claims(&Tokenizer::new(), text, &sources);
/// assert_eq!(claims[0].support, Support::Held);
/// assert_eq!(claims[1].support, Support::Missing { words: vec!["96".to_owned()] });
/// assert_eq!(claims[2].support, Support::Uncited);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Where it stands in the text, markers and white space around it included.
    pub span: ByteSpan,
    /// The sources that it cites, by their place in the list.
    pub cites: Vec<usize>,
    /// The verdict.
    pub support: Support,
}

/// Whether a claim is held by what it cites.
///
/// ```
/// use cornu::claims::Support;
/// assert_ne!(Support::Held, Support::Uncited);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Support {
    /// The sources have its words.
    Held,
    /// It cites nothing.
    Uncited,
    /// One of its markers names no source, or several.
    BadMarker {
        /// The marker's label.
        label: String,
    },
    /// The sources lack these words of it: names and numbers, or too many of all its words.
    Missing {
        /// The words.
        words: Vec<String>,
    },
}

/// Judges every sentence of a text. A marker belongs to the sentence that it stands in, or behind.
/// O(bytes of the text and of the cited sources).
#[must_use]
pub fn check_claims(tokenizer: &Tokenizer, text: &str, sources: &[Source<'_>]) -> Vec<Claim> {
    let labels: Vec<&str> = sources.iter().map(|source| source.label).collect();
    let markers = judge_markers(text, &labels);
    let mut claims: Vec<(Draft, Vec<&Marker>)> = Vec::new();
    for span in sentences(text) {
        let mut draft = Draft::default();
        let mut own = Vec::new();
        let mut from = span.start();
        // What a link shows is words of the sentence like any others.
        let within =
            |marker: &&Marker| span.contains(marker.span) && marker.verdict != Verdict::Link;
        for marker in markers.iter().filter(within) {
            draft.push(text, from..marker.span.start());
            from = marker.span.end();
            // Behind the full stop of the sentence before.
            match claims.last_mut() {
                Some((before, theirs)) if draft.is_blank() => {
                    before.end = marker.span.end();
                    theirs.push(marker);
                }
                _ => own.push(marker),
            }
        }
        draft.push(text, from..span.end());
        if !draft.is_blank() {
            draft.start = claims.last().map_or(span.start(), |(before, _)| before.end);
            draft.start = draft.start.max(span.start());
            draft.end = span.end();
            claims.push((draft, own));
        }
    }
    let judged = claims
        .into_iter()
        .map(|(draft, markers)| draft.judge(tokenizer, &markers, sources));
    judged.collect()
}

/// The text without the claims that are not held. What stands between claims goes with the one
/// before.
#[must_use]
pub fn held_only(text: &str, claims: &[Claim]) -> String {
    let held = claims.iter().filter(|claim| claim.support == Support::Held);
    held.filter_map(|claim| claim.span.slice(text)).collect()
}

/// A sentence without its markers.
#[derive(Default)]
struct Draft {
    words: String,
    start: usize,
    end: usize,
}

impl Draft {
    fn push(&mut self, text: &str, range: std::ops::Range<usize>) {
        self.words.push_str(text.get(range).unwrap_or_default());
        self.words.push(' ');
    }

    fn is_blank(&self) -> bool {
        !self.words.chars().any(char::is_alphanumeric)
    }

    fn judge(&self, tokenizer: &Tokenizer, markers: &[&Marker], sources: &[Source<'_>]) -> Claim {
        let mut cites = Vec::new();
        let mut bad = None;
        for marker in markers {
            match marker.verdict {
                Verdict::Resolved(at) => cites.push(at),
                Verdict::Link => {}
                Verdict::Ambiguous | Verdict::Fabricated => {
                    bad.get_or_insert_with(|| marker.label.clone());
                }
            }
        }
        let support = match bad {
            Some(label) => Support::BadMarker { label },
            None if cites.is_empty() => Support::Uncited,
            None => self.support(tokenizer, &cites, sources),
        };
        Claim {
            span: ByteSpan::from_range(self.start..self.end),
            cites,
            support,
        }
    }

    fn support(&self, tokenizer: &Tokenizer, cites: &[usize], sources: &[Source<'_>]) -> Support {
        let known: BTreeSet<String> = cites
            .iter()
            .filter_map(|&at| sources.get(at))
            .flat_map(|source| known_words(tokenizer, source.text))
            .collect();
        let mut missing: Vec<String> = anchors(tokenizer, &self.words)
            .into_iter()
            .filter(|anchor| !anchor.is_among(&known))
            .map(|anchor| anchor.text().to_owned())
            .collect();
        let tokens = tokenizer.tokens(&self.words);
        let words: Vec<_> = tokens
            .iter()
            .filter(|token| token.part_of.is_none() && !StopWords::Common.contains(&token.text))
            .collect();
        let lacking = |token: &&&cornu_text::Token| {
            let written = token.span.slice(&self.words).unwrap_or_default();
            let apart = quantity(&token.text);
            !forms(&token.text, written)
                .iter()
                .any(|form| known.contains(form))
                && !apart.is_some_and(|parts| parts.iter().all(|part| known.contains(*part)))
        };
        let lacked: Vec<&str> = words
            .iter()
            .filter(lacking)
            .map(|token| token.text.as_str())
            .collect();
        let number = |word: &&&str| word.chars().any(|c| c.is_ascii_digit());
        for word in lacked.iter().filter(number) {
            let told = |name: &String| name.to_lowercase().contains(*word);
            if !missing.iter().any(told) {
                missing.push((*word).to_owned());
            }
        }
        let held = words.len() - lacked.len();
        if missing.is_empty() && (held as f64) < HELD * words.len() as f64 {
            missing = lacked.into_iter().map(str::to_owned).collect();
        }
        if missing.is_empty() {
            Support::Held
        } else {
            Support::Missing { words: missing }
        }
    }
}
