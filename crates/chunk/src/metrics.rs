//! How well chunks respect what they are cut from: two measures, with their formulas.
//!
//! # Boundary break rate
//!
//! Let U be the document's *complete units*: the sentences of running text (by
//! [`cornu_text::sentences`] within each paragraph), headings, lines of code, rows of tables, lines
//! of HTML, of front matter and of link definitions; each without white space at its ends. Let E be
//! the ends of the indexed chunks' spans, without those after which no unit goes on or begins (the
//! end of the document). An end e is *broken* when it falls inside a unit, `u.start < e < u.end`;
//! it is *within a word* when, besides, [`cornu_text::cuts_word`] says so.
//!
//! ```text
//! boundary_break_rate = |{e ∈ E : e is broken}| / |E|        word_break_rate likewise
//! ```
//!
//! Both are 0 where E is empty (one chunk breaks nothing). A chunk that ends after a whole sentence
//! counts as whole wherever the next one begins, so an overlap changes nothing.
//!
//! # Context completeness
//!
//! The *unit of an evidence* is the innermost section that holds it: its heading and its own text
//! up to the next heading of the document, the smallest part that the author marked as one
//! argument. The completeness of a question is the share of that unit that the shown contexts
//! cover, where S are the spans shown for the question (top k, after expansion to parents) that
//! come from the evidence's document, and bytes of white space count on neither side:
//!
//! ```text
//! context_completeness = |unit ∩ ⋃S| / |unit|
//! ```
//!
//! The table's figure is the mean over the answerable questions. A question for which nothing of
//! the section is shown has 0; so the measure contains recall, and is reported beside it.

use cornu_core::{ByteSpan, Chunk};
use cornu_text::cuts_word;

use crate::markdown::Outline;
use crate::markdown::lines::Lines;
use crate::unit::units;

/// Cuts between chunks, and how many of them damage something.
///
/// ```
/// use std::sync::Arc;
/// use cornu_chunk::{Chunker, FixedWindow, FixedWindowOptions, Window};
/// use cornu_chunk::metrics::boundary_breaks;
/// use cornu_core::{Acl, DocId, Document};
/// use cornu_text::CharCounter;
///
/// let source = "One two. Three four.";
/// let doc = Document::new(DocId::new("a.md")?, source, Acl::public());
/// let options = FixedWindowOptions { window: Window::new(8, 0)? };
/// let chunks = FixedWindow::new(Arc::new(CharCounter::new()), options).chunk(&doc)?;
/// let breaks = boundary_breaks(source, &chunks);
/// assert_eq!((breaks.boundaries, breaks.in_unit, breaks.in_word), (2, 1, 1)); // after `Three f`
/// assert_eq!(breaks.rate(), 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoundaryBreaks {
    /// Ends of chunks with text after them.
    pub boundaries: usize,
    /// Of these, inside a sentence, line of code, row or heading.
    pub in_unit: usize,
    /// Of those, inside a word.
    pub in_word: usize,
}

impl BoundaryBreaks {
    /// The boundary break rate, in [0, 1].
    #[must_use]
    pub fn rate(&self) -> f64 {
        share(self.in_unit, self.boundaries)
    }

    /// The word break rate, in [0, 1], at most [`rate`](Self::rate).
    #[must_use]
    pub fn word_rate(&self) -> f64 {
        share(self.in_word, self.boundaries)
    }

    /// The counts of two documents together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            boundaries: self.boundaries + other.boundaries,
            in_unit: self.in_unit + other.in_unit,
            in_word: self.in_word + other.in_word,
        }
    }
}

/// Counts the broken ends of a document's chunks; parents are left out. `source` is the document.
/// O(bytes + chunks × log units).
#[must_use]
pub fn boundary_breaks(source: &str, chunks: &[Chunk]) -> BoundaryBreaks {
    let outline = Outline::parse(source);
    let mut complete: Vec<ByteSpan> = Vec::new();
    if let Some(front) = outline.front_matter() {
        for line in Lines::within(source, front.span) {
            let kept = line.slice(source).unwrap_or_default().trim_end().len();
            complete.push(ByteSpan::from_range(line.start()..line.start() + kept));
        }
    }
    complete.extend(units(source, &outline, false).iter().map(|unit| unit.span));
    let mut out = BoundaryBreaks::default();
    for chunk in chunks.iter().filter(|chunk| chunk.role.is_indexed()) {
        let end = chunk.span.end();
        let next = complete.partition_point(|unit| unit.end() <= end);
        let Some(unit) = complete.get(next) else {
            continue;
        };
        out.boundaries += 1;
        if visible_start(source, *unit) < end {
            out.in_unit += 1;
            out.in_word += usize::from(cuts_word(source, end));
        }
    }
    out
}

/// The unit of a piece of evidence: the innermost section that holds its first byte, heading and
/// own text, without white space at its ends; front matter counts as a section. `None` for a byte
/// outside the document's text. O(log sections + bytes of the section).
///
/// ```
/// use cornu_chunk::markdown::Outline;
/// use cornu_chunk::metrics::evidence_unit;
///
/// let source = "# A\nintro\n## B\nthe fact\n## C\nmore\n";
/// let outline = Outline::parse(source);
/// let unit = evidence_unit(source, &outline, source.find("fact").unwrap()).unwrap();
/// assert_eq!(unit.slice(source), Some("## B\nthe fact"));
/// ```
#[must_use]
pub fn evidence_unit(source: &str, outline: &Outline, at: usize) -> Option<ByteSpan> {
    let front = outline.front_matter().map(|front| front.span);
    let holds = |span: &ByteSpan| (span.start()..span.end()).contains(&at);
    let span = front
        .filter(holds)
        .or_else(|| Some(outline.section_at(at)?.span))?;
    let text = span.slice(source)?;
    let start = span.start() + (text.len() - text.trim_start().len());
    let end = span.start() + text.trim_end().len();
    Some(ByteSpan::from_range(start..end.max(start)))
}

/// The share of a unit's bytes, white space apart, that the shown spans cover: in [0, 1]; 1 for a
/// unit of nothing but white space. The spans come in any order and may overlap; they have to be of
/// the same document. O(s log s + bytes of the unit).
///
/// ```
/// use cornu_chunk::metrics::context_completeness;
/// use cornu_core::ByteSpan;
///
/// let unit = ByteSpan::new(0, 11)?;
/// let shown = [ByteSpan::new(0, 4)?, ByteSpan::new(2, 5)?];
/// assert_eq!(context_completeness("abcd\n efgh\n", unit, &shown), 0.5);
/// # Ok::<(), cornu_core::SpanError>(())
/// ```
#[must_use]
pub fn context_completeness(source: &str, unit: ByteSpan, shown: &[ByteSpan]) -> f64 {
    let mut shown: Vec<ByteSpan> = shown.to_vec();
    shown.sort_unstable();
    let mut shown = shown.into_iter().peekable();
    let (mut whole, mut covered, mut reach) = (0, 0, 0);
    for (at, c) in unit.slice(source).unwrap_or_default().char_indices() {
        let at = unit.start() + at;
        while let Some(span) = shown.next_if(|span| span.start() <= at) {
            reach = reach.max(span.end());
        }
        if !c.is_whitespace() {
            whole += c.len_utf8();
            covered += if at < reach { c.len_utf8() } else { 0 };
        }
    }
    if whole == 0 {
        1.0
    } else {
        share(covered, whole)
    }
}

fn visible_start(source: &str, unit: ByteSpan) -> usize {
    let text = unit.slice(source).unwrap_or_default();
    unit.start() + (text.len() - text.trim_start().len())
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}
