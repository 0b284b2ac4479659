//! From filled chunks to drafts whose size is known, not added up.

use cornu_core::{ByteSpan, ChunkKind};

use super::{Draft, Open, Packer, Repeated, block_kind, only_block};
use crate::piece::{Piece, cut_point};
use crate::unit::{UnitKind, visible};

impl Packer<'_> {
    /// Makes the draft, and makes sure of its size: sizes of parts need not add up to that of the
    /// whole. May give back the rest of a piece that had to be cut.
    pub(super) fn settle(
        &self,
        pieces: &[Piece],
        open: &mut Open,
        end: usize,
    ) -> (Draft, Option<Piece>) {
        let (mut draft, mut size) = self.draft(pieces, open, end, None);
        // A tokenizer that merges across pieces leaves room; use it, with at most two more counts.
        for _ in 0..2 {
            if self.measure.counter.slack() == 0 || open.closed || size.0.max(size.1) >= self.limit
            {
                break;
            }
            let reached = open.end;
            (open.text, open.index) = size;
            self.fill(pieces, open);
            if open.end == reached {
                break;
            }
            (draft, size) = self.draft(pieces, open, end, None);
        }
        while size.0.max(size.1) > self.limit {
            let excess = size.0.max(size.1) - self.limit;
            if open.from < open.first {
                open.from = open.first;
            } else if !self.shrink(pieces, open, excess)
                && !without_context(open)
                && !without_heading(pieces, open)
            {
                return self.cut_last(pieces, open, end);
            }
            (draft, size) = self.draft(pieces, open, end, None);
        }
        (draft, None)
    }

    /// Gives up pieces worth `excess` tokens from the end; says whether a body is left.
    fn shrink(&self, pieces: &[Piece], open: &mut Open, excess: usize) -> bool {
        let (mut end, mut given) = (open.end, 0);
        while end > open.first && given < excess.max(1) {
            end -= 1;
            given += pieces.get(end).map_or(0, |piece| piece.tokens + piece.gap);
        }
        let body = |range: std::ops::Range<usize>| {
            pieces
                .get(range)
                .unwrap_or_default()
                .iter()
                .any(Piece::is_body)
        };
        // Rather give up the whole of a block than a part of it.
        if open.block.is_none()
            && let Some(piece) = pieces.get(end)
            && piece.kind == UnitKind::Row
        {
            let kept = pieces.get(open.first..end).unwrap_or_default();
            let same = kept
                .iter()
                .rev()
                .take_while(|row| row.block == piece.block)
                .count();
            if body(open.first..end - same) {
                end -= same;
            }
        }
        if !body(open.first..end) {
            return false;
        }
        open.end = end;
        true
    }

    /// Cuts the chunk's first body piece so that it fits, and gives back its rest.
    fn cut_last(&self, pieces: &[Piece], open: &mut Open, end: usize) -> (Draft, Option<Piece>) {
        let own = pieces.get(open.first..open.end).unwrap_or_default();
        let at = open.first + own.iter().position(Piece::is_body).unwrap_or(0);
        open.end = at + 1;
        let Some(&piece) = pieces.get(at) else {
            return (self.draft(pieces, open, end, None).0, None);
        };
        let text = self.measure.text(piece.span);
        let mut room = piece.tokens;
        loop {
            let cut = self.cut(piece.span, room);
            let (draft, size) = self.draft(pieces, open, end, Some(piece.span.start() + cut));
            let excess = size.0.max(size.1).saturating_sub(self.limit);
            if excess == 0 || room == 0 {
                if cut == text.len() {
                    return (draft, None);
                }
                open.end = at;
                let after = text.get(cut..).unwrap_or_default();
                let start = piece.span.end() - after.trim_start().len();
                let rest = ByteSpan::from_range(start..piece.span.end());
                return (draft, Some(self.measure.fragment(piece, rest, 0)));
            }
            room = room.saturating_sub(excess.max(room / 8).max(1));
        }
    }

    /// How much of a piece to keep for about `room` tokens: at least a character that says something.
    fn cut(&self, span: ByteSpan, room: usize) -> usize {
        if self.measure.outline.markup().is_some() {
            return self.measure.cut_at(span, room) - span.start();
        }
        let text = self.measure.text(span);
        let fit = self.measure.counter.fit(text, room);
        let white = text.len() - text.trim_start().len();
        let least = white + text.trim_start().chars().next().map_or(0, char::len_utf8);
        cut_point(text, fit.max(least)).max(least)
    }

    /// The draft of what is open, with the sizes of its evidence and of its index text.
    fn draft(
        &self,
        pieces: &[Piece],
        open: &Open,
        end: usize,
        cut: Option<usize>,
    ) -> (Draft, (usize, usize)) {
        let shown = pieces.get(open.from..open.end).unwrap_or_default();
        let own = pieces.get(open.first..open.end).unwrap_or_default();
        let content = |piece: &&Piece| piece.kind != UnitKind::Decor;
        let start = shown
            .iter()
            .find(content)
            .map_or(0, |piece| piece.span.start());
        let last = shown.iter().rev().find(|piece| piece.is_body());
        let stop = cut.or(last.map(|piece| piece.span.end())).unwrap_or(start);
        let span = ByteSpan::from_range(start..stop);
        let own_start = own.first().map_or(start, |piece| piece.span.start());
        let own_end = cut
            .or(own.last().map(|piece| piece.span.end()))
            .unwrap_or(stop);
        let next = match cut {
            Some(cut) => cut,
            None => pieces.get(open.end).map_or(end, |piece| piece.span.start()),
        };
        let block = open.block.or_else(|| only_block(own));
        let heading = shown.first().filter(|piece| {
            piece.kind == UnitKind::Heading && self.context.holds_heading && open.context
        });
        let index_text = self.index_text(span, heading.map(|piece| piece.span), open);
        let tokens = self.measure.counter.count(&index_text);
        let text = self.measure.words(span);
        let suffix = index_text.ends_with(&*text);
        let shown = if suffix {
            tokens
        } else {
            self.measure.counter.count(&text)
        };
        let draft = Draft {
            span,
            own: ByteSpan::from_range(own_start..own_end),
            next,
            kind: block.map_or(ChunkKind::Prose, |block| {
                block_kind(self.measure.outline, block)
            }),
            block,
            repeated: open.repeated.map(|repeated| repeated.span),
            index_text,
            tokens,
        };
        (draft, (shown, tokens))
    }

    fn index_text(&self, span: ByteSpan, heading: Option<ByteSpan>, open: &Open) -> String {
        let mut out = String::with_capacity(self.context.line.len() + span.len() + 64);
        if open.context {
            out.push_str(&self.context.line);
        }
        if let Some(Repeated {
            words,
            indexed: Some(_),
            ..
        }) = open.repeated
        {
            out.push_str(self.measure.words(words).trim_end());
            out.push('\n');
        }
        let span = match heading {
            None => span,
            Some(heading) if self.measure.outline.markup().is_some() => {
                ByteSpan::from_range(heading.end()..span.end().max(heading.end()))
            }
            Some(heading) => {
                let after = self
                    .measure
                    .text(ByteSpan::from_range(heading.end()..span.end()));
                let blank = after.len() - after.trim_start_matches(['\r', '\n']).len();
                ByteSpan::from_range(heading.end() + blank..span.end())
            }
        };
        if self.measure.outline.markup().is_some() {
            out.push_str(&self.measure.words(span));
        } else if self.measure.hide_comments {
            visible(self.measure.outline.comments(), span)
                .for_each(|part| out.push_str(self.measure.text(part)));
        } else {
            out.push_str(self.measure.text(span));
        }
        out
    }
}

/// Leaves out what stands in front of the index text, header or fence before the heading path; says
/// whether there was anything.
fn without_context(open: &mut Open) -> bool {
    if let Some(repeated) = &mut open.repeated
        && repeated.indexed.take().is_some()
    {
        return true;
    }
    std::mem::replace(&mut open.context, false)
}

/// Leaves a heading behind that is above the first text; says whether there was one.
fn without_heading(pieces: &[Piece], open: &mut Open) -> bool {
    let own = pieces.get(open.first..open.end).unwrap_or_default();
    let above = own.iter().position(Piece::is_body).unwrap_or(0);
    open.first += above;
    open.from = open.first;
    above > 0
}
