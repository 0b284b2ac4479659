//! Token counters with known behaviour.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cornu_core::{Fingerprint, TokenCounter};

/// A counter made of a function.
pub(crate) struct Counter {
    fingerprint: Fingerprint,
    count: fn(&str) -> usize,
    slack: usize,
}

impl TokenCounter for Counter {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }
    fn count(&self, text: &str) -> usize {
        (self.count)(text)
    }
    fn slack(&self) -> usize {
        self.slack
    }
}

fn counter(name: &str, count: fn(&str) -> usize, slack: usize) -> Arc<Counter> {
    Arc::new(Counter {
        fingerprint: Fingerprint::new(name),
        count,
        slack,
    })
}

/// Every character is a token.
pub(crate) fn chars() -> Arc<Counter> {
    counter("chars", |text| text.chars().count(), 0)
}

/// Runs of ASCII letters and digits are one token, other visible characters one each.
pub(crate) fn words() -> Arc<Counter> {
    fn count(text: &str) -> usize {
        let mut tokens = 0;
        let mut inside = false;
        for c in text.chars() {
            let word = c.is_ascii_alphanumeric();
            tokens += usize::from(!(c.is_whitespace() || word && inside));
            inside = word;
        }
        tokens
    }
    counter("words", count, 0)
}

/// Like a Unigram model: a marker in front of every text, and pairs of characters merge wherever
/// they meet, so that the parts count more than the whole.
pub(crate) fn merging() -> Arc<Counter> {
    fn count(text: &str) -> usize {
        let visible = text.chars().filter(|c| !c.is_whitespace()).count();
        if text.is_empty() {
            0
        } else {
            1 + visible.div_ceil(2)
        }
    }
    counter("merging", count, 2)
}

/// The other way round: joining costs, so that the whole counts more than its parts.
pub(crate) fn jealous() -> Arc<Counter> {
    fn count(text: &str) -> usize {
        let lines = text
            .split('\n')
            .filter(|line| !line.trim().is_empty())
            .count();
        let sentences = text.matches(['.', '。']).count();
        text.chars().count() + 3 * lines.saturating_sub(1) + 5 * sentences.saturating_sub(1)
    }
    counter("jealous", count, 8)
}

/// Notes how much it was asked to count.
pub(crate) struct Meter {
    inner: Arc<Counter>,
    bytes: AtomicUsize,
    calls: AtomicUsize,
}

impl Meter {
    pub(crate) fn new(inner: Arc<Counter>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            bytes: AtomicUsize::new(0),
            calls: AtomicUsize::new(0),
        })
    }
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

impl TokenCounter for Meter {
    fn fingerprint(&self) -> &Fingerprint {
        self.inner.fingerprint()
    }
    fn count(&self, text: &str) -> usize {
        self.bytes.fetch_add(text.len(), Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.inner.count(text)
    }
    fn slack(&self) -> usize {
        self.inner.slack()
    }
}
