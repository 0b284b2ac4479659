//! Answers as a chat model might write them, with one claim each that is true or planted, and
//! whether [`check_claims`] flags it.
//!
//! A base claim is a sentence of the corpus that holds a question's evidence, or the question's
//! reference answer, which a writer put in words of their own. What is planted is made from a base
//! claim by rules that know nothing of the checker's. Nothing is drawn at random.

use std::ops::Range;

use cornu::claims::{Source, Support, check_claims};
use cornu_eval::questions::Question;
use cornu_text::{StopWords, Tokenizer, is_cjk, sentences};

use crate::live::Live;

/// What stands in the place of the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// True: a sentence of the source.
    Quoted,
    /// True: the reference answer, in other words than the source's.
    Reworded,
    /// A number of a quoted claim is another, which the source does not hold.
    Number,
    /// A number of a quoted claim is another that the source holds elsewhere.
    NumberOfSource,
    /// A name, code or identifier of a quoted claim is one of another document.
    Name,
    /// The longest other word of a quoted claim is one of another document.
    Word,
    /// A quoted claim cites another document.
    WrongSource,
    /// A quoted claim cites a source that is not there.
    BadMarker,
    /// A quoted claim cites nothing.
    Uncited,
    /// A quoted claim is negated.
    Negated,
    /// Two names of a quoted claim have changed places.
    Swapped,
}

impl Kind {
    /// All of them, the true ones first.
    pub const ALL: [Self; 11] = [
        Self::Quoted,
        Self::Reworded,
        Self::Number,
        Self::NumberOfSource,
        Self::Name,
        Self::Word,
        Self::WrongSource,
        Self::BadMarker,
        Self::Uncited,
        Self::Negated,
        Self::Swapped,
    ];

    /// The name of its row.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Quoted => "true-quoted",
            Self::Reworded => "true-reworded",
            Self::Number => "number",
            Self::NumberOfSource => "number-of-source",
            Self::Name => "name",
            Self::Word => "word",
            Self::WrongSource => "wrong-source",
            Self::BadMarker => "bad-marker",
            Self::Uncited => "uncited",
            Self::Negated => "negated",
            Self::Swapped => "swapped-names",
        }
    }
}

/// A true claim, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// A sentence of the source; empty where the evidence is no prose.
    pub quoted: String,
    /// The reference answer.
    pub reworded: String,
    /// The chunk that holds the evidence.
    pub source: String,
    /// Its document.
    pub doc: String,
}

/// The base claims of the questions that hang on one piece of evidence, in their order.
#[must_use]
pub fn bases(live: &Live, questions: &[&Question]) -> Vec<Base> {
    let mut out = Vec::new();
    for question in questions
        .iter()
        .filter(|question| question.evidence.len() == 1)
    {
        let gold = live.gold(question);
        let holders = gold.iter().flatten().filter_map(|id| live.chunks.get(id));
        let Some(chunk) = holders.min_by_key(|chunk| (&chunk.doc, chunk.span)) else {
            continue; // The evidence stands in what is not indexed.
        };
        let phrases = question.evidence.iter().flatten();
        let quoted = phrases
            .filter_map(|alternative| sentence_with(&chunk.text, &alternative.phrase))
            .next()
            .unwrap_or_default();
        let answer = question.answer.as_deref().unwrap_or_default();
        out.push(Base {
            quoted,
            reworded: bare(answer).unwrap_or_default(),
            source: chunk.text.clone(),
            doc: chunk.doc.to_string(),
        });
    }
    out
}

/// A chat answer of three cited sentences, and where the one in question stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The whole text.
    pub text: String,
    /// The bytes of the claim in question.
    pub claim: Range<usize>,
    /// Sources `1`, `2` and `3`.
    pub sources: [String; 3],
}

