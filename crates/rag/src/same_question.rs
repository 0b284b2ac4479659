//! Whether two questions ask the same, as far as their words show.
//!
//! Vectors do not tell "with" from "without", 2023 from 2024, or who sued whom. So before a similar
//! question's result is taken, everything has to agree that a model passes over:
//!
//! - names, codes and identifiers ([`anchors`](crate::anchors)), and common Chinese names of persons;
//! - numbers, in digits and in words, and signs: a minus, a currency, `>` or `<`;
//! - how often it is negated, and how often it says *only*;
//! - what is asked for: a person, a time, a place, a reason, a quantity;
//! - times that are named from today, such as *last year*;
//! - opposites: where one says *before* the other must not say *after*, nor *invalid* for *valid*;
//! - the order, where the words are the same;
//! - and not all words but one: whether that one is a synonym or another thing, form cannot say.
//!
//! It is made to refuse: a question that is refused costs a search, one that is let through wrongly
//! costs a wrong answer. What it does not see: two names that are neither marked, nor written with a
//! capital, nor known, where more than one word differs.

use std::collections::BTreeSet;

use cornu_pool::SimilarityGuard;
use cornu_text::{Tokenizer, is_han, search_fold};

use crate::anchors::anchors;
use crate::fine_points::{all_words, limits, moments, opposed, signs};
use crate::opposites::{OPPOSITES, SURNAMES};

/// The guard of a cache's second level: names, numbers, negations, opposites and what is asked for
/// have to agree.
///
/// ```
/// use cornu::SameQuestion;
/// use cornu::pool::SimilarityGuard;
/// use cornu::text::Tokenizer;
///
/// let guard = SameQuestion::new(Tokenizer::new());
/// assert!(guard.agree("How are gradients cleared?", "How do I clear the gradients?"));
/// assert!(!guard.agree("Which ports are open?", "Which ports are not open?"));
/// assert!(!guard.agree("2023 年的预算是多少？", "2024 年的预算是多少？"));
/// ```
#[derive(Clone)]
pub struct SameQuestion {
    tokenizer: Tokenizer,
}

impl SameQuestion {
    /// With the tokenizer of the index.
    #[must_use]
    pub fn new(tokenizer: Tokenizer) -> Self {
        Self { tokenizer }
    }

    fn reading(&self, question: &str) -> Reading {
        let folded = search_fold(question).into_owned();
        let words: Vec<String> = self
            .tokenizer
            .tokens(question)
            .into_iter()
            .filter(|token| token.part_of.is_none())
            .map(|token| token.text)
            .collect();
        let names = anchors(&self.tokenizer, question)
            .iter()
            .map(|anchor| search_fold(anchor.text()).into_owned())
            .collect();
        Reading {
            names,
            latin: latin_among_han(&folded, &words),
            persons: persons(&words),
            numbers: numbers(&folded),
            signs: signs(&folded),
            negations: negations(&folded, &words),
            limits: limits(&folded),
            moments: moments(&folded),
            asked: asked(&folded, &words),
            words,
            folded,
        }
    }
}

impl SimilarityGuard for SameQuestion {
    fn agree(&self, asked: &str, kept: &str) -> bool {
        let (one, other) = (self.reading(asked), self.reading(kept));
        one.names == other.names
            && one.latin == other.latin
            && one.persons == other.persons
            && one.numbers == other.numbers
            && one.signs == other.signs
            && one.negations == other.negations
            && one.limits == other.limits
            && one.moments == other.moments
            && one.asked == other.asked
            && !one.opposes(&other)
            && !one.is_rearranged(&other)
            && !one.differs_in_one_word(&other)
    }
}

/// What of a question has to agree with another's.
struct Reading {
    folded: String,
    words: Vec<String>,
    names: Vec<String>,
    latin: BTreeSet<String>,
    persons: BTreeSet<String>,
    numbers: Vec<String>,
    signs: String,
    negations: usize,
    limits: usize,
    moments: BTreeSet<String>,
    asked: BTreeSet<&'static str>,
}

impl Reading {
    /// One has only the one of two opposites, the other only the other.
    fn opposes(&self, other: &Self) -> bool {
        let small = opposed(&all_words(&self.folded), &all_words(&other.folded));
        small
            || OPPOSITES.iter().any(|(left, right)| {
                let has = |of: &Self| (of.says(left), of.says(right));
                matches!(
                    (has(self), has(other)),
                    ((true, false), (false, true)) | ((false, true), (true, false))
                )
            })
    }

    /// A Chinese word anywhere, the beginning of a Latin one.
    fn says(&self, stem: &str) -> bool {
        if stem.chars().all(is_han) {
            self.folded.contains(stem)
        } else {
            self.words.iter().any(|word| word.starts_with(stem))
        }
    }

    /// The same words in another order: perhaps another one does it to somebody else.
    fn is_rearranged(&self, other: &Self) -> bool {
        let sorted = |of: &Self| {
            let mut words = of.words.clone();
            words.sort_unstable();
            words
        };
        self.words != other.words && sorted(self) == sorted(other)
    }

