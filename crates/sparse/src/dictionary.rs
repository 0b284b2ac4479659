//! Terms in byte order, end to end in one string.

/// Terms numbered from 0 in byte order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Dictionary {
    text: String,
    ends: Vec<usize>,
}

impl Dictionary {
    /// Adds the next term; it has to come after all others.
    pub(crate) fn push(&mut self, term: &str) {
        self.text.push_str(term);
        self.ends.push(self.text.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, at: usize) -> Option<&str> {
        let end = *self.ends.get(at)?;
        let start = match at.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.text.get(start..end)
    }

    /// O(log terms) comparisons.
    pub(crate) fn find(&self, term: &str) -> Option<u32> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle)?.cmp(term) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return u32::try_from(middle).ok(),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.text.len() + self.ends.len() * size_of::<usize>()
    }
}
