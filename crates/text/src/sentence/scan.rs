//! The scanner behind [`sentences`](super::sentences): one pass, a few flags, no allocation.

use cornu_core::ByteSpan;

use super::abbreviation::{Abbreviation, classify, opens_number, opens_sentence};
use crate::chars::{
    char_at, char_before, closing_of, is_cjk, is_closing, is_closing_bracket, is_closing_quote,
    is_content, is_opening_quote, work,
};

/// How far ahead, in characters, a bracket's other half is looked for.
const BRACKET_REACH: usize = 256;

/// How far back, in characters, the word before a full stop reaches.
const WORD_REACH: usize = 16;

/// Why a sentence ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// A mark that ends sentences.
    Mark,
    /// A blank line.
    BlankLine,
    /// The text ended.
    TextEnd,
}

/// A sentence with the reason for its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) span: ByteSpan,
    pub(super) cause: Cause,
    /// Where the ending marks and what belongs to them stop: the end without white space.
    pub(super) marks_end: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// First byte of the last character that carries meaning; no sentence starts after it.
    last_content: usize,
    /// Whether a straight double quote is open in this paragraph.
    quote_open: bool,
    /// Whether Markdown emphasis is open in this paragraph.
    emphasis_open: bool,
    /// Nothing ends before this byte: a title, inline code, or a bracket within a sentence.
    whole_until: usize,
    /// No ellipsis ends before this byte: any bracket.
    bracket_until: usize,
    /// The text up to here is known to hold no closing bracket, or no more of this paragraph.
    unclosed_until: usize,
}

