//! SentencePiece's `nmt_nfkc` normalisation from a map of single code points.

use tokenizers::{NormalizedString, Normalizer};

/// What each code point becomes; sorted by code point. One that is absent stays as it is.
#[derive(Clone, Debug)]
pub(crate) struct CharMap(Vec<(char, String)>);

impl CharMap {
    /// `None` when the entries are not strictly ascending.
    pub(crate) fn new(entries: Vec<(char, String)>) -> Option<Self> {
        entries
            .is_sorted_by(|a, b| a.0 < b.0)
            .then_some(Self(entries))
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = (char, &str)> {
        self.0.iter().map(|(from, to)| (*from, to.as_str()))
    }

    fn get(&self, from: char) -> Option<&str> {
        let at = self.0.binary_search_by_key(&from, |entry| entry.0).ok()?;
        self.0.get(at).map(|entry| entry.1.as_str())
    }
}

impl Normalizer for CharMap {
    /// Composes (the map has single code points only, the original also maps decomposed
    /// sequences to composed letters), maps, then strips and collapses spaces as SentencePiece
    /// does by default.
    fn normalize(&self, text: &mut NormalizedString) -> tokenizers::Result<()> {
        text.nfc();
        let mut out = Changes::default();
        for from in text.get().chars() {
            let mut buffer = [0; 4];
            let same: &str = from.encode_utf8(&mut buffer);
            out.replace(self.get(from).unwrap_or(same));
        }
        out.strip_end();
        if out.kept.is_empty() {
            text.clear();
        } else {
            text.transform(out.kept, out.dropped_at_start);
        }
        Ok(())
    }
}

/// The new characters in the form that `NormalizedString::transform` takes: 0 replaces the next
/// old character, 1 is inserted, −n replaces one and drops the n after it.
#[derive(Default)]
struct Changes {
    kept: Vec<(char, isize)>,
    dropped_at_start: usize,
}

impl Changes {
    /// One old character becomes `to`, less the spaces that follow a space or the start.
    fn replace(&mut self, to: &str) {
        let mut change = 0;
        for new in to.chars() {
            let after_space = self.kept.last().is_none_or(|(last, _)| *last == ' ');
            if new == ' ' && after_space {
                continue;
            }
            self.kept.push((new, change));
            change = 1;
        }
        if change == 0 {
            self.drop_one();
        }
    }

    fn drop_one(&mut self) {
        match self.kept.last_mut() {
            Some((_, change)) => *change -= 1,
            None => self.dropped_at_start += 1,
        }
    }

    fn strip_end(&mut self) {
        while let Some((' ', change)) = self.kept.last().copied() {
            self.kept.pop();
            // What the space stood for, and dropped, is now dropped by the one before it.
            match self.kept.last_mut() {
                Some((_, before)) => *before += change - 1,
                None => self.dropped_at_start += usize::try_from(1 - change).unwrap_or(0),
            }
        }
    }
}