/// The answer with a claim of this kind, where the base claim allows one.
#[must_use]
pub fn plant(bases: &[Base], at: usize, kind: Kind) -> Option<Answer> {
    let base = bases.get(at)?;
    let quotable = |other: &&Base| !other.quoted.is_empty() && other.doc != base.doc;
    let mut others = rotated(bases, at).filter(quotable);
    let (before, after) = (others.next()?, others.next()?);
    let others = || rotated(bases, at).filter(quotable);
    let (claim, marker) = match kind {
        Kind::Reworded => (base.reworded.clone(), "1"),
        _ if base.quoted.is_empty() => return None,
        Kind::Quoted => (base.quoted.clone(), "1"),
        Kind::Number => (other_number(&base.quoted, &base.source)?, "1"),
        Kind::NumberOfSource => (number_of(&base.quoted, &base.source)?, "1"),
        Kind::Name => {
            let range = names(&base.quoted).into_iter().next()?;
            let found = others().find_map(|other| {
                let names = names(&other.quoted).into_iter();
                let mut texts = names.filter_map(|range| other.quoted.get(range));
                texts.find(|name| is_absent(name, &base.source))
            })?;
            (replaced(&base.quoted, range, found), "1")
        }
        Kind::Word => {
            let range = longest_word(&base.quoted)?;
            let is_han = base.quoted.get(range.clone())?.chars().all(is_cjk);
            let found = others().find_map(|other| {
                let word = other.quoted.get(longest_word(&other.quoted)?)?;
                let fits = word.chars().all(is_cjk) == is_han && is_absent(word, &base.source);
                fits.then_some(word)
            })?;
            (replaced(&base.quoted, range, found), "1")
        }
        Kind::WrongSource => (base.quoted.clone(), "2"),
        Kind::BadMarker => (base.quoted.clone(), "9"),
        Kind::Uncited => (base.quoted.clone(), ""),
        Kind::Negated => (negated(&base.quoted), "1"),
        Kind::Swapped => (swapped(&base.quoted)?, "1"),
    };
    if claim.is_empty() {
        return None;
    }
    let mut text = cited(&before.quoted, "2");
    let start = text.len();
    text.push_str(&cited(&claim, marker));
    let claim = start..text.len();
    text.push_str(&cited(&after.quoted, "3"));
    let sources = [&base.source, &before.source, &after.source].map(Clone::clone);
    Some(Answer {
        text,
        claim,
        sources,
    })
}

/// Whether the checker lets the claim in question not pass.
#[must_use]
pub fn is_flagged(tokenizer: &Tokenizer, answer: &Answer) -> bool {
    let labels = ["1", "2", "3"];
    let sources: Vec<Source<'_>> = labels
        .iter()
        .zip(&answer.sources)
        .map(|(label, text)| Source { label, text })
        .collect();
    check_claims(tokenizer, &answer.text, &sources)
        .iter()
        .filter(|claim| {
            claim.span.start() < answer.claim.end && answer.claim.start < claim.span.end()
        })
        .any(|claim| claim.support != Support::Held)
}

/// All but one, those behind it first.
fn rotated(bases: &[Base], at: usize) -> impl Iterator<Item = &Base> {
    let (before, rest) = bases.split_at(at);
    rest.iter().skip(1).chain(before)
}

/// A sentence with its marker before the full stop, and a space behind.
fn cited(claim: &str, marker: &str) -> String {
    let stop = if claim.chars().any(is_cjk) {
        "。"
    } else {
        "."
    };
    let marker = match marker {
        "" => String::new(),
        label => format!(" [{label}]"),
    };
    format!("{claim}{marker}{stop} ")
}

/// The sentence of a text that holds a phrase, if it is prose of one line.
fn sentence_with(text: &str, phrase: &str) -> Option<String> {
    let at = text.find(phrase)?;
    let span = sentences(text).find(|span| span.range().contains(&at))?;
    let sentence = span.slice(text)?.trim();
    let prose = !sentence.contains('\n') && !sentence.starts_with(['|', '#', '`', '-', '>']);
    prose.then(|| bare(sentence)).flatten()
}

