//! Units with their sizes, and the cutting of those that are too large.

use std::borrow::Cow;
use std::cell::Cell;

use cornu_core::{ByteSpan, TokenCounter};
use unicode_segmentation::GraphemeCursor;

use crate::markdown::Outline;
use crate::unit::{Unit, UnitKind, covered, units};

/// A [`Unit`], or a fragment of one, with its size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) span: ByteSpan,
    pub(crate) kind: UnitKind,
    pub(crate) block: usize,
    /// Tokens of the piece alone.
    pub(crate) tokens: usize,
    /// Tokens of the white space between the piece before and this one.
    pub(crate) gap: usize,
    /// Cut from a unit that was too large.
    pub(crate) fragment: bool,
}

impl Piece {
    /// Something that a reader or a search could want.
    pub(crate) fn is_body(&self) -> bool {
        matches!(self.kind, UnitKind::Sentence | UnitKind::Row)
    }
}

/// Sizes, each unit counted once. White space is counted once for each of its forms in a row,
/// since most gaps of a document look alike.
pub(crate) struct Measure<'a> {
    pub(crate) source: &'a str,
    pub(crate) outline: &'a Outline,
    pub(crate) counter: &'a dyn TokenCounter,
    pub(crate) hide_comments: bool,
    /// The header or fence that was counted last, with its size.
    counted: Cell<Option<(ByteSpan, usize)>>,
}

impl<'a> Measure<'a> {
    pub(crate) fn new(
        source: &'a str,
        outline: &'a Outline,
        counter: &'a dyn TokenCounter,
        hide_comments: bool,
    ) -> Self {
        Self {
            source,
            outline,
            counter,
            hide_comments,
            counted: Cell::new(None),
        }
    }

    /// [`count`](Self::count) for a span that is asked for again and again before another is: the
    /// header of a table by each parent that holds a part of it, for one.
    pub(crate) fn count_again(&self, span: ByteSpan) -> usize {
        match self.counted.get() {
            Some((known, tokens)) if known == span => tokens,
            _ => {
                let tokens = self.count(span);
                self.counted.set(Some((span, tokens)));
                tokens
            }
        }
    }

