//! Lower states of passages, kept for when they come again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// A passage's rows after the lower layers, (tokens, hidden) row-major.
pub(crate) type Rows = Arc<[f32]>;

/// The rows of passages, up to a number of bytes. The longest kept go first.
#[derive(Default)]
pub(crate) struct LowerStates {
    most: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    rows: BTreeMap<Arc<str>, Rows>,
    /// In the order in which they came.
    texts: VecDeque<Arc<str>>,
    bytes: usize,
}

impl LowerStates {
    pub(crate) fn up_to(bytes: usize) -> Self {
        Self {
            most: bytes,
            kept: Mutex::default(),
        }
    }

    /// What is kept of each text.
    pub(crate) fn find(&self, texts: &[&str]) -> Vec<Option<Rows>> {
        if self.most == 0 {
            return vec![None; texts.len()];
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = texts.iter().map(|&text| kept.rows.get(text).cloned());
        found.collect()
    }

    /// Keeps a text's rows, and lets go of what is too much then.
    pub(crate) fn keep(&self, text: &str, rows: &Rows) {
        if size(text, rows) > self.most {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let text: Arc<str> = text.into();
        // A text that stood twice in one call is counted once.
        if kept
            .rows
            .insert(Arc::clone(&text), Arc::clone(rows))
            .is_some()
        {
            return;
        }
        kept.bytes += size(&text, rows);
        kept.texts.push_back(text);
        while kept.bytes > self.most {
            let Some(oldest) = kept.texts.pop_front() else {
                return;
            };
            if let Some(rows) = kept.rows.remove(&oldest) {
                kept.bytes = kept.bytes.saturating_sub(size(&oldest, &rows));
            }
        }
    }
}

fn size(text: &str, rows: &Rows) -> usize {
    text.len() + 4 * rows.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: usize) -> Rows {
        vec![1.0; count].into()
    }

    #[test]
    fn the_longest_kept_go_first_and_the_bound_holds() {
        let states = LowerStates::up_to(100);
        for text in ["a", "b", "c"] {
            states.keep(text, &rows(8)); // 33 bytes each
            states.keep(text, &rows(8));
        }
        let there = |states: &LowerStates| {
            let found = states.find(&["a", "b", "c", "d"]);
            found.iter().map(Option::is_some).collect::<Vec<_>>()
        };
        assert_eq!(there(&states), [true, true, true, false]);
        states.keep("d", &rows(8));
        assert_eq!(there(&states), [false, true, true, true]);
        states.keep("a", &rows(200));
        assert_eq!(
            there(&states),
            [false, true, true, true],
            "it cannot be kept"
        );
        assert!(LowerStates::default().find(&["a"])[0].is_none());
    }
}