/// Marks that stand together, with what belongs to them.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    end: usize,
    /// `。！？` and their forms.
    cjk: bool,
    /// `!` or `?`.
    ascii: bool,
    /// Number of `.`.
    dots: usize,
    /// Number of `…`.
    ellipses: usize,
    /// A closing quote is part of the run.
    quote: bool,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let last_content = text
            .char_indices()
            .rev()
            .find(|&(_, c)| is_content(c))
            .map_or(0, |(at, _)| at);
        Self {
            text,
            at: 0,
            last_content,
            quote_open: false,
            emphasis_open: false,
            whole_until: 0,
            bracket_until: 0,
            unclosed_until: 0,
        }
    }

    pub(super) fn next_sentence(&mut self) -> Option<Found> {
        let start = self.at;
        if start >= self.text.len() {
            return None;
        }
        let mut has_content = false;
        let mut in_url = false;
        let mut at = start;
        while let Some(c) = char_at(self.text, at) {
            let next = at + c.len_utf8();
            if c.is_ascii_alphanumeric() || is_cjk(c) {
                has_content = true;
                at = next;
            } else if is_line_break(c) {
                in_url = false;
                let (after, blank) = self.white_space(at);
                if blank {
                    self.new_paragraph();
                    if has_content {
                        return Some(self.finish(start, at, after, Cause::BlankLine));
                    }
                }
                at = after;
            } else if c.is_whitespace() {
                in_url = false;
                at = next;
            } else if is_mark(c) {
                let dots = c == '.' || c == '…';
                if at < self.whole_until
                    || (dots && at < self.bracket_until && self.is_ellipsis(at, c))
                {
                    at = next;
                    continue;
                }
                let run = self.run(at);
                if has_content && self.ends(start, at, &run, in_url) {
                    let (after, blank) = self.white_space(run.end);
                    if blank {
                        self.new_paragraph();
                    }
                    return Some(self.finish(start, run.end, after, Cause::Mark));
                }
                at = run.end.max(next);
            } else {
                in_url = match c {
                    ':' => {
                        in_url
                            || self
                                .text
                                .get(next..)
                                .is_some_and(|rest| rest.starts_with("//"))
                    }
                    '，' | '、' | '；' | '：' => false,
                    _ => in_url,
                };
                at = self.other(at, c, has_content);
                has_content |= is_content(c);
            }
        }
        Some(self.finish(start, self.text.len(), self.text.len(), Cause::TextEnd))
    }

    fn finish(&mut self, start: usize, marks_end: usize, end: usize, cause: Cause) -> Found {
        // What is left would be punctuation only: it stays with this sentence.
        self.at = if end > self.last_content {
            self.text.len()
        } else {
            end
        };
        Found {
            span: ByteSpan::from_range(start..self.at),
            cause,
            marks_end,
        }
    }

    fn new_paragraph(&mut self) {
        self.quote_open = false;
        self.emphasis_open = false;
        self.whole_until = 0;
        self.bracket_until = 0;
    }

    /// The end of the white space that starts at `at`, and whether it holds a blank line.
    fn white_space(&self, at: usize) -> (usize, bool) {
        let mut breaks = 0;
        let mut end = at;
        let mut before = '\0';
        while let Some(c) = char_at(self.text, end).filter(|c| c.is_whitespace()) {
            if c == '\u{2029}' {
                breaks += 2;
            } else if is_line_break(c) && !(c == '\n' && before == '\r') {
                breaks += 1;
            }
            before = c;
            end += c.len_utf8();
        }
        (end, breaks > 1)
    }

    /// Steps over a character that is no letter, no white space and no mark, and keeps account of
    /// brackets, quotes, emphasis and code. Gives the place to go on from.
    fn other(&mut self, at: usize, c: char, has_content: bool) -> usize {
        let next = at + c.len_utf8();
        match c {
            '"' => self.quote_open = !self.quote_open,
            '*' | '_' | '~' => {
                let end = self.repeats(at, c);
                if self.is_emphasis(at, end, c) {
                    self.emphasis_open = !self.emphasis_open;
                }
                return end;
            }
            '`' => {
                let end = self.repeats(at, c);
                if at >= self.whole_until
                    && let Some(close) = self.code_end(end, end - at)
                {
                    self.whole_until = close;
                    return close;
                }
                return end;
            }
            _ if at >= self.bracket_until => {
                if let Some(close) = closing_of(c)
                    && let Some(end) = self.bracket_end(at, c, close)
                {
                    self.bracket_until = end;
                    if has_content || matches!(c, '《' | '〈') {
                        self.whole_until = self.whole_until.max(end);
                    }
                }
            }
            _ => {}
        }
        next
    }

    /// The end of the run of `c` that starts at `at`.
    fn repeats(&self, at: usize, c: char) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        at + rest.len() - rest.trim_start_matches(c).len()
    }

    /// Whether the marks opens or close emphasis, rather than being a bullet, a multiplication or
    /// part of an identifier.
    fn is_emphasis(&self, at: usize, end: usize, c: char) -> bool {
        let before = char_before(self.text, at);
        let after = char_at(self.text, end);
        let white = |c: Option<char>| c.is_none_or(char::is_whitespace);
        let word = |side: Option<char>| {
            side.is_some_and(|side| {
                side.is_ascii_alphanumeric() || (c == '_' && side.is_alphanumeric())
            })
        };
        !(white(before) && white(after) || word(before) && word(after))
    }

    /// The end of inline code whose opening run of `ticks` backticks ends at `from`, when a run of
    /// equal length follows within reach and within the paragraph.
    fn code_end(&self, from: usize, ticks: usize) -> Option<usize> {
        let mut seen = 0;
        let mut broke = false;
        for (offset, c) in self.text.get(from..)?.char_indices().take(BRACKET_REACH) {
            work::step();
            if c == '`' {
                seen += 1;
                let next = from + offset + 1;
                if seen == ticks && char_at(self.text, next) != Some('`') {
                    return Some(next);
                }
                continue;
            }
            seen = 0;
            if is_line_break(c) {
                if broke {
                    return None;
                }
                broke = true;
            } else if !c.is_whitespace() {
                broke = false;
            }
        }
        None
    }

    /// The end of the bracket that opens at `at`, when it closes within reach and within its
    /// paragraph.
    fn bracket_end(&mut self, at: usize, open: char, close: char) -> Option<usize> {
        if at < self.unclosed_until {
            return None;
        }
        let mut depth = 0_usize;
        let mut broke = false;
        let mut closes = false;
        let mut reached = self.text.len();
        let window = self.text.get(at..)?.char_indices();
        for (step, (offset, c)) in window.enumerate() {
            work::step();
            if step == BRACKET_REACH {
                reached = at + offset;
                break;
            }
            if c == open {
                depth += 1;
            } else if c == close {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + offset + c.len_utf8());
                }
            }
            closes |= is_closing_bracket(c);
            if is_line_break(c) {
                if broke {
                    reached = at + offset;
                    break;
                }
                broke = true;
            } else if !c.is_whitespace() {
                broke = false;
            }
        }
        if !closes {
            self.unclosed_until = reached;
        }
        None
    }

    fn is_ellipsis(&self, at: usize, c: char) -> bool {
        c == '…'
            || char_at(self.text, at + 1) == Some('.')
            || at
                .checked_sub(1)
                .and_then(|at| self.text.as_bytes().get(at))
                == Some(&b'.')
    }

    /// The run of marks that starts at `at`, with the closing marks and citations that belong to
    /// it. White space within a line belongs to it only when another mark or a closing bracket or
    /// quote follows.
    fn run(&mut self, at: usize) -> Run {
        let mut run = Run {
            end: at,
            ..Run::default()
        };
        let mut spaced = false;
        let mut end = at;
        while let Some(c) = char_at(self.text, end) {
            let next = end + c.len_utf8();
            if is_mark(c) {
                let inside = matches!(c, '.' | '!' | '?')
                    && end > at
                    && char_at(self.text, next).is_some_and(|c| c.is_ascii_alphanumeric());
                if inside {
                    break;
                }
                match c {
                    '.' | '．' => run.dots += 1,
                    '…' => run.ellipses += 1,
                    '!' | '?' => run.ascii = true,
                    _ => run.cjk = true,
                }
            } else if is_closing(c) && !(spaced && c == '’') {
                run.quote |= is_closing_quote(c);
            } else if spaced {
                break;
            } else if c == '"' && (self.quote_open || self.stands_free(next)) {
                self.quote_open = false;
                run.quote = true;
            } else if c == '\'' && self.stands_free(next) {
                run.quote = true;
            } else if matches!(c, '*' | '_' | '~') {
                let marks = self.repeats(end, c);
                if !self.emphasis_open && !self.stands_free(marks) {
                    break;
                }
                self.emphasis_open = false;
                end = marks;
                run.end = end;
                continue;
            } else if matches!(c, '\u{B2}' | '\u{B3}' | '\u{B9}' | '\u{2070}'..='\u{2079}') {
                // a raised footnote number
            } else if let Some(citation) = self.citation(end, c) {
                end = citation;
                run.end = end;
                continue;
            } else if c.is_whitespace() && !is_line_break(c) {
                end = self.spaces(end);
                spaced = true;
                continue;
            } else {
                break;
            }
            spaced = false;
            end = next;
            run.end = end;
        }
        run
    }

    /// Whether the text ends at `at` or white space or a closing mark follows.
    fn stands_free(&self, at: usize) -> bool {
        char_at(self.text, at).is_none_or(|c| c.is_whitespace() || is_closing(c))
    }

    /// The end of the white space within a line that starts at `at`.
    fn spaces(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() && !is_line_break(c));
        at + rest.len() - trimmed.len()
    }

    /// The end of a citation such as `[3]`, `[3, 4]` or `[^note]` that starts at `at`.
    fn citation(&self, at: usize, c: char) -> Option<usize> {
        if c != '[' {
            return None;
        }
        let rest = self.text.get(at + 1..)?;
        let close = rest
            .char_indices()
            .take(WORD_REACH)
            .find(|&(_, c)| c == ']')
            .map(|(at, _)| at)?;
        let label = rest.get(..close)?;
        let numbers = !label.is_empty()
            && label
                .chars()
                .all(|c| c.is_ascii_digit() || matches!(c, ',' | ' ' | '-' | '–'));
        let note =
            label.len() > 1 && label.starts_with('^') && !label.contains(char::is_whitespace);
        let after = char_at(rest, close + 1);
        ((numbers || note) && !matches!(after, Some('(' | ':'))).then_some(at + 1 + close + 1)
    }

    /// Whether the run of marks that starts at `at` ends the sentence that starts at `start`.
    fn ends(&self, start: usize, at: usize, run: &Run, in_url: bool) -> bool {
        let (after, blank) = self.white_space(run.end);
        let following = char_at(self.text, after);
        let Some(next) = following.filter(|_| !blank) else {
            return run.cjk
                || run.ascii
                || run.ellipses > 0
                || run.dots > 1
                || self.dot_ends_text(start, at);
        };
        let apart = after > run.end;
        let detached = char_before(self.text, at).is_none_or(char::is_whitespace);
        if continues(next) || (run.quote && (next.is_lowercase() || (!apart && is_particle(next))))
        {
            return false;
        }
        if run.cjk {
            return true;
        }
        // What may start a sentence without white space before it.
        let can_touch = is_cjk(next)
            || is_opening_quote(next)
            || matches!(next, '《' | '【')
            || (run.quote && next.is_uppercase());
        if detached && run.ellipses == 0 && !(next.is_uppercase() || can_touch) {
            return false;
        }
        if run.ascii {
            return apart || (!in_url && (can_touch || (!next.is_ascii() && is_content(next))));
        }
        if run.ellipses > 0 || run.dots > 1 {
            if apart {
                return !next.is_lowercase();
            }
            let hesitates = char_before(self.text, at) == Some(next);
            return can_touch && !hesitates && !is_particle(next) && run.ellipses + run.dots > 1;
        }
        (apart || can_touch) && !next.is_lowercase() && self.dot_ends(start, at, after, next, apart)
    }

    /// Whether the single full stop at `at` ends the sentence from `start`, when `next` follows at
    /// `after`.
    fn dot_ends(&self, start: usize, at: usize, after: usize, next: char, apart: bool) -> bool {
        let word = self.word_before(at);
        if self.is_item_label(start, at, word) || self.is_initial(at, word) {
            return false;
        }
        let rest = self.text.get(after..).unwrap_or_default();
        match classify(word) {
            None => true,
            Some(Abbreviation::Leading) => false,
            Some(Abbreviation::Numeric) => !opens_number(rest),
            Some(Abbreviation::Trailing) => {
                (next.is_uppercase() || is_cjk(next) || is_opening_quote(next) || next == '"')
                    && (apart || !is_particle(next))
            }
            Some(Abbreviation::Either) => opens_sentence(rest),
        }
    }

    /// Whether the single full stop at `at`, the last mark before the end or a blank line, ends a
    /// sentence.
    fn dot_ends_text(&self, start: usize, at: usize) -> bool {
        let word = self.word_before(at);
        !self.is_item_label(start, at, word)
            && !self.is_initial(at, word)
            && classify(word) != Some(Abbreviation::Leading)
    }

    /// The letters, digits and full stops directly before `at`.
    fn word_before(&self, at: usize) -> &'a str {
        let before = self.text.get(..at).unwrap_or_default();
        let start = before
            .char_indices()
            .rev()
            .take(WORD_REACH)
            .take_while(|&(_, c)| c.is_ascii_alphanumeric() || c == '.')
            .last()
            .map_or(at, |(at, _)| at);
        self.text.get(start..at).unwrap_or_default()
    }

    /// Whether `word` is the label of an item, such as `3`, `1.2` or `b`: it stands first in its line
    /// or in its sentence, or after a colon or semicolon that is not part of a time or a ratio, and
    /// nothing but Markdown's own marks and an opening quote comes before it.
    fn is_item_label(&self, start: usize, at: usize, word: &str) -> bool {
        let number = word.split('.').all(|part| {
            (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
        });
        let letter = word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_lowercase());
        let Some(before) = self.text.get(start..at - word.len()) else {
            return false;
        };
        let blank = |c: char| matches!(c, ' ' | '\t' | '\u{3000}');
        let mut chars = before.chars().rev().take(WORD_REACH).peekable();
        let apart = chars.peek().is_some_and(|&c| blank(c));
        let mark = chars.find(|&c| {
            !(blank(c) || matches!(c, '#' | '>' | '-' | '+' | '*') || is_opening_quote(c))
        });
        let first = match mark {
            None => true,
            Some(colon @ (':' | ';' | '：' | '；')) => {
                let before = chars.next();
                let digit = before.is_some_and(|c| c.is_ascii_digit());
                !digit && (apart || !colon.is_ascii() || before.is_some_and(is_cjk))
            }
            Some(c) => is_line_break(c),
        };
        (number || letter) && first
    }

    /// Whether `word` is one capital letter that no letter of any script stands before.
    fn is_initial(&self, at: usize, word: &str) -> bool {
        word.len() == 1
            && word.bytes().all(|b| b.is_ascii_uppercase())
            && !char_before(self.text, at - 1).is_some_and(char::is_alphanumeric)
    }
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}' | '\u{85}')
}

fn is_mark(c: char) -> bool {
    matches!(
        c,
        '.' | '!'
            | '?'
            | '。'
            | '！'
            | '？'
            | '…'
            | '｡'
            | '．'
            | '‼'
            | '⁇'
            | '⁈'
            | '⁉'
            | '︒'
            | '︕'
            | '︖'
            | '﹒'
            | '﹖'
            | '﹗'
    )
}

/// Whether a sentence goes on when this character follows its mark.
fn continues(c: char) -> bool {
    matches!(c, ',' | ';' | ':' | '，' | '、' | '；' | '：' | '､') || is_closing(c)
}

/// Whether the character, after a closing quote, joins the quotation to what follows.
fn is_particle(c: char) -> bool {
    matches!(c, '的' | '之' | '等' | '和' | '与' | '或' | '與' | '及')
}
