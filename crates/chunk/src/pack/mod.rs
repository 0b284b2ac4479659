//! Pieces to drafts of chunks: greedy filling that keeps blocks whole while they fit.

mod settle;

use cornu_core::{ByteSpan, ChunkKind};

use crate::context::Context;
use crate::markdown::{BlockKind, Outline, Table};
use crate::piece::{Measure, Piece};
use crate::unit::UnitKind;
use crate::window::Window;

/// A chunk before it has a name.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// What the chunk shows.
    pub(crate) span: ByteSpan,
    /// The pieces that are this chunk's own, without the overlap.
    pub(crate) own: ByteSpan,
    /// Where the next piece begins.
    pub(crate) next: usize,
    pub(crate) kind: ChunkKind,
    /// The block that the chunk is, or is a piece of.
    pub(crate) block: Option<usize>,
    /// Header or fence of the block, which stands in an earlier chunk.
    pub(crate) repeated: Option<ByteSpan>,
    pub(crate) index_text: String,
    pub(crate) tokens: usize,
}

/// Packs the pieces of one section.
pub(crate) struct Packer<'a> {
    measure: &'a Measure<'a>,
    limit: usize,
    overlap: usize,
    context: &'a Context,
}

/// A chunk that is being filled.
struct Open {
    /// First piece of the overlap, or of its own.
    from: usize,
    first: usize,
    end: usize,
    /// Estimated size of the evidence.
    text: usize,
    /// Estimated size of what is indexed.
    index: usize,
    body: bool,
    /// The block larger than a chunk of which this one holds a piece.
    block: Option<usize>,
    repeated: Option<Repeated>,
    /// Whether the heading path stands in front of the index text.
    context: bool,
    /// Nothing may be added: the structure, not the size, ends the chunk.
    closed: bool,
    /// The first byte of the evidence.
    start: usize,
}

/// The part of a block that its later pieces need.
#[derive(Clone, Copy)]
struct Repeated {
    /// Opening fence, or header and delimiter row.
    span: ByteSpan,
    /// Of it, what says something: the delimiter row does not.
    words: ByteSpan,
    /// The size of that, if it is small enough to be part of the index text.
    indexed: Option<usize>,
}

impl<'a> Packer<'a> {
    pub(crate) fn new(measure: &'a Measure<'a>, window: Window, context: &'a Context) -> Self {
        let (limit, overlap) = (window.size(), window.overlap());
        Self {
            measure,
            limit,
            overlap,
            context,
        }
    }

    /// Packs pieces that belong together; `end` is where what follows them begins.
    pub(crate) fn pack(&self, pieces: &[Piece], end: usize) -> Vec<Draft> {
        let mut pieces = self.fitted(pieces);
        let mut drafts = Vec::new();
        let mut at = 0;
        let mut before: Option<Open> = None;
        while let Some(piece) = pieces.get(at) {
            if piece.kind == UnitKind::Hidden {
                (before, at) = (None, at + 1);
                continue;
            }
            let mut open = self.start(&pieces, at, before.as_ref());
            self.fill(&pieces, &mut open);
            if !open.body {
                (before, at) = (None, open.end);
                continue;
            }
            let (draft, rest) = self.settle(&pieces, &mut open, end);
            at = open.end;
            if let (Some(rest), Some(piece)) = (rest, pieces.get_mut(at)) {
                *piece = rest;
            }
            open.start = draft.span.start();
            drafts.push(draft);
            before = rest.is_none().then_some(open);
        }
        drafts
    }