    fn differs_in_one_word(&self, other: &Self) -> bool {
        let (one, other) = (&self.words, &other.words);
        let same = |pairs: (&String, &String)| pairs.0 == pairs.1;
        let before = one.iter().zip(other).take_while(|p| same(*p)).count();
        let after = one
            .iter()
            .rev()
            .zip(other.iter().rev())
            .take_while(|p| same(*p))
            .count();
        one.len() == other.len() && before + after + 1 == one.len()
    }
}

/// In a Chinese question a word in Latin letters is a term or a name.
fn latin_among_han(folded: &str, words: &[String]) -> BTreeSet<String> {
    if !folded.chars().any(is_han) {
        return BTreeSet::new();
    }
    let latin = words
        .iter()
        .filter(|word| word.chars().any(|c| c.is_ascii_alphabetic()));
    latin.cloned().collect()
}

/// Words of two or three characters that begin with a common surname.
fn persons(words: &[String]) -> BTreeSet<String> {
    let named = words.iter().filter(|word| {
        let length = word.chars().count();
        (2..=3).contains(&length)
            && word.chars().all(is_han)
            && word.starts_with(|c| SURNAMES.contains(c))
    });
    named.cloned().collect()
}

/// Digits with their points, Chinese numerals, and English numbers in words, in order.
fn numbers(folded: &str) -> Vec<String> {
    const NUMERALS: &str = "零〇一二三四五六七八九十百千万亿两半壹贰叁肆伍陆柒捌玖拾佰仟廿卅";
    const WORDS: &[&str] = &[
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
        "twenty",
        "thirty",
        "forty",
        "fifty",
        "sixty",
        "seventy",
        "eighty",
        "ninety",
        "first",
        "second",
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
        "tenth",
        "eleventh",
        "twelfth",
        "once",
        "twice",
        "thrice",
        "half",
        "quarter",
        "dozen",
        "couple",
        "hundred",
        "thousand",
        "million",
        "billion",
        "trillion",
        "single",
        "double",
        "triple",
    ];
    let mut out = Vec::new();
    for is_part in [
        |c: char| c.is_numeric() && !NUMERALS.contains(c) || matches!(c, '.' | '%'),
        |c: char| NUMERALS.contains(c),
    ] {
        let runs = folded.split(|c| !is_part(c));
        let runs = runs.map(|run| run.trim_matches('.'));
        out.extend(runs.filter(|run| !run.is_empty()).map(str::to_owned));
    }
    // Some of them are stop words.
    let written = folded.split(|c: char| !c.is_alphanumeric());
    out.extend(
        written
            .filter(|word| WORDS.contains(word))
            .map(str::to_owned),
    );
    out
}

fn negations(folded: &str, words: &[String]) -> usize {
    const WORDS: [&str; 19] = [
        "not",
        "no",
        "never",
        "without",
        "none",
        "nor",
        "neither",
        "nothing",
        "nobody",
        "cannot",
        "except",
        "unless",
        "exclude",
        "excludes",
        "excluding",
        "lack",
        "lacks",
        "hardly",
        "non",
    ];
    // With the apostrophe left out.
    const SHORT: [&str; 17] = [
        "dont", "doesnt", "didnt", "cant", "couldnt", "wont", "wouldnt", "shouldnt", "mustnt",
        "isnt", "arent", "wasnt", "werent", "hasnt", "havent", "hadnt", "neednt",
    ];
    const STEMS: [&str; 6] = ["refus", "forbid", "prohibit", "fail", "deny", "deni"];
    const HAN: &str = "不没無无非未别勿莫否除禁拒免缺";
    let english = words.iter().filter(|word| {
        WORDS.contains(&word.as_str())
            || SHORT.contains(&word.as_str())
            || STEMS.iter().any(|stem| word.starts_with(stem))
            || word.ends_with("n't")
            || word.ends_with("n’t")
    });
    let characters: Vec<char> = folded.chars().collect();
    let han = characters.iter().enumerate().filter(|(at, c)| {
        let before = at.checked_sub(1).and_then(|at| characters.get(at));
        // 能不能, 是否 ask and deny nothing.
        let asks = **c == '否' && before.is_some_and(|c| "是能可会应".contains(*c))
            || before.is_some() && before == characters.get(at + 1);
        HAN.contains(**c) && !asks
    });
    english.count() + han.count()
}

/// What kinds of thing are asked for, where the question says so.
fn asked(folded: &str, words: &[String]) -> BTreeSet<&'static str> {
    const KINDS: [(&str, &[&str]); 5] = [
        ("person", &["who", "whom", "whose", "谁", "何人"]),
        (
            "time",
            &[
                "when",
                "何时",
                "什么时候",
                "哪年",
                "哪一年",
                "几点",
                "哪天",
                "几月",
                "多久",
            ],
        ),
        ("place", &["where", "哪里", "哪儿", "何处", "何地", "在哪"]),
        ("reason", &["why", "为什么", "为何", "原因", "为啥"]),
        (
            "quantity",
            &[
                "many", "much", "多少", "几个", "几次", "多大", "多高", "多长",
            ],
        ),
    ];
    let says = |word: &&str| match word.chars().all(is_han) {
        true => folded.contains(*word),
        false => words.iter().any(|other| other == word),
    };
    let kinds = KINDS.iter().filter(|(_, words)| words.iter().any(&says));
    kinds.map(|(kind, _)| *kind).collect()
}