/// Without its full stop; nothing where brackets of its own would read as markers.
fn bare(sentence: &str) -> Option<String> {
    let stops = ['。', '.', '！', '!', '？', '?', '；', ';', '：', ':', ' '];
    let sentence = sentence.trim().trim_end_matches(stops);
    let one = sentences(sentence).count() == 1;
    (one && !sentence.contains(['[', ']'])).then(|| sentence.to_owned())
}

fn is_absent(word: &str, source: &str) -> bool {
    !source.to_lowercase().contains(&word.to_lowercase())
}

fn replaced(text: &str, range: Range<usize>, by: &str) -> String {
    let mut out = text.to_owned();
    out.replace_range(range, by);
    out
}

/// The longest run of digits counted up until the source does not hold it.
fn other_number(claim: &str, source: &str) -> Option<String> {
    let range = longest_number(claim)?;
    let written = claim.get(range.clone())?;
    let value: u64 = written.parse().ok()?;
    let width = written.len();
    let other = (1..100)
        .map(|step| format!("{:0width$}", value.saturating_add(step)))
        .find(|other| is_absent(other, source))?;
    Some(replaced(claim, range, &other))
}

/// The longest run of digits replaced by the first of the source that the claim does not hold.
fn number_of(claim: &str, source: &str) -> Option<String> {
    let range = longest_number(claim)?;
    let numbers = runs(source, |c| c.is_ascii_digit()).into_iter();
    let other = numbers
        .filter_map(|range| source.get(range))
        .find(|other| is_absent(other, claim))?;
    Some(replaced(claim, range, other))
}

/// The first of the longest.
fn longest_number(claim: &str) -> Option<Range<usize>> {
    let numbers = runs(claim, |c| c.is_ascii_digit()).into_iter();
    numbers.rev().max_by_key(ExactSizeIterator::len)
}

