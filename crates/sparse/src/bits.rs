//! A set of small numbers, one bit each.

/// Numbers below a size given at the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// The empty set of numbers below `size`.
    pub(crate) fn new(size: usize) -> Self {
        Self {
            words: vec![0; size.div_ceil(64)],
        }
    }

    #[inline]
    pub(crate) fn contains(&self, at: usize) -> bool {
        let word = self.words.get(at / 64).copied().unwrap_or(0);
        word >> (at % 64) & 1 == 1
    }

    /// Numbers of the size and above are ignored.
    #[inline]
    pub(crate) fn insert(&mut self, at: usize) {
        if let Some(word) = self.words.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    /// Whether a number is in both.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        let mut both = self.words.iter().zip(&other.words);
        both.any(|(ours, theirs)| ours & theirs != 0)
    }

    pub(crate) fn count(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// The numbers, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        let words = self.words.iter().enumerate();
        words.flat_map(|(at, &word)| ones(word).map(move |bit| 64 * at + bit))
    }

    /// The numbers, ascending; leaves the set empty.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = usize> {
        let words = self.words.iter_mut().enumerate();
        words.flat_map(|(at, word)| ones(std::mem::take(word)).map(move |bit| 64 * at + bit))
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(self.words.as_slice())
    }
}

fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then_some(word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        bit
    })
}
