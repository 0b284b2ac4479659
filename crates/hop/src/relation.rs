//! What a question asks of a name: words that a question and a fact share.

use std::collections::BTreeSet;
use std::sync::Arc;

use cornu_extract::key_words;

/// Endings that are cut, longest first where they overlap. So `director`, `directed` and
/// `direction` meet, which Porter's rules keep apart: they are made to keep meanings apart, here
/// a noun of agency and its verb ask for the same.
const ENDINGS: [&str; 17] = [
    "ations", "ation", "ators", "ator", "ings", "ing", "ions", "ion", "ers", "ors", "er", "or",
    "ed", "es", "s", "al", "e",
];

/// Words that say nothing about what is asked.
const FUNCTION: [&str; 63] = [
    "a", "an", "and", "are", "as", "at", "be", "been", "both", "by", "did", "do", "does", "first",
    "for", "from", "had", "has", "have", "he", "her", "his", "how", "in", "is", "it", "its", "of",
    "on", "or", "same", "she", "than", "that", "the", "their", "they", "this", "to", "was", "were",
    "what", "when", "where", "which", "who", "whom", "whose", "why", "will", "with", "的", "了",
    "是", "在", "和", "与", "及", "哪", "谁", "什", "么", "何",
];

/// The stem of a folded word.
pub(crate) fn stem(word: &str) -> &str {
    let bare = ENDINGS
        .iter()
        .filter_map(|ending| word.strip_suffix(ending))
        .find(|bare| bare.len() >= 4);
    let bare = bare.unwrap_or(word);
    let mut last = bare.chars().rev();
    match (last.next(), last.next()) {
        (Some('e'), _) if bare.len() > 4 => bare.get(..bare.len() - 1).unwrap_or(bare),
        // "starring" and "star"; "press" stays.
        (Some(one), Some(two)) if one == two && one.is_ascii_alphabetic() && one != 's' => {
            bare.get(..bare.len() - 1).unwrap_or(bare)
        }
        _ => bare,
    }
}

/// The stems of a text's words, without function words and numbers.
pub(crate) fn stems(text: &str) -> BTreeSet<String> {
    let words = key_words(text);
    words
        .iter()
        .map(|word| word.key.as_str())
        .filter(|key| !FUNCTION.contains(key) && !key.starts_with(|c: char| c.is_numeric()))
        .map(|key| stem(key).to_owned())
        .collect()
}

/// Numbers of stems, and in how many facts of the view each stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Vocabulary {
    /// In the order of the stems.
    numbers: Vec<(Arc<str>, u32)>,
    counts: Vec<u32>,
    facts: usize,
}

impl Vocabulary {
    /// Of stems in their order with their numbers, and by number the facts that each stands in.
    pub(crate) fn new(numbers: Vec<(Arc<str>, u32)>, counts: Vec<u32>, facts: usize) -> Self {
        Self {
            numbers,
            counts,
            facts,
        }
    }

    /// The numbers of the stems that a question shares with some fact.
    pub(crate) fn known(&self, stems: &BTreeSet<String>) -> BTreeSet<u32> {
        let number = |stem: &String| {
            let at = self
                .numbers
                .binary_search_by(|(other, _)| (**other).cmp(stem));
            self.numbers.get(at.ok()?).map(|(_, number)| *number)
        };
        stems.iter().filter_map(number).collect()
    }

    /// ln(1 + facts / (1 + facts with the stem)): rare words say more.
    pub(crate) fn weight(&self, number: u32) -> f64 {
        let count = self.counts.get(number as usize).copied().unwrap_or(0);
        (1.0 + self.facts as f64 / (1.0 + f64::from(count))).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn a_noun_of_agency_and_its_verb_meet() {
        for words in [
            &["director", "directed", "directing", "directors"][..],
            &["composer", "composed", "compose"],
            &["star", "starring", "starred"],
            &["performer", "performed"],
            &["founder", "founded"],
            &["marriage", "marriages"],
        ] {
            let stems: Vec<&str> = words.iter().map(|word| stem(word)).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{stems:?}");
        }
        assert_ne!(stem("press"), stem("presence"));
        assert_eq!(stem("作"), "作");
    }
}
