//! Keywords as numbers: whose sets overlap, and by how much.

use std::collections::{BTreeMap, BTreeSet};

/// The keywords of all passages. Memory: each keyword once, and 8 bytes for each passage that has
/// it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Keywords {
    numbers: BTreeMap<String, u32>,
    /// By passage: its keywords, ascending.
    words: Vec<Vec<u32>>,
    /// By keyword: the passages that have it, ascending.
    holders: Vec<Vec<u32>>,
}

impl Keywords {
    pub(super) fn new<'a>(passages: impl Iterator<Item = &'a BTreeSet<String>>) -> Self {
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        let (mut words, mut holders) = (Vec::new(), Vec::<Vec<u32>>::new());
        for (at, own) in (0_u32..).zip(passages) {
            let mut own: Vec<u32> = own
                .iter()
                .map(|word| {
                    let next = holders.len() as u32;
                    let number = *numbers.entry(word.clone()).or_insert(next);
                    match holders.get_mut(number as usize) {
                        Some(holders) => holders.push(at),
                        None => holders.push(vec![at]),
                    }
                    number
                })
                .collect();
            own.sort_unstable();
            words.push(own);
        }
        Self {
            numbers,
            words,
            holders,
        }
    }

    /// The keywords of a passage, ascending; none where there is no such passage.
    pub(super) fn of(&self, passage: u32) -> &[u32] {
        let words = self.words.get(passage as usize);
        words.map(Vec::as_slice).unwrap_or_default()
    }

    /// The passages that share a keyword with one, ascending, with the Jaccard index of both sets:
    /// size of the intersection by size of the union. It is 0 for all others.
    pub(super) fn alike(&self, passage: u32) -> Vec<(u32, f64)> {
        let own = self.of(passage);
        let holders = own
            .iter()
            .filter_map(|&word| self.holders.get(word as usize));
        let mut met: Vec<u32> = holders.flatten().copied().collect();
        met.sort_unstable();
        let runs = met.chunk_by(|a, b| a == b);
        runs.filter_map(|run| {
            let other = *run.first()?;
            let either = own.len() + self.of(other).len() - run.len();
            Some((other, run.len() as f64 / either as f64))
        })
        .collect()
    }

    /// The keywords of a question.
    pub(super) fn asked(&self, words: &BTreeSet<String>) -> AskedWords {
        let known = words.iter().filter_map(|word| self.numbers.get(word));
        AskedWords {
            known: known.copied().collect(),
            count: words.len(),
        }
    }
}

/// The keywords of a question.
pub(super) struct AskedWords {
    /// Those that some passage has.
    known: BTreeSet<u32>,
    /// How many there are, those that no passage has included.
    count: usize,
}

impl AskedWords {
    /// The Jaccard index with the union of some passages' keywords, each ascending; 0 for two empty
    /// sets.
    pub(super) fn jaccard<const N: usize>(&self, passages: [&[u32]; N]) -> f64 {
        let mut words: Vec<u32> = passages.concat();
        words.sort_unstable();
        words.dedup();
        let both = words
            .iter()
            .filter(|word| self.known.contains(word))
            .count();
        let either = words.len() + self.count - both;
        if either == 0 {
            0.0
        } else {
            both as f64 / either as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(words: &str) -> BTreeSet<String> {
        words.split_whitespace().map(str::to_owned).collect()
    }

    fn jaccard(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
        match a.union(b).count() {
            0 => 0.0,
            either => a.intersection(b).count() as f64 / either as f64,
        }
    }

    #[test]
    fn numbers_overlap_as_their_words_do() {
        let sets = ["a b c", "", "b", "c d", "e", "c b a", "d c b a"].map(set);
        let keywords = Keywords::new(sets.iter());
        for (at, one) in (0_u32..).zip(&sets) {
            let alike: BTreeMap<u32, f64> = keywords.alike(at).into_iter().collect();
            for (to, other) in (0_u32..).zip(&sets) {
                let found = alike.get(&to).copied().unwrap_or(0.0);
                assert_eq!(found, jaccard(one, other), "{one:?} {other:?}");
                for question in ["", "a", "a z", "c d e"].map(set) {
                    let union: BTreeSet<String> = one.union(other).cloned().collect();
                    let asked = keywords.asked(&question);
                    let found = asked.jaccard([keywords.of(at), keywords.of(to)]);
                    assert_eq!(found, jaccard(&union, &question));
                }
            }
        }
        assert_eq!(keywords.of(9), [0_u32; 0]);
    }
}
