//! Extraction by rules: no model, no training, the same output everywhere.
//!
//! English: capitalised phrases, quoted titles, dates and amounts are names; each clause gives a
//! statement for every name in it, whose predicate is the words before the name; a pronoun, or a
//! part of the title, at a sentence's start stands for the passage's title. Chinese: jieba's
//! part-of-speech tags and suffixes give companies, people, places and titles; products stand in
//! book title marks or quotation marks; a clause's verb or `是`/`为` parts subject and object.

mod chinese;
mod english;

use std::collections::BTreeSet;

use cornu_core::{Extraction, Extractor, Fingerprint, Proposition, ProviderError, Triple};
use cornu_text::{is_han, sentences};
use rayon::prelude::*;

/// The version of the rules: another number, another fingerprint.
const RULES: u32 = 2;

/// Reads entities, triples and propositions by rules.
///
/// A first line that is short and no sentence is the passage's title (see [`split_title`]): it is
/// the first entity, and what the passage's pronouns stand for. A sentence with as many Chinese
/// characters as other letters is read by the Chinese rules, any other by the English ones, so
/// mixed passages work.
///
/// Entities are in order of appearance, without repeats. A proposition is a sentence's clause,
/// headed by its subject where that is not in it. O(bytes · log names); the first Chinese passage of a process
/// loads jieba's dictionary.
///
/// ```
/// use cornu_core::Extractor;
/// use cornu_extract::RuleExtractor;
///
/// let text = "甲公司\n甲公司由李伟于2009年创立，总部位于杭州市。";
/// let found = &RuleExtractor::new().extract(&[text])?[0];
/// assert!(found.entities.iter().any(|name| name == "李伟"));
/// # Ok::<(), cornu_core::ProviderError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RuleExtractor {
    fingerprint: Fingerprint,
}

impl RuleExtractor {
    /// The extractor. It has no settings.
    #[must_use]
    pub fn new() -> Self {
        Self {
            fingerprint: Fingerprint::new("cornu-extract rules").with("rules", RULES),
        }
    }

    /// What one text says.
    #[must_use]
    pub fn read(&self, text: &str) -> Extraction {
        let (title, body) = split_title(text);
        let mut out = Collector::default();
        if let Some(title) = title {
            out.entity(title);
        }
        for span in sentences(body) {
            let Some(sentence) = span.slice(body).map(str::trim) else {
                continue;
            };
            if is_chinese(sentence) {
                chinese::read(sentence, title, &mut out);
            } else {
                english::read(sentence, title, &mut out);
            }
        }
        out.extraction
    }
}

impl Default for RuleExtractor {
    fn default() -> Self {
        Self::new()
    }
}

impl Extractor for RuleExtractor {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn extract(&self, texts: &[&str]) -> Result<Vec<Extraction>, ProviderError> {
        Ok(texts.par_iter().map(|text| self.read(text)).collect())
    }
}

/// Parts a passage into its title and the rest. The title is the first line when it holds a letter,
/// has at most 120 characters, something stands below it, and it does not end as a sentence does; a
/// Markdown heading's marks are left out.
///
/// ```
/// use cornu_extract::split_title;
/// assert_eq!(split_title("# Rome\n\nRome is a city."), (Some("Rome"), "Rome is a city."));
/// assert_eq!(split_title("Rome is a city.\nIt is old.").0, None);
/// ```
#[must_use]
pub fn split_title(text: &str) -> (Option<&str>, &str) {
    let trimmed = text.trim_start();
    let Some((first, rest)) = trimmed.split_once('\n') else {
        return (None, text);
    };
    let title = first.trim_start_matches('#').trim();
    let ends_open = !title.ends_with(['.', '。', '!', '！', '?', '？', ';', '；', ':', '：'])
        || title.split_whitespace().count() <= 3
        || first.starts_with('#');
    let is_title = ends_open
        && title.chars().any(char::is_alphanumeric)
        && title.chars().count() <= 120
        && !rest.trim().is_empty();
    if is_title {
        (Some(title), rest.trim_start())
    } else {
        (None, text)
    }
}

fn is_chinese(sentence: &str) -> bool {
    let (mut han, mut words, mut in_word) = (0_usize, 0_usize, false);
    for c in sentence.chars() {
        if is_han(c) {
            han += 1;
        }
        let letter = c.is_alphabetic() && !is_han(c);
        words += usize::from(letter && !in_word);
        in_word = letter;
    }
    han > 0 && han >= words
}

/// Gathers an extraction in order, without repeats.
#[derive(Default)]
struct Collector {
    extraction: Extraction,
    entities: BTreeSet<String>,
    triples: BTreeSet<Triple>,
    propositions: BTreeSet<Proposition>,
}

impl Collector {
    fn entity(&mut self, name: &str) {
        if self.entities.insert(name.to_owned()) {
            self.extraction.entities.push(name.to_owned());
        }
    }

    fn triple(&mut self, subject: &str, predicate: &str, object: &str) {
        let triple = Triple {
            subject: subject.to_owned(),
            predicate: predicate.to_owned(),
            object: object.to_owned(),
        };
        let empty = subject.is_empty() || predicate.is_empty() || object.is_empty();
        if !empty && subject != object && self.triples.insert(triple.clone()) {
            self.extraction.triples.push(triple);
        }
    }

    fn proposition(&mut self, text: String, entities: Vec<String>) {
        let proposition = Proposition { text, entities };
        if self.propositions.insert(proposition.clone()) {
            self.extraction.propositions.push(proposition);
        }
    }
}
