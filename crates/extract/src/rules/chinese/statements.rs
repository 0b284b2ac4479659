//! Statements: what a clause says of whom.

use super::super::Collector;
use super::names::Name;
use super::words::ends_clause;

/// Words at a clause's start that stand for the passage's subject.
const PRONOUNS: [&str; 14] = [
    "该公司",
    "本公司",
    "这家公司",
    "公司",
    "该行",
    "该校",
    "该院",
    "他们",
    "她们",
    "它们",
    "他",
    "她",
    "它",
    "其",
];

/// Words that are no predicate.
const IDLE: [&str; 12] = [
    "、", "和", "与", "及", "以及", "或", "，", ",", "的", "”", "“", "》",
];

/// Reads the statements of one sentence: for each name after a clause's subject, the words before
/// it are the predicate; a name of a list takes the predicate of the list's first.
pub(super) fn read(sentence: &str, names: &[Name], title: Option<&str>, out: &mut Collector) {
    let mut subject: Option<String> = title.map(str::to_owned);
    for (start, end) in clauses(sentence) {
        let inside: Vec<&Name> = names
            .iter()
            .filter(|name| name.start >= start && name.end <= end)
            .collect();
        let clause = sentence.get(start..end).unwrap_or_default();
        let lead = clause.len() - clause.trim_start().len();
        let opening = clause.get(lead..).unwrap_or_default();
        let mut from = start + lead;
        let mut rest = inside.as_slice();
        let pronoun = PRONOUNS.iter().find(|word| opening.starts_with(**word));
        if let Some(pronoun) = pronoun {
            from += pronoun.len();
            subject = title.map(str::to_owned).or(subject);
        } else if let [first, tail @ ..] = rest {
            let before = sentence.get(from..first.start).unwrap_or_default();
            // The subject stands first, where no verb is before it.
            if before.trim_matches(['《', '“', '「', '『', ' ']).is_empty() && !first.is_number
            {
                subject = Some(first.text.clone());
                from = first.end;
                rest = tail;
            }
        }
        if let Some(subject) = &subject {
            say(sentence, subject, from, rest, end, out);
        }
    }
}

fn say(
    sentence: &str,
    subject: &str,
    mut from: usize,
    names: &[&Name],
    end: usize,
    out: &mut Collector,
) {
    let mut last: Option<String> = None;
    for (at, name) in names.iter().enumerate() {
        let said = predicate(sentence.get(from..name.start).unwrap_or_default());
        let what = match (said.is_empty(), &last) {
            (false, _) => said,
            (true, Some(before)) => before.clone(),
            (true, None) => "的".to_owned(),
        };
        out.triple(subject, &what, &name.text);
        // What follows the last name belongs to the statement: "使乙分解为丙" names the verb late.
        let next = names.get(at + 1).map_or(end, |next| next.start);
        let tail = sentence.get(name.end..next).unwrap_or_default();
        let text = format!(
            "{subject}{what}{}{}",
            name.text,
            tail.trim_end_matches(['、', '，'])
        );
        if subject != name.text {
            out.proposition(text, vec![subject.to_owned(), name.text.clone()]);
        }
        last = Some(what);
        from = name.end;
    }
}

/// The words between two names, bare of joiners and marks at both ends.
fn predicate(words: &str) -> String {
    let mut bare = words.trim();
    loop {
        let shorter = IDLE
            .iter()
            .fold(bare, |bare, idle| bare.strip_prefix(idle).unwrap_or(bare))
            .trim_start_matches(['（', '(', '）', ')', '：', ':', ' ', '《', '「', '。']);
        let shorter = shorter.trim_end_matches(['（', '(', '《', '“', '「', '：', ' ', '。']);
        if shorter == bare {
            return bare.to_owned();
        }
        bare = shorter;
    }
}

/// The clauses of a sentence, in bytes.
fn clauses(sentence: &str) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut start = 0;
    for (at, c) in sentence.char_indices() {
        if ends_clause(c) {
            out.push((start, at));
            start = at + c.len_utf8();
        }
    }
    out.push((start, sentence.len()));
    out.retain(|(start, end)| start < end);
    out
}
