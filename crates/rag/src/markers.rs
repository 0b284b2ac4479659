//! The markers of a text that cites: `[1]`, `[doc-7]`.
//!
//! An extractive answer needs no check, for it is made of its citations. A text that a model wrote
//! does: a marker may name nothing, or two things.

use std::collections::BTreeMap;

use cornu_core::ByteSpan;

/// One marker of a text, judged.
///
/// ```
/// use cornu::markers::{Verdict, judge_markers};
///
/// let labels = ["doc-1", "dup", "dup", ""];
/// let judged = judge_markers("A [doc-1]. B [dup]. C [doc-9].", &labels);
/// let verdicts: Vec<Verdict> = judged.iter().map(|marker| marker.verdict).collect();
/// assert_eq!(verdicts, [Verdict::Resolved(0), Verdict::Ambiguous, Verdict::Fabricated]);
/// assert!(!judged.iter().all(|marker| marker.is_sound()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// What stands between the brackets.
    pub label: String,
    /// Where, brackets included.
    pub span: ByteSpan,
    /// What it resolves to.
    pub verdict: Verdict,
}

/// What a marker resolves to.
///
/// ```
/// assert_ne!(cornu::markers::Verdict::Ambiguous, cornu::markers::Verdict::Fabricated);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The source at this place of the list, from 0.
    Resolved(usize),
    /// Several sources have this label.
    Ambiguous,
    /// No source has it.
    Fabricated,
    /// A Markdown link, `[text](target)`, whose text is no label: no citation, and no excuse for
    /// another marker of the same text.
    Link,
}

impl Marker {
    /// Whether it cites one source, or nothing.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        matches!(self.verdict, Verdict::Resolved(_) | Verdict::Link)
    }
}

/// Judges every marker of a text by itself, in order. `labels` are those of the sources, in the one
/// order in which they were shown to whoever wrote the text; an empty label names nothing. O(bytes).
#[must_use]
pub fn judge_markers(text: &str, labels: &[&str]) -> Vec<Marker> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, label) in labels.iter().enumerate() {
        if !label.is_empty() {
            places.entry(label).or_default().push(at);
        }
    }
    let mut out = Vec::new();
    let mut from = 0;
    while let Some((start, end)) = next(text, from) {
        from = end;
        let label = text.get(start + 1..end - 1).unwrap_or_default();
        let linked = text.get(end..).is_some_and(|rest| rest.starts_with('('));
        let verdict = match places.get(label).map(Vec::as_slice) {
            Some([one]) => Verdict::Resolved(*one),
            Some(_) => Verdict::Ambiguous,
            None if linked => Verdict::Link,
            None => Verdict::Fabricated,
        };
        out.push(Marker {
            label: label.to_owned(),
            span: ByteSpan::from_range(start..end),
            verdict,
        });
    }
    out
}

/// The next innermost pair of brackets with something in it.
fn next(text: &str, mut from: usize) -> Option<(usize, usize)> {
    loop {
        let close = from + text.get(from..)?.find(']')?;
        let open = text.get(from..close)?.rfind('[').map(|at| from + at);
        match open {
            Some(open) if open + 1 < close => return Some((open, close + 1)),
            _ => from = close + 1,
        }
    }
}
