//! Every sentence of a reply, held against what it cites.

use cornu_core::ByteSpan;
use cornu_text::{StopWords, Tokenizer};

use super::Passage;
use crate::claims::{Source, Support, check_claims};
use crate::markers::judge_markers;

/// One sentence of a reply, judged.
///
/// ```
/// use cornu::chat::{Doubt, Passage, review};
/// use cornu::text::Tokenizer;
///
/// let passage = Passage { titles: vec![], text: "Heron has 64 GPUs.".to_owned() };
/// let reply = "Heron has 64 GPUs [1]. Heron has 96 GPUs [1].";
/// let judged = review(&Tokenizer::new(), reply, false, &[&passage]);
/// assert_eq!((judged[0].text.as_str(), &judged[0].doubt), ("Heron has 64 GPUs [1].", &None));
/// assert_eq!(judged[1].doubt, Some(Doubt::Missing { words: vec!["96".to_owned()] }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The sentence as it was written, markers included.
    pub text: String,
    /// The passages that it cites, from 0, each once, in the order of its markers.
    pub cites: Vec<usize>,
    /// Why it is not held; `None` when it is.
    pub doubt: Option<Doubt>,
}

/// Why a sentence of a reply is not held by the sources.
///
/// ```
/// use cornu::chat::Doubt;
/// assert_eq!(Doubt::Uncited.to_string(), "cites nothing");
/// assert!(Doubt::Link.is_final() && !Doubt::Uncited.is_final());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Doubt {
    /// It cites nothing.
    Uncited,
    /// It cites what was not among the sources.
    NoSuchSource {
        /// What stands between the brackets.
        label: String,
    },
    /// What it cites lacks these words of it; none, when it has no word that could be looked for.
    Missing {
        /// The words.
        words: Vec<String>,
    },
    /// It has a link, an address or markup that what it cites does not have: text behind a link is
    /// not read by whoever reads the answer, and an address may carry data away when it is opened.
    Link,
    /// The reply was cut in it.
    Cut,
}

impl Doubt {
    /// Whether such a sentence is dropped even where doubtful ones are shown.
    #[must_use]
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::Uncited | Self::Missing { .. })
    }
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Uncited => f.write_str("cites nothing"),
            Self::NoSuchSource { label } => write!(f, "cites [{label}], which is no source"),
            Self::Missing { words } if words.is_empty() => f.write_str("says nothing to check"),
            Self::Missing { words } => {
                write!(f, "what it cites does not have: {}", words.join(", "))
            }
            Self::Link => f.write_str("has a link or markup that what it cites does not have"),
            Self::Cut => f.write_str("the reply was cut in it"),
        }
    }
}

/// Judges a reply about passages that the model knows by their numbers, from 1.
///
/// Each sentence is checked by [`check_claims`] against titles and texts of what it cites; what
/// that does not see, this does not see either. On top of it: a sentence without a word of its own
/// says nothing that could be held; links and markup that no cited passage has, verbatim, hold
/// nothing; and of a reply that was `cut` the last sentence counts as unfinished. Nothing of the
/// reply but sentences with words is kept. O(bytes).
#[must_use]
pub fn review(
    tokenizer: &Tokenizer,
    reply: &str,
    cut: bool,
    passages: &[&Passage],
) -> Vec<Judgement> {
    let labels: Vec<String> = (1..=passages.len()).map(|at| at.to_string()).collect();
    let texts: Vec<String> = passages.iter().map(|passage| passage.whole()).collect();
    let sources: Vec<Source<'_>> = labels
        .iter()
        .zip(&texts)
        .map(|(label, text)| Source { label, text })
        .collect();
    let claims = check_claims(tokenizer, reply, &sources);
    let last = claims.len();
    let judged = claims.into_iter().enumerate().map(|(at, claim)| {
        let text = claim.span.slice(reply).unwrap_or_default().trim();
        let mut cites = Vec::new();
        for cited in claim.cites {
            if !cites.contains(&cited) {
                cites.push(cited);
            }
        }
        let cited: Vec<&str> = cites
            .iter()
            .filter_map(|&at| texts.get(at))
            .map(String::as_str)
            .collect();
        let doubt = if cut && at + 1 == last {
            Some(Doubt::Cut)
        } else if has_foreign_link(text, &cited) {
            Some(Doubt::Link)
        } else {
            match claim.support {
                Support::Held if is_bare(tokenizer, text) => Some(Doubt::Missing { words: vec![] }),
                Support::Held => None,
                Support::Uncited => Some(Doubt::Uncited),
                Support::BadMarker { label } => Some(Doubt::NoSuchSource { label }),
                Support::Missing { words } => Some(Doubt::Missing { words }),
            }
        };
        Judgement {
            text: text.to_owned(),
            cites,
            doubt,
        }
    });
    judged.collect()
}

/// Whether a sentence has no word but function words, its markers left out.
fn is_bare(tokenizer: &Tokenizer, text: &str) -> bool {
    let markers: Vec<ByteSpan> = judge_markers(text, &[])
        .into_iter()
        .map(|marker| marker.span)
        .collect();
    !tokenizer.tokens(text).iter().any(|token| {
        !StopWords::Common.contains(&token.text)
            && !markers.iter().any(|marker| marker.contains(token.span))
    })
}

/// Whether a text has a link, an address or a tag that none of the sources has as it stands.
fn has_foreign_link(text: &str, sources: &[&str]) -> bool {
    let known = |part: &str| sources.iter().any(|source| source.contains(part));
    // The text of a Markdown link is no marker's and no claim's, so none passes.
    if text.contains("](") || text.contains("][") && !only_markers(text) {
        return true;
    }
    let lower = text.to_ascii_lowercase();
    let mut words =
        text.split(|c: char| c.is_whitespace() || "()[]{}<>\"'`，。、；）（".contains(c));
    let address = |word: &str| {
        let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?']);
        let lower = word.to_ascii_lowercase();
        let is_one = lower.contains("://")
            || lower.starts_with("//")
            || lower.starts_with("www.")
            || ["javascript:", "data:", "mailto:"].iter().any(|scheme| {
                lower
                    .strip_prefix(scheme)
                    .is_some_and(|rest| !rest.is_empty())
            });
        is_one && !known(word)
    };
    if words.any(address) {
        return true;
    }
    // A tag: `<` before a letter, `/` or `!`.
    lower.match_indices('<').any(|(at, _)| {
        let rest = text.get(at..).unwrap_or_default();
        let opens = rest
            .chars()
            .nth(1)
            .is_some_and(|c| c.is_alphabetic() || c == '/' || c == '!');
        let end = rest.find('>').map_or(rest.len(), |end| end + 1);
        opens && !rest.get(..end).is_some_and(known)
    })
}

/// Whether wherever two brackets meet (`][`) there are numbers in both: `[1][3]`, and not the
/// reference of a link, `[text][1]`.
fn only_markers(text: &str) -> bool {
    text.match_indices("][").all(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + 2..).unwrap_or_default();
        let number =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let left = before.rfind('[').and_then(|open| before.get(open + 1..));
        let right = after.find(']').and_then(|close| after.get(..close));
        left.is_some_and(number) && right.is_some_and(number)
    })
}
