//! Questions that a passage answers, and questions that it raises.

use std::collections::BTreeSet;

use cornu_core::Extraction;
use cornu_text::is_han;

use crate::key::entity_key;

/// The questions of one passage.
///
/// See [`questions`] for an example.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Questions {
    /// What the passage answers.
    pub answerable: Vec<String>,
    /// What it raises and does not answer.
    pub pending: Vec<String>,
}

/// Makes questions of what was read from a passage, without a model: each triple answers what its
/// subject's predicate leads to; each name that is not the passage's own raises what it is. In
/// order, without repeats. O(n log n) in triples and names.
///
/// ```
/// use cornu_extract::{RuleExtractor, questions};
/// let text = "Changed It\nChanged It is a song performed by Nicki Minaj.";
/// let made = questions(Some("Changed It"), &RuleExtractor::new().read(text));
/// assert_eq!(made.answerable[0], "What is Changed It?");
/// assert_eq!(made.answerable[2], "Changed It is a song performed by what?");
/// assert_eq!(made.pending, ["What is Nicki Minaj?"]);
/// ```
#[must_use]
pub fn questions(title: Option<&str>, extraction: &Extraction) -> Questions {
    let mut made = Questions::default();
    let (mut answers, mut raised) = (BTreeSet::new(), BTreeSet::new());
    let own = title.map(entity_key);
    let mut answerable = |question: String| {
        if answers.insert(question.clone()) {
            made.answerable.push(question);
        }
    };
    if let Some(title) = title {
        answerable(what_is(title));
    }
    for triple in &extraction.triples {
        let (subject, predicate) = (&triple.subject, &triple.predicate);
        answerable(if subject.chars().any(is_han) {
            format!("{subject}{predicate}什么？")
        } else {
            format!("{subject} {predicate} what?")
        });
    }
    for name in &extraction.entities {
        let begins_with_digit = name.starts_with(|c: char| c.is_numeric());
        if own.as_ref() != Some(&entity_key(name)) && !begins_with_digit {
            let question = what_is(name);
            if raised.insert(question.clone()) {
                made.pending.push(question);
            }
        }
    }
    made
}

fn what_is(name: &str) -> String {
    if name.chars().any(is_han) {
        format!("{name}是什么？")
    } else {
        format!("What is {name}?")
    }
}
