//! What of a Markdown chunk can stand alone.

use std::borrow::Cow;
use std::ops::Range;

use cornu_core::{ByteSpan, Chunk, ChunkKind};
use cornu_text::{ends_sentence, sentences};

use super::lines::{Lines, line_end};
use super::{Block, BlockKind, Outline};
use crate::html;

/// What of a chunk's text can stand alone, in order: sentences of prose, rows of tables below their
/// header, code blocks whole. No sentence reaches from one paragraph, item or row into the next;
/// items that have no full stop, and a line that leads to them, stand together. HTML is read as
/// [`html::statements`](crate::html::statements) reads it. Headings, rules and
/// comments that the chunk does not index are none. A piece of a code block that goes on from another
/// chunk has none: it stands alone as a whole.
///
/// The chunk's text is read by itself, so in one that begins within a block by another rule than
/// those of this crate's structured strategies, parts may be read as what they are not. O(bytes).
///
/// ```
/// use std::sync::Arc;
/// use cornu_chunk::markdown::statements;
/// use cornu_chunk::{Chunker, SentencePacked};
/// use cornu_core::{Acl, DocId, Document};
/// use cornu_text::WordCounter;
///
/// let source = "# Pumps\n\nRead it. Then go.\n\n| Pump | Steps |\n|---|---|\n| A | Stop. Wait. |\n";
/// let doc = Document::new(DocId::new("a.md")?, source, Acl::public());
/// let chunks = SentencePacked::new(Arc::new(WordCounter::new()), Default::default()).chunk(&doc)?;
/// let parts = statements(&chunks[0]);
/// let parts: Vec<_> = parts.into_iter().map(|part| &chunks[0].text[part]).collect();
/// assert_eq!(parts, ["Read it.", "Then go.", "| A | Stop. Wait. |"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn statements(chunk: &Chunk) -> Vec<Range<usize>> {
    let text = chunk.text.as_str();
    let outline = Outline::of_body(text);
    let hidden = outline.comments().iter().copied().chain(halves(text));
    let hidden = hidden.filter(|comment| {
        let said = comment.slice(text).unwrap_or_default();
        !chunk.index_text.contains(said)
    });
    let seen = without(text, hidden);
    let mut reading = Reading {
        seen: &seen,
        out: Vec::new(),
        open: None,
    };
    // Rows that go on below a header in another chunk, or that a list indents.
    let below = |header: &ByteSpan| header.end() <= chunk.span.start();
    let is_table = |block: &Block| matches!(block.kind, BlockKind::Table(_));
    if chunk.kind == ChunkKind::Code {
        // A piece that goes on within a fence stands alone as a whole.
        let last = outline.blocks().last();
        let fenced =
            |block: &&Block| matches!(&block.kind, BlockKind::Code(code) if code.fence.is_some());
        let whole = last.filter(|_| !chunk.prefix.last().is_some_and(below));
        let whole = whole.filter(fenced).map(|block| block.span.range());
        return whole
            .and_then(|range| reading.unmarked(range, true))
            .into_iter()
            .collect();
    }
    if chunk.kind == ChunkKind::Table
        && (chunk.prefix.last().is_some_and(below) || !outline.blocks().iter().any(is_table))
    {
        reading.rows(0..text.len());
        return reading.out;
    }
    for (at, block) in outline.blocks().iter().enumerate() {
        let range = block.span.range();
        match &block.kind {
            BlockKind::Heading(_) | BlockKind::Rule | BlockKind::Markers => {}
            BlockKind::Table(table) => {
                for row in &table.rows {
                    reading.row(row.span.range());
                }
            }
            // An item deep in a list, or what stands behind the end of a fence, looks like code.
            BlockKind::Code(code) if code.fence.as_ref().map_or(at > 0, |fence| fence.closed) => {
                reading.close();
                let whole = reading.unmarked(range, true);
                reading.out.extend(whole);
            }
            BlockKind::Html => reading.html(range),
            _ => reading.text(range),
        }
    }
    reading.close();
    reading.out
}

struct Reading<'a> {
    /// The text, with blanks in the place of comments that are not seen.
    seen: &'a str,
    out: Vec<Range<usize>>,
    /// Blocks without a full stop, to which the next belongs.
    open: Option<Range<usize>>,
}