    /// The pieces with none that could not stand in a chunk beside its heading and context.
    fn fitted(&self, pieces: &[Piece]) -> Vec<Piece> {
        let mut out = Vec::with_capacity(pieces.len());
        let mut heading = 0;
        for (at, &(mut piece)) in pieces.iter().enumerate() {
            if piece.kind == UnitKind::Heading {
                let gap = pieces.get(at + 1).map_or(0, |next| next.gap);
                if is_long(&piece, gap, self.limit) {
                    piece.kind = UnitKind::Sentence; // no title but a text, and packed like one
                } else {
                    heading = piece.tokens + gap.min(self.limit / 4);
                }
            }
            let taken = match self.context.holds_heading {
                true => self.context.tokens.max(heading),
                false => self.context.tokens + heading,
            };
            let mut room = self.limit.saturating_sub(taken).max(1);
            if piece.kind == UnitKind::Row
                && let Some(Repeated {
                    span,
                    indexed: Some(tokens),
                    ..
                }) = self.repeated(piece.block)
                && piece.span.start() >= span.end()
            {
                room = self
                    .limit
                    .saturating_sub(self.context.tokens + tokens)
                    .max(1);
            }
            self.measure.cut(piece, room, &mut out);
        }
        out
    }

    fn start(&self, pieces: &[Piece], at: usize, before: Option<&Open>) -> Open {
        let mut open = Open {
            from: at,
            first: at,
            end: at,
            text: 0,
            index: self.context.tokens,
            body: false,
            block: None,
            repeated: None,
            context: true,
            closed: false,
            start: 0,
        };
        let Some(piece) = pieces.get(at) else {
            return open;
        };
        let inside = |other: &Piece| other.kind == UnitKind::Row && other.block == piece.block;
        let earlier = at.checked_sub(1).and_then(|at| pieces.get(at));
        if piece.kind == UnitKind::Row && earlier.is_some_and(inside) {
            open.block = Some(piece.block);
            open.repeated = self.repeated(piece.block);
            open.index += open
                .repeated
                .and_then(|repeated| repeated.indexed)
                .unwrap_or(0);
        } else if let Some(before) = before
            && piece.kind == UnitKind::Sentence
            && before.end == at
            && before.block.is_none()
        {
            self.overlap(pieces, before, &mut open);
        }
        open
    }

    /// Takes whole sentences from the end of the chunk before.
    fn overlap(&self, pieces: &[Piece], before: &Open, open: &mut Open) {
        let Some(next) = pieces.get(open.first) else {
            return;
        };
        let (mut taken, mut gap) = (0, next.gap);
        while let Some(piece) = open.from.checked_sub(1).and_then(|at| pieces.get(at))
            && piece.span.start() > before.start
            && piece.kind == UnitKind::Sentence
            && !piece.fragment
        {
            let more = taken + piece.tokens + gap;
            let room = self.limit.saturating_sub(self.context.tokens + next.tokens);
            if more - next.gap > self.overlap || more > room {
                break;
            }
            (taken, gap) = (more, piece.gap);
            open.from -= 1;
        }
        if open.from < open.first {
            // The gap before the next piece is added again when that piece is.
            open.text += taken - next.gap;
            open.index += taken - next.gap;
        }
    }

    /// Adds pieces while they fit.
    fn fill(&self, pieces: &[Piece], open: &mut Open) {
        if let Some(block) = open.block {
            self.fill_rows(pieces, open, block);
            return;
        }
        while let Some(piece) = pieces.get(open.end) {
            match piece.kind {
                UnitKind::Hidden => {
                    open.closed = true;
                    return;
                }
                UnitKind::Row => {
                    if !self.fill_block(pieces, open, piece.block) {
                        return;
                    }
                }
                UnitKind::Heading | UnitKind::Decor | UnitKind::Sentence => {
                    // A heading that a chasm of blank lines parts from its text is left behind.
                    if !self.fits(open, piece.gap + piece.tokens) && open.end > open.first {
                        return;
                    }
                    self.add(open, piece);
                }
            }
        }
    }

