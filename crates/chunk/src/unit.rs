//! The smallest pieces that are never cut while they fit: sentences, lines of code, rows of tables.

use cornu_core::ByteSpan;
use cornu_text::sentences;

use crate::markdown::lines::Lines;
use crate::markdown::{Block, BlockKind, Outline};

/// What a unit is, to those who pack units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnitKind {
    /// A heading of the document: goes with what follows it.
    Heading,
    /// A sentence.
    Sentence,
    /// A line of a code block or a row of a table: its block is kept whole while it fits.
    Row,
    /// A thematic break or bare container markers: no content of its own.
    Decor,
    /// A comment: in no chunk's text.
    Hidden,
}

/// A piece of the source. The units of a document are in order and do not overlap; between two of
/// them stands only white space, and in HTML tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// The piece, white space after it left out.
    pub(crate) span: ByteSpan,
    pub(crate) kind: UnitKind,
    /// Index of the block that the unit is a part of.
    pub(crate) block: usize,
}

/// The units of a document, in order. O(bytes).
pub(crate) fn units(source: &str, outline: &Outline, hide_comments: bool) -> Vec<Unit> {
    if let Some(markup) = outline.markup() {
        return markup.units.clone();
    }
    let mut out = Vec::new();
    for (index, block) in outline.blocks().iter().enumerate() {
        block_units(source, outline, index, block, hide_comments, &mut out);
    }
    out
}

fn block_units(
    source: &str,
    outline: &Outline,
    index: usize,
    block: &Block,
    hide_comments: bool,
    out: &mut Vec<Unit>,
) {
    let span = block.span;
    let mut push = |span: ByteSpan, kind: UnitKind| {
        let text = span.slice(source).unwrap_or_default();
        let kept = text.trim_end().len();
        if kept > 0 {
            let span = ByteSpan::from_range(span.start()..span.start() + kept);
            out.push(Unit {
                span,
                kind,
                block: index,
            });
        }
    };
    let hidden = |span| hide_comments && covered(outline.comments(), span, source);
    match &block.kind {
        BlockKind::Heading(_) if block.depth == 0 => push(span, UnitKind::Heading),
        BlockKind::Comment if hide_comments => push(span, UnitKind::Hidden),
        BlockKind::Rule | BlockKind::Markers => push(span, UnitKind::Decor),
        BlockKind::Code(_) | BlockKind::Table(_) => {
            Lines::within(source, span).for_each(|line| push(line, UnitKind::Row));
        }
        BlockKind::Heading(_) => push(span, UnitKind::Sentence),
        BlockKind::Html | BlockKind::Comment | BlockKind::LinkDefinitions => {
            Lines::within(source, span).for_each(|line| push(line, sentence_kind(hidden(line))));
        }
        BlockKind::Paragraph => {
            for sentence in sentences(span.slice(source).unwrap_or_default()) {
                let range = sentence.start() + span.start()..sentence.end() + span.start();
                let span = ByteSpan::from_range(range);
                push(span, sentence_kind(hidden(span)));
            }
        }
    }
}

fn sentence_kind(hidden: bool) -> UnitKind {
    if hidden {
        UnitKind::Hidden
    } else {
        UnitKind::Sentence
    }
}

/// Whether comments cover everything of `span` but white space.
pub(crate) fn covered(comments: &[ByteSpan], span: ByteSpan, source: &str) -> bool {
    visible(comments, span).all(|part| part.slice(source).unwrap_or_default().trim().is_empty())
}

/// The parts of `span` outside the comments (sorted, disjoint), in order.
pub(crate) fn visible(
    comments: &[ByteSpan],
    span: ByteSpan,
) -> impl Iterator<Item = ByteSpan> + '_ {
    let first = comments.partition_point(|comment| comment.end() <= span.start());
    let inside = comments
        .iter()
        .skip(first)
        .take_while(move |comment| comment.start() < span.end());
    let mut at = span.start();
    inside.map(Some).chain([None]).filter_map(move |comment| {
        let end = comment.map_or(span.end(), |comment| comment.start().max(at));
        let part = ByteSpan::from_range(at..end);
        at = comment.map_or(span.end(), |comment| comment.end());
        (!part.is_empty()).then_some(part)
    })
}
