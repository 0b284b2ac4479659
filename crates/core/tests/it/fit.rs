//! `TokenCounter::fit` against the counts of all prefixes.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use cornu_core::{Fingerprint, TokenCounter};
use proptest::prelude::*;

/// Words between spaces, CJK characters singly: counts grow with the prefix.
struct Words(Fingerprint);

impl TokenCounter for Words {
    fn fingerprint(&self) -> &Fingerprint {
        &self.0
    }
    fn count(&self, text: &str) -> usize {
        let mut inside = false;
        let mut count = 0;
        for letter in text.chars() {
            let single = ('\u{4e00}'..='\u{9fff}').contains(&letter);
            count += usize::from(single || (!letter.is_whitespace() && !inside));
            inside = !single && !letter.is_whitespace();
        }
        count
    }
}

/// "abcd" is one token, any other letter is one: a prefix may count up to two more.
struct Merging(Fingerprint);

impl TokenCounter for Merging {
    fn fingerprint(&self) -> &Fingerprint {
        &self.0
    }
    fn count(&self, text: &str) -> usize {
        text.chars().count() - 3 * text.matches("abcd").count()
    }
    fn slack(&self) -> usize {
        2
    }
}

fn boundaries(text: &str) -> Vec<usize> {
    (0..=text.len())
        .filter(|&at| text.is_char_boundary(at))
        .collect()
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "abcd", "ab", "cd", " ", "  ", "中", "é", "🔒", "\n",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn without_slack_fit_is_the_longest_prefix(text in text(), limit in 0_usize..40) {
        let counter = Words(Fingerprint::new("words"));
        let fits = |end: &usize| counter.count(&text[..*end]) <= limit;
        let longest = boundaries(&text).into_iter().filter(fits).max();
        prop_assert_eq!(Some(counter.fit(&text, limit)), longest);
    }

    #[test]
    fn with_slack_fit_holds_and_could_not_be_a_character_longer(
        text in text(),
        limit in 0_usize..40,
    ) {
        let counter = Merging(Fingerprint::new("merging"));
        let ends = boundaries(&text);
        let end = counter.fit(&text, limit);
        let at = ends.iter().position(|&boundary| boundary == end).unwrap();
        prop_assert!(counter.count(&text[..end]) <= limit);
        if let Some(&longer) = ends.get(at + 1) {
            prop_assert!(counter.count(&text[..longer]) > limit);
        }
    }
}

/// Counts how many bytes are looked at.
struct Metered(Fingerprint, AtomicUsize);

impl TokenCounter for Metered {
    fn fingerprint(&self) -> &Fingerprint {
        &self.0
    }
    fn count(&self, text: &str) -> usize {
        self.1.fetch_add(text.len(), Ordering::Relaxed);
        text.chars().count()
    }
}

#[test]
fn the_cost_of_fit_follows_the_prefix_not_the_text() {
    let work = |size: usize| {
        let counter = Metered(Fingerprint::new("metered"), AtomicUsize::new(0));
        assert_eq!(counter.fit(&"中".repeat(size), 100), 300);
        counter.1.into_inner()
    };
    assert_eq!(work(1_000), work(1_000_000));
    assert!(work(1_000) < 300 * 30, "{} bytes", work(1_000));
}

#[test]
fn limits_at_the_edges() {
    let counter = Words(Fingerprint::new("words"));
    let last = Cell::new(0);
    for limit in [0, 1, 2, usize::MAX] {
        let end = counter.fit("一 two 三", limit);
        assert!(end >= last.replace(end));
    }
    assert_eq!(counter.fit("", 0), 0);
    assert_eq!(counter.fit("一", 0), 0);
    assert_eq!(counter.fit("  ", 0), 2);
    assert_eq!(last.get(), "一 two 三".len());
}
