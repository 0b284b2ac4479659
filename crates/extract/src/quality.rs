//! How well names agree with a reference.

use std::collections::BTreeSet;

use crate::key::entity_key;

/// Names found, names expected and those that are both, counted by [`entity_key`] over any number
/// of texts (micro-averaged). A name with an empty key counts nowhere.
///
/// ```
/// use cornu_extract::NameOverlap;
/// let mut overlap = NameOverlap::default();
/// overlap.add(["Rome", "Italy"], ["rome", "Pope"]);
/// assert_eq!((overlap.precision(), overlap.recall(), overlap.f1()), (0.5, 0.5, 0.5));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NameOverlap {
    /// Different names found.
    pub found: usize,
    /// Different names of the reference.
    pub expected: usize,
    /// Names that are both.
    pub both: usize,
}

impl NameOverlap {
    /// Adds one text. O(n log n) in its names.
    pub fn add<'a>(
        &mut self,
        found: impl IntoIterator<Item = &'a str>,
        expected: impl IntoIterator<Item = &'a str>,
    ) {
        let (found, expected) = (keys(found), keys(expected));
        self.found += found.len();
        self.expected += expected.len();
        self.both += found.intersection(&expected).count();
    }

    /// Share of the found names that are expected; 0 when nothing was found.
    #[must_use]
    pub fn precision(&self) -> f64 {
        ratio(self.both, self.found)
    }

    /// Share of the expected names that were found; 0 when nothing was expected.
    #[must_use]
    pub fn recall(&self) -> f64 {
        ratio(self.both, self.expected)
    }

    /// Harmonic mean of the two.
    #[must_use]
    pub fn f1(&self) -> f64 {
        ratio(2 * self.both, self.found + self.expected)
    }
}

fn keys<'a>(names: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    let keys = names.into_iter().map(entity_key);
    keys.filter(|key| !key.is_empty()).collect()
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}