/// Words in Latin letters that look like names, codes or identifiers, each place once.
fn names(claim: &str) -> Vec<Range<usize>> {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let is_name = |word: &str, at_start: bool| {
        let inner = word
            .chars()
            .skip(1)
            .any(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        let capital = word.starts_with(|c: char| c.is_ascii_uppercase()) && !at_start;
        word.len() >= 3 && word.starts_with(|c: char| c.is_ascii_alphabetic()) && (inner || capital)
    };
    runs(claim, part)
        .into_iter()
        .filter(|range| {
            let word = claim.get(range.clone()).unwrap_or_default();
            is_name(word, range.start == 0)
        })
        .collect()
}

/// The longest word that is no name, number or function word: the first of equal ones.
fn longest_word(claim: &str) -> Option<Range<usize>> {
    let names = names(claim);
    Tokenizer::new()
        .tokens(claim)
        .into_iter()
        .filter(|token| {
            let range = token.span.range();
            let in_name = names
                .iter()
                .any(|name| name.start < range.end && range.start < name.end);
            let letters = token.text.chars().all(char::is_alphabetic);
            let least = if token.text.chars().all(is_cjk) { 2 } else { 5 };
            letters
                && !in_name
                && token.part_of.is_none()
                && token.text.chars().count() >= least
                && !StopWords::Common.contains(&token.text)
        })
        .map(|token| token.span.range())
        .rev()
        .max_by_key(ExactSizeIterator::len)
}

fn negated(claim: &str) -> String {
    if claim.chars().any(is_cjk) {
        format!("并非{claim}")
    } else {
        format!("It is not true that {claim}")
    }
}

/// The first name, and the last that is another, change places.
fn swapped(claim: &str) -> Option<String> {
    let names = names(claim);
    let first = names.first()?.clone();
    let one = claim.get(first.clone())?;
    let last = names
        .iter()
        .rev()
        .find(|range| claim.get((*range).clone()) != Some(one))?
        .clone();
    let other = claim.get(last.clone())?;
    Some(replaced(&replaced(claim, last, one), first, other))
}

/// Maximal runs of such characters.
fn runs(text: &str, belongs: impl Fn(char) -> bool) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for (at, c) in text.char_indices().filter(|(_, c)| belongs(*c)) {
        match out.last_mut() {
            Some(run) if run.end == at => run.end += c.len_utf8(),
            _ => out.push(at..at + c.len_utf8()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(doc: &str, quoted: &str, source: &str) -> Base {
        Base {
            quoted: quoted.to_owned(),
            reworded: "它有六十四张卡".to_owned(),
            source: source.to_owned(),
            doc: doc.to_owned(),
        }
    }

    fn bases() -> Vec<Base> {
        vec![
            base(
                "a.md",
                "The cluster Heron has 64 GPUs and runs NCCL",
                "The cluster Heron has 64 GPUs and runs NCCL. It had 65 outages.",
            ),
            base(
                "b.md",
                "Replicas of Lantern need 24 gigabytes",
                "Replicas of Lantern need 24 gigabytes.",
            ),
            base(
                "c.md",
                "The policy of Kestrel was signed yesterday",
                "The policy of Kestrel was signed yesterday.",
            ),
        ]
    }

    fn claim(kind: Kind) -> (String, bool) {
        let answer = plant(&bases(), 0, kind).unwrap();
        let flagged = is_flagged(&Tokenizer::new(), &answer);
        (answer.text[answer.claim].to_owned(), flagged)
    }

    #[test]
    fn each_kind_changes_what_it_says_it_does() {
        let expected = [
            (
                Kind::Quoted,
                "The cluster Heron has 64 GPUs and runs NCCL [1]. ",
                false,
            ),
            // 65 stands in the source.
            (
                Kind::Number,
                "The cluster Heron has 66 GPUs and runs NCCL [1]. ",
                true,
            ),
            (
                Kind::Name,
                "The cluster Lantern has 64 GPUs and runs NCCL [1]. ",
                true,
            ),
            (
                Kind::WrongSource,
                "The cluster Heron has 64 GPUs and runs NCCL [2]. ",
                true,
            ),
            (
                Kind::BadMarker,
                "The cluster Heron has 64 GPUs and runs NCCL [9]. ",
                true,
            ),
            (
                Kind::Uncited,
                "The cluster Heron has 64 GPUs and runs NCCL. ",
                true,
            ),
            // What the checker does not see.
            (
                Kind::NumberOfSource,
                "The cluster Heron has 65 GPUs and runs NCCL [1]. ",
                false,
            ),
            (
                Kind::Word,
                "The gigabytes Heron has 64 GPUs and runs NCCL [1]. ",
                false,
            ),
            (
                Kind::Swapped,
                "The cluster NCCL has 64 GPUs and runs Heron [1]. ",
                false,
            ),
        ];
        for (kind, text, flagged) in expected {
            assert_eq!(claim(kind), (text.to_owned(), flagged), "{kind:?}");
        }
        assert_eq!(claim(Kind::Reworded).0, "它有六十四张卡 [1]。 ");
        assert!(
            claim(Kind::Negated)
                .0
                .starts_with("It is not true that The cluster")
        );
    }

    #[test]
    fn a_claim_that_allows_no_such_change_gives_none() {
        let mut bases = bases();
        bases[0].quoted = "nothing here has a value".to_owned();
        for kind in [Kind::Number, Kind::Name, Kind::Swapped] {
            assert_eq!(plant(&bases, 0, kind), None, "{kind:?}");
        }
        bases[0].quoted.clear();
        assert_eq!(plant(&bases, 0, Kind::Quoted), None);
        assert!(plant(&bases, 0, Kind::Reworded).is_some());
    }

    #[test]
    fn only_prose_is_quoted() {
        let text =
            "# Title\n\nFirst one. The second holds 3 of them.\n\n| a | 7 cells |\n|---|---|\n";
        assert_eq!(
            sentence_with(text, "holds 3").as_deref(),
            Some("The second holds 3 of them")
        );
        assert_eq!(sentence_with(text, "7 cells"), None);
        assert_eq!(bare("see [1]."), None);
    }
}