    /// Adds a whole block, or as much of a block larger than a chunk as fits. Says whether there
    /// may be room for more.
    fn fill_block(&self, pieces: &[Piece], open: &mut Open, block: usize) -> bool {
        let rows = pieces.get(open.end..).unwrap_or_default();
        let rows = rows
            .iter()
            .take_while(|row| row.kind == UnitKind::Row && row.block == block);
        let (mut total, mut gap) = (0usize, None);
        for row in rows.clone() {
            gap.get_or_insert(row.gap);
            total += row.tokens + row.gap;
            if total - gap.unwrap_or(0) > self.limit {
                break;
            }
        }
        let alone = self.context.tokens + total - gap.unwrap_or(0);
        if self.fits(open, total) {
            rows.for_each(|row| self.add(open, row));
            return true;
        }
        if open.body {
            // A block that fits a chunk of its own waits for one; a larger one may begin below a
            // short text that leads to it.
            let lead = open
                .text
                .max(open.index - self.context.tokens.min(open.index));
            if alone <= self.limit || lead > self.limit / 4 || open.from < open.first {
                return false;
            }
            let first = rows.clone().next().map_or(0, |row| row.tokens + row.gap);
            if !self.fits(open, first) {
                return false;
            }
        }
        self.fill_rows(pieces, open, block);
        false
    }

    fn fill_rows(&self, pieces: &[Piece], open: &mut Open, block: usize) {
        open.block = Some(block);
        let from = open.end;
        while let Some(row) = pieces.get(open.end)
            && row.kind == UnitKind::Row
            && row.block == block
        {
            let fits = self.fits(open, row.tokens + row.gap);
            if !fits && (open.end > from || open.end > open.first && open.body) {
                return;
            }
            self.add(open, row);
        }
        open.closed = true;
    }

    fn fits(&self, open: &Open, tokens: usize) -> bool {
        open.text + tokens <= self.limit && open.index + tokens <= self.limit
    }

    fn add(&self, open: &mut Open, piece: &Piece) {
        let first = open.end == open.from;
        let tokens = piece.tokens + if first { 0 } else { piece.gap };
        open.text += tokens;
        if !(piece.kind == UnitKind::Heading && self.context.holds_heading) {
            open.index += tokens;
        }
        open.body |= piece.is_body();
        open.end += 1;
    }

    /// Header or fence of a block.
    fn repeated(&self, block: usize) -> Option<Repeated> {
        let block = self.measure.outline.blocks().get(block)?;
        let (span, words) = match &block.kind {
            BlockKind::Code(code) => {
                let opening = code.fence.as_ref()?.opening;
                (opening, opening)
            }
            BlockKind::Table(Table {
                header, delimiter, ..
            }) if !header.span.is_empty() => (
                ByteSpan::from_range(header.span.start()..delimiter.end()),
                header.span,
            ),
            _ => return None,
        };
        let tokens = self.measure.count_again(words);
        Some(Repeated {
            span,
            words,
            indexed: (tokens <= self.limit / 2).then_some(tokens),
        })
    }
}

/// Whether a heading is too long to stand above a text. `gap`: the white space below it.
pub(crate) fn is_long(heading: &Piece, gap: usize, limit: usize) -> bool {
    heading.tokens + gap.min(limit / 4) > limit / 2
}

/// The block that all the body of these pieces belongs to, if it is one of rows.
pub(crate) fn only_block(own: &[Piece]) -> Option<usize> {
    let mut bodies = own.iter().filter(|piece| piece.is_body());
    let first = bodies.next()?;
    let one = first.kind == UnitKind::Row
        && bodies.all(|piece| piece.kind == UnitKind::Row && piece.block == first.block);
    one.then_some(first.block)
}

/// The kind of a chunk that is this block, or a piece of it.
pub(crate) fn block_kind(outline: &Outline, block: usize) -> ChunkKind {
    match outline.blocks().get(block).map(|block| &block.kind) {
        Some(BlockKind::Code(_)) => ChunkKind::Code,
        Some(BlockKind::Table(_)) => ChunkKind::Table,
        _ => ChunkKind::Prose,
    }
}
