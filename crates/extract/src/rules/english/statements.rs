//! Statements: what a clause says of whom.

use super::super::Collector;
use super::lexicon::{JOINERS, PRONOUNS, RELATIVE};
use super::phrases::{Name, text_of};
use super::scan::{Kind, Token};
use crate::key::entity_key;

/// Reads the statements of one sentence: for each name after the subject, the words before it are
/// the predicate; a name of a list takes the predicate of the list's first; after a comma, words
/// without a verb of their own speak of the name before ("Teutberga, daughter of Boso").
pub(super) fn read(
    sentence: &str,
    tokens: &[Token<'_>],
    names: &[Name],
    title: Option<&str>,
    out: &mut Collector,
) {
    let (subject, mut rest) = subject(tokens, names, title);
    let Some(subject) = subject else {
        return;
    };
    complement(sentence, tokens, &subject, names, out);
    let mut from = rest.first_token; // where the next predicate's words begin
    let mut last: Option<(String, String)> = None; // who and what of the statement before
    let mut last_name: Option<&Name> = None;
    while let Some(name) = names.get(rest.next) {
        rest.next += 1;
        let words = tokens.get(from..name.from).unwrap_or_default();
        let said = predicate(words);
        let (who, what) = match (&last, said.is_empty()) {
            (Some(before), true) => before.clone(),
            (None, true) => (subject.clone(), "of".to_owned()),
            (_, false) => {
                let who = last_name
                    .filter(|_| is_apposition(words))
                    .map_or_else(|| subject.clone(), |before| before.text.clone());
                (who, said)
            }
        };
        out.triple(&who, &what, &name.text);
        let same = entity_key(&who) == entity_key(&name.text);
        if !same {
            let text = format!("{who} {what} {}", name.text);
            out.proposition(text, vec![who.clone(), name.text.clone()]);
        }
        last = Some((who, what));
        if !name.is_number {
            last_name = Some(name);
        }
        from = name.to;
    }
}

struct Rest {
    /// The first name that is not the subject.
    next: usize,
    /// The first token after the subject.
    first_token: usize,
}

/// Of whom the sentence speaks: its first name when it opens the sentence and no comma parts it
/// from the verb, else the passage's title.
fn subject(tokens: &[Token<'_>], names: &[Name], title: Option<&str>) -> (Option<String>, Rest) {
    let none_taken = Rest {
        next: 0,
        first_token: 0,
    };
    let first_word = tokens
        .iter()
        .find(|token| matches!(token.kind, Kind::Capital | Kind::Lower | Kind::Number));
    let is_pronoun =
        first_word.is_some_and(|token| PRONOUNS.contains(&token.text.to_lowercase().as_str()));
    if is_pronoun && title.is_some() {
        let first_token = usize::from(!tokens.is_empty());
        return (
            title.map(str::to_owned),
            Rest {
                next: 0,
                first_token,
            },
        );
    }
    let Some(first) = names.first() else {
        return (title.map(str::to_owned), none_taken);
    };
    let opens = tokens.get(..first.from).is_some_and(|before| {
        before.iter().all(|token| {
            matches!(token.kind, Kind::Quote | Kind::Open)
                || token.text.eq_ignore_ascii_case("the")
                || token.text.eq_ignore_ascii_case("a")
        })
    });
    if !opens || first.is_number {
        return (title.map(str::to_owned), none_taken);
    }
    let taken = Rest {
        next: 1,
        first_token: first.to,
    };
    match title {
        // A part of the title, or a longer form of it, stands for it.
        Some(title) if stands_for(&first.text, title) => (Some(title.to_owned()), taken),
        _ => (Some(first.text.clone()), taken),
    }
}

/// Whether a name at the start of a sentence means the passage's title: one's words are among the
/// other's.
fn stands_for(name: &str, title: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        words
            .map(entity_key)
            .filter(|word| !word.is_empty())
            .collect()
    };
    let (name, title) = (words(name), words(title));
    let within = |short: &[String], long: &[String]| short.iter().all(|word| long.contains(word));
    !name.is_empty() && (within(&name, &title) || within(&title, &name))
}

/// The words of a predicate: what stands in brackets, marks, and joiners at its start are left out.
fn predicate(words: &[Token<'_>]) -> String {
    let mut depth = 0_usize;
    let mut out: Vec<&str> = Vec::new();
    for token in words {
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            Kind::Lower | Kind::Number | Kind::Capital if depth == 0 || words.len() < 4 => {
                let idle = out.is_empty() && JOINERS.contains(&token.text);
                if !idle {
                    out.push(token.text);
                }
            }
            _ => {}
        }
    }
    while out
        .last()
        .is_some_and(|word| *word == "the" || *word == "a" || *word == "an")
    {
        out.pop();
    }
    let skipped = out.len().saturating_sub(12);
    out.get(skipped..).unwrap_or_default().join(" ")
}

/// Whether the words after a comma (or in a bracket) speak of the name before them: a noun phrase
/// with "of" or "by", or a relative clause.
fn is_apposition(words: &[Token<'_>]) -> bool {
    let mut words = words.iter();
    let opens = words
        .next()
        .is_some_and(|token| token.text == "," || token.kind == Kind::Open);
    let mut following = words.filter(|token| matches!(token.kind, Kind::Lower | Kind::Capital));
    let Some(first) = following.next() else {
        return false;
    };
    if !opens {
        return RELATIVE.contains(&first.text);
    }
    let is_verb = first.text.ends_with("ing") || first.text.ends_with("ed");
    let is_joiner = JOINERS.contains(&first.text);
    RELATIVE.contains(&first.text)
        || (!is_verb && !is_joiner && following.any(|token| token.text == "of"))
}

/// "X is a 2000 drama film" says what X is: the noun phrase after the copula, to the first mark,
/// preposition or participle.
fn complement(
    sentence: &str,
    tokens: &[Token<'_>],
    subject: &str,
    names: &[Name],
    out: &mut Collector,
) {
    const COPULAS: [&str; 4] = ["is", "was", "are", "were"];
    const ARTICLES: [&str; 3] = ["a", "an", "the"];
    const STOPS: [&str; 26] = [
        "of",
        "in",
        "on",
        "at",
        "by",
        "for",
        "from",
        "with",
        "to",
        "who",
        "which",
        "that",
        "and",
        "based",
        "directed",
        "written",
        "located",
        "published",
        "released",
        "produced",
        "starring",
        "founded",
        "born",
        "known",
        "where",
        "set",
    ];
    let Some(copula) = tokens
        .iter()
        .position(|token| COPULAS.contains(&token.text))
    else {
        return;
    };
    let Some(article) = tokens.get(copula + 1) else {
        return;
    };
    if !ARTICLES.contains(&article.text) {
        return;
    }
    let from = copula + 2;
    let nouns = tokens.get(from..).unwrap_or_default().iter();
    let length = nouns
        .take(8)
        .take_while(|token| {
            matches!(token.kind, Kind::Lower | Kind::Capital | Kind::Number)
                && !STOPS.contains(&token.text)
        })
        .count();
    let whole_name = names
        .iter()
        .any(|name| name.from == from && name.to == from + length);
    if length == 0 || whole_name {
        return;
    }
    if let Some(what) = text_of(sentence, tokens, from, from + length) {
        out.triple(
            subject,
            tokens.get(copula).map_or("is", |token| token.text),
            &what,
        );
    }
}
