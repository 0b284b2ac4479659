//! The words of a page, each with its place in the source.

use cornu_core::ByteSpan;

use crate::unit::Unit;

/// What stands between a run of text and the one before it, to a reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gap {
    /// White space.
    pub(crate) space: bool,
    /// A new line.
    pub(crate) line: bool,
    /// How many borders of cells.
    pub(crate) cells: u16,
}

impl Gap {
    fn push(self, out: &mut String) {
        if self.line {
            if !out.is_empty() {
                out.push('\n');
            }
            (0..self.cells).for_each(|_| out.push_str("| "));
        } else if out.is_empty() {
            // Nothing to be parted from.
        } else if self.cells > 0 {
            (0..self.cells).for_each(|_| out.push_str(" |"));
            out.push(' ');
        } else if self.space {
            out.push(' ');
        }
    }
}

/// Text that is seen as it stands in the source, or a character reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) span: ByteSpan,
    pub(crate) before: Gap,
    /// What a character reference stands for.
    pub(crate) decoded: Option<Box<str>>,
}

/// What an HTML document has beside an outline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Markup {
    /// In order, disjoint.
    pub(crate) runs: Vec<Run>,
    pub(crate) units: Vec<Unit>,
}

impl Markup {
    /// The words of a part of the source.
    pub(crate) fn words(&self, source: &str, span: ByteSpan) -> String {
        self.some_words(source, span, usize::MAX).text
    }

    /// The words of a part of the source, each byte with its place; no more than a run beyond
    /// `enough` bytes of them.
    pub(crate) fn some_words(&self, source: &str, span: ByteSpan, enough: usize) -> Words {
        words_of(source, &self.runs, span, enough)
    }

    /// What stands between two units: the borders and white space before the first run of the
    /// second.
    pub(crate) fn gap(&self, next: ByteSpan) -> String {
        let first = self
            .runs
            .partition_point(|run| run.span.end() <= next.start());
        // Something has to stand before it, or nothing is pushed.
        let mut out = ".".to_owned();
        if let Some(run) = self.runs.get(first) {
            run.before.push(&mut out);
        }
        out.remove(0);
        out
    }
}

/// Words, and where they are from.
#[derive(Debug, Default)]
pub(crate) struct Words {
    pub(crate) text: String,
    /// Whether all of the span was read.
    pub(crate) all: bool,
    /// Where in `text` each part begins, and its place in the source.
    parts: Vec<(usize, ByteSpan, bool)>,
}

impl Words {
    /// The place in the source of the byte `at` of the text.
    pub(crate) fn start_of(&self, at: usize) -> usize {
        let after = self.parts.partition_point(|(start, ..)| *start <= at);
        match after.checked_sub(1).and_then(|part| self.parts.get(part)) {
            Some(&(start, span, true)) => (span.start() + (at - start)).min(span.end()),
            // Within a character reference, or in the gap behind it.
            Some(&(start, span, false)) if at > start => span.end(),
            Some(&(_, span, false)) => span.start(),
            None => self.parts.first().map_or(0, |(_, span, _)| span.start()),
        }
    }

    /// One past the place in the source of the byte before `at` of the text.
    pub(crate) fn end_of(&self, at: usize) -> usize {
        let after = self.parts.partition_point(|(start, ..)| *start < at);
        match after.checked_sub(1).and_then(|part| self.parts.get(part)) {
            Some(&(start, span, true)) => (span.start() + (at - start)).min(span.end()),
            Some(&(_, span, false)) => span.end(),
            None => self.parts.first().map_or(0, |(_, span, _)| span.start()),
        }
    }
}

pub(super) fn words_of(source: &str, runs: &[Run], span: ByteSpan, enough: usize) -> Words {
    let first = runs.partition_point(|run| run.span.end() <= span.start());
    let mut out = Words {
        all: true,
        ..Words::default()
    };
    for run in runs.iter().skip(first) {
        if run.span.start() >= span.end() {
            break;
        }
        if out.text.len() > enough {
            out.all = false;
            break;
        }
        // A reference that a span cuts is a part of the one that holds its beginning.
        let cut = run.span.start() < span.start();
        match &run.decoded {
            Some(_) if cut => {}
            Some(decoded) => {
                run.before.push(&mut out.text);
                out.parts.push((out.text.len(), run.span, false));
                out.text.push_str(decoded);
            }
            None => {
                let start = run.span.start().max(span.start());
                let end = run.span.end().min(span.end());
                let part = ByteSpan::from_range(start..end);
                let text = part.slice(source).unwrap_or_default();
                if !cut {
                    run.before.push(&mut out.text);
                }
                out.parts.push((out.text.len(), part, true));
                out.text.push_str(text);
            }
        }
    }
    out
}