    pub(crate) fn text(&self, span: ByteSpan) -> &'a str {
        span.slice(self.source).unwrap_or_default()
    }

    /// The words of a part of the source: of HTML what a reader of the page sees.
    pub(crate) fn words(&self, span: ByteSpan) -> Cow<'a, str> {
        match self.outline.markup() {
            Some(markup) => Cow::Owned(markup.words(self.source, span)),
            None => Cow::Borrowed(self.text(span)),
        }
    }

    pub(crate) fn count(&self, span: ByteSpan) -> usize {
        self.counter.count(&self.words(span))
    }

    /// Where to cut a part of the source so that about `tokens` of its words, and at least one
    /// character, come before.
    pub(crate) fn cut_at(&self, span: ByteSpan, tokens: usize) -> usize {
        let Some(markup) = self.outline.markup() else {
            let text = self.text(span);
            return span.start() + cut_point(text, self.counter.fit(text, tokens));
        };
        let mut enough = tokens.saturating_mul(8).max(64);
        loop {
            let words = markup.some_words(self.source, span, enough);
            let fit = self.counter.fit(&words.text, tokens);
            if words.all || fit < words.text.len() {
                let text = words.text.as_str();
                let cut = cut_point(text, fit);
                let rest = text.get(cut..).unwrap_or_default();
                if words.all && rest.trim().is_empty() {
                    return span.end();
                }
                // Tags and references are not cut, and there is always some way to go.
                let at = words.end_of(cut);
                return if at > span.start() { at } else { span.end() };
            }
            enough = enough.saturating_mul(2);
        }
    }

    /// All pieces of the document, none cut.
    pub(crate) fn pieces(&self) -> Vec<Piece> {
        let mut known: Vec<(Cow<'a, str>, usize)> = Vec::new();
        let mut end = 0;
        let units = units(self.source, self.outline, self.hide_comments);
        units
            .into_iter()
            .map(|Unit { span, kind, block }| {
                let white = match self.outline.markup() {
                    Some(markup) => Cow::Owned(markup.gap(span)),
                    None => Cow::Borrowed(self.text(ByteSpan::from_range(end..span.start()))),
                };
                end = span.end();
                let gap = match known.iter().find(|(text, _)| *text == white) {
                    _ if white.is_empty() => 0,
                    Some(&(_, tokens)) => tokens,
                    None => {
                        let tokens = self.counter.count(&white);
                        if known.len() < 8 {
                            known.push((white, tokens));
                        }
                        tokens
                    }
                };
                let counted = !matches!(kind, UnitKind::Hidden);
                let tokens = if counted { self.count(span) } else { 0 };
                Piece {
                    span,
                    kind,
                    block,
                    tokens,
                    gap,
                    fragment: false,
                }
            })
            .collect()
    }

    /// The piece, cut into fragments of at most `limit` tokens if it is larger.
    pub(crate) fn cut(&self, piece: Piece, limit: usize, out: &mut Vec<Piece>) {
        if piece.tokens <= limit || matches!(piece.kind, UnitKind::Hidden | UnitKind::Decor) {
            out.push(piece);
            return;
        }
        let mut at = piece.span.start();
        let mut gap = piece.gap;
        while at < piece.span.end() {
            let rest = ByteSpan::from_range(at..piece.span.end());
            let cut = self.cut_at(rest, limit);
            let kept = self.text(ByteSpan::from_range(at..cut)).trim_end().len();
            let span = ByteSpan::from_range(at..at + kept);
            if kept > 0 && !self.words(span).trim().is_empty() {
                out.push(self.fragment(piece, span, gap));
            }
            let white = ByteSpan::from_range(span.end()..cut);
            gap = if white.is_empty() {
                0
            } else {
                self.counter.count(self.text(white))
            };
            at = cut;
        }
    }

    /// A part of a piece.
    pub(crate) fn fragment(&self, piece: Piece, span: ByteSpan, gap: usize) -> Piece {
        let hidden = self.hide_comments
            && self.outline.markup().is_none()
            && covered(self.outline.comments(), span, self.source);
        let kind = if hidden { UnitKind::Hidden } else { piece.kind };
        Piece {
            span,
            kind,
            gap,
            tokens: self.count(span),
            fragment: true,
            ..piece
        }
    }
}

/// Where to cut a text of which `fit` bytes fit: after the last white space or comma of the second
/// half, else between two grapheme clusters, and never at 0.
pub(crate) fn cut_point(text: &str, fit: usize) -> usize {
    let first = text.chars().next().map_or(0, char::len_utf8);
    let fit = fit.max(first).min(text.len());
    let Some(head) = text.get(..fit).filter(|_| fit < text.len()) else {
        return fit;
    };
    let soft = |c: char| c.is_whitespace() || ",，、;；:：".contains(c);
    if let Some(at) = head.rfind(soft)
        && at >= fit / 2
        && let Some(found) = head.get(at..).and_then(|tail| tail.chars().next())
    {
        return at + found.len_utf8();
    }
    // A cluster longer than the window (stacked marks without end) is cut like anything else.
    let low = floor_boundary(text, fit.saturating_sub(WINDOW));
    let high = floor_boundary(text, fit + WINDOW);
    let window = text.get(low..high).unwrap_or_default();
    let mut cursor = GraphemeCursor::new(fit - low, window.len(), true);
    match cursor.is_boundary(window, 0) {
        Ok(false) => match cursor.prev_boundary(window, 0) {
            Ok(Some(at)) if at > 0 => low + at,
            _ => fit,
        },
        _ => fit,
    }
}

const WINDOW: usize = 128;

fn floor_boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at)
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0)
}