impl Reading<'_> {
    /// Sentences of a block of text.
    fn text(&mut self, block: Range<usize>) {
        let seen = self.seen;
        let Some(text) = seen.get(block.clone()) else {
            return;
        };
        if text.trim_start().starts_with('|') {
            return self.rows(block);
        }
        let spans: Vec<Range<usize>> = sentences(text)
            .map(|span| block.start + span.start()..block.start + span.end())
            .collect();
        let apart = |open: &Range<usize>| {
            let gap = seen.get(open.end..block.start).unwrap_or_default();
            Lines::new(gap, 0).count() > 1
        };
        let alone = spans.len() == 1;
        if self.open.as_ref().is_some_and(apart) || !alone {
            self.close();
        }
        let (ended, leads) = (ends_sentence(text), text.trim_end().ends_with([':', '：']));
        for span in spans {
            let Some(range) = self.unmarked(span.clone(), span.start == block.start) else {
                continue;
            };
            match self.open.take() {
                Some(open) => self.open = Some(open.start..range.end),
                None if alone || (leads && span.end == block.end) => self.open = Some(range),
                None => self.out.push(range),
            }
        }
        if ended {
            self.close();
        }
    }

    /// A block of tags: what stands between them as in a page, rows of tables whole.
    fn html(&mut self, block: Range<usize>) {
        self.close();
        let text = self.seen.get(block.clone()).unwrap_or_default();
        for part in html::statements(text, ChunkKind::Prose) {
            let range = block.start + part.start..block.start + part.end;
            let range = self.unmarked(range, false);
            self.out.extend(range);
        }
    }

    /// Lines that are rows, without a header above a line of dashes.
    fn rows(&mut self, lines: Range<usize>) {
        self.close();
        let begin = self.out.len();
        let rule = |row: &str| row.contains('-') && row.chars().all(|c| "|:- \t\r\n>".contains(c));
        for line in Lines::within(self.seen, ByteSpan::from_range(lines)) {
            if self.out.len() == begin + 1 && rule(line.slice(self.seen).unwrap_or_default()) {
                self.out.pop();
            }
            self.row(line.range());
        }
    }

    /// A row of a table, if it says anything.
    fn row(&mut self, row: Range<usize>) {
        self.close();
        let said = |row: &Range<usize>| {
            let text = self.seen.get(row.clone()).unwrap_or_default();
            text.contains(char::is_alphanumeric)
        };
        let row = self.unmarked(row, true).filter(said);
        self.out.extend(row);
    }

    fn close(&mut self) {
        self.out.extend(self.open.take());
    }

    /// A part without the white space and lines of nothing but tags around it, without the marks of a
    /// quotation, and without those of a list where it is the `first` of its block.
    fn unmarked(&self, range: Range<usize>, first: bool) -> Option<Range<usize>> {
        let mut range = self.trimmed(range)?;
        let before = range.start.checked_sub(1);
        let before = before.and_then(|at| self.seen.as_bytes().get(at));
        let mut begins = first || matches!(before, None | Some(b'\n' | b'\r'));
        loop {
            let text = self.seen.get(range.clone())?;
            let tags = tags(text);
            begins |= tags > 0;
            let skipped = match tags {
                0 if begins => mark(text, first),
                tags => tags,
            };
            if skipped == 0 {
                break;
            }
            range = self.trimmed(range.start + skipped..range.end)?;
        }
        while let Some(text) = self.seen.get(range.clone())
            && let Some((before, last)) = text.rsplit_once('\n')
            && tags(last) == last.len()
        {
            range = self.trimmed(range.start..range.start + before.len())?;
        }
        Some(range)
    }

    fn trimmed(&self, range: Range<usize>) -> Option<Range<usize>> {
        let text = self.seen.get(range.clone())?;
        let start = range.start + (text.len() - text.trim_start().len());
        let end = start + text.trim().len();
        (start < end).then_some(start..end)
    }
}

/// The parts of comments that begin in the chunk before this one, or end in the next.
fn halves(text: &str) -> impl Iterator<Item = ByteSpan> {
    let (open, close) = ("<!--", "-->");
    let first = text.find(close).map(|at| at + close.len());
    let first = first.filter(|end| !text.get(..*end).is_some_and(|head| head.contains(open)));
    let last = text.rfind(open);
    let last = last.filter(|at| !text.get(*at..).is_some_and(|tail| tail.contains(close)));
    let spans = [first.map(|end| 0..end), last.map(|at| at..text.len())];
    spans.into_iter().flatten().map(ByteSpan::from_range)
}

/// The text with blanks in the place of some spans; line ends stay.
fn without(text: &str, spans: impl Iterator<Item = ByteSpan>) -> Cow<'_, str> {
    let mut copy: Option<Vec<u8>> = None;
    for span in spans {
        let copy = copy.get_or_insert_with(|| text.as_bytes().to_vec());
        let bytes = copy.get_mut(span.range()).unwrap_or_default();
        bytes
            .iter_mut()
            .filter(|byte| !matches!(byte, b'\n' | b'\r'))
            .for_each(|byte| *byte = b' ');
    }
    // Only whole characters were replaced, so the copy is UTF-8.
    copy.and_then(|copy| String::from_utf8(copy).ok())
        .map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The bytes of the first line, line end and all, where it holds tags alone.
fn tags(text: &str) -> usize {
    let end = line_end(text, 0);
    let mut rest = text.get(..end).unwrap_or_default().trim();
    if rest.is_empty() {
        return 0;
    }
    while let Some((tag, after)) = rest.strip_prefix('<').and_then(|tag| tag.split_once('>')) {
        let named = tag.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
        // An address between angle brackets says something.
        if !named || (tag.contains([':', '@']) && !tag.contains('=')) {
            return 0;
        }
        rest = after.trim_start();
    }
    if rest.is_empty() { end } else { 0 }
}

/// Length of the mark of a quotation, and where it may be one of a list item or a task, with its
/// space.
fn mark(text: &str, list: bool) -> usize {
    if text.starts_with('>') {
        return 1;
    }
    let spaced = |mark: usize| {
        let rest = text.get(mark..).unwrap_or_default();
        if rest.starts_with([' ', '\t']) {
            mark + 1
        } else {
            0
        }
    };
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if !list {
        0
    } else if text.starts_with(['-', '*', '+']) {
        spaced(1)
    } else if ["[ ]", "[x]", "[X]"]
        .iter()
        .any(|task| text.starts_with(task))
    {
        spaced(3)
    } else if (1..=9).contains(&digits)
        && text
            .get(digits..)
            .is_some_and(|rest| rest.starts_with(['.', ')']))
    {
        spaced(digits + 1)
    } else {
        0
    }
}
