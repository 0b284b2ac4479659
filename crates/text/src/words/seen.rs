//! The characters that a reader sees, with the way back to the text as it was given.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use crate::chars::is_invisible;

/// A text without its invisible characters, and with radicals as the characters that they look like.
pub(super) struct Seen {
    pub(super) text: String,
    /// Where each stretch without a gap begins: here, and in the source.
    stretches: Vec<(usize, usize)>,
}

/// What a reader sees of a text; `None` where that is the text itself. O(bytes).
///
/// [Invisible](is_invisible) characters are left out: no query holds them where a text does. Radicals (`⼤`, `⻚`), which PDF files have in the place of characters, are those characters.
pub(super) fn seen(text: &str) -> Option<Seen> {
    if !text.chars().any(|c| is_invisible(c) || character(c) != c) {
        return None;
    }
    let mut out = Seen {
        text: String::with_capacity(text.len()),
        stretches: Vec::new(),
    };
    let mut gap = true;
    for (at, c) in text.char_indices() {
        if is_invisible(c) {
            gap = true;
            continue;
        }
        if gap {
            out.stretches.push((out.text.len(), at));
        }
        let shown = character(c);
        out.text.push(shown);
        gap = shown.len_utf8() != c.len_utf8();
    }
    Some(out)
}

impl Seen {
    /// The bytes of the source that a part of the text, of at least a character, stands for.
    pub(super) fn source(&self, part: Range<usize>) -> Range<usize> {
        let place = |at: usize, stretch: usize| {
            let known = stretch
                .checked_sub(1)
                .and_then(|stretch| self.stretches.get(stretch));
            known.map_or(0, |&(here, source)| source + at.saturating_sub(here))
        };
        let first = self.stretches.partition_point(|&(at, _)| at <= part.start);
        let last = self.stretches.partition_point(|&(at, _)| at < part.end);
        place(part.start, first)..place(part.end, last)
    }
}

/// The Chinese character that a radical looks like; of other characters the character itself.
///
/// Kangxi radicals by their decomposition, those of the supplement that are whole characters by
/// Unicode's `EquivalentUnifiedIdeograph`. All take three bytes, as what they stand for does.
fn character(c: char) -> char {
    const SUPPLEMENT: [(char, char); 30] = [
        ('⺝', '月'),
        ('⺟', '母'),
        ('⺠', '民'),
        ('⺩', '王'),
        ('⻁', '虎'),
        ('⻄', '西'),
        ('⻅', '见'),
        ('⻆', '角'),
        ('⻉', '贝'),
        ('⻋', '车'),
        ('⻓', '长'),
        ('⻔', '门'),
        ('⻘', '青'),
        ('⻙', '韦'),
        ('⻚', '页'),
        ('⻛', '风'),
        ('⻜', '飞'),
        ('⻝', '食'),
        ('⻢', '马'),
        ('⻣', '骨'),
        ('⻤', '鬼'),
        ('⻥', '鱼'),
        ('⻦', '鸟'),
        ('⻧', '卤'),
        ('⻨', '麦'),
        ('⻩', '黄'),
        ('⻬', '齐'),
        ('⻮', '齿'),
        ('⻰', '龙'),
        ('⻳', '龟'),
    ];
    match c {
        '\u{2F00}'..='\u{2FD5}' => std::iter::once(c).nfkc().next().unwrap_or(c),
        '\u{2E80}'..='\u{2EF3}' => {
            let found = SUPPLEMENT.iter().find(|(radical, _)| *radical == c);
            found.map_or(c, |(_, character)| *character)
        }
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::seen;

    #[test]
    fn what_needs_no_change_is_not_copied() {
        for text in ["", "a\u{301} 字 1\u{20E3} ‐ ’", "한\u{1160}"] {
            assert!(seen(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn every_part_has_its_place() {
        let text = "\u{feff}a\u{200b}\u{ad}bc\u{200b} ⼤\u{fe0f}";
        let seen = seen(text).map(|seen| {
            let place = |part: &str| {
                let at = seen.text.find(part).unwrap_or_default();
                text.get(seen.source(at..at + part.len()))
            };
            let places = ["a", "b", "ab", "abc", "c ", "大"].map(place);
            (seen.text.clone(), places)
        });
        let places = [
            "a",
            "b",
            "a\u{200b}\u{ad}b",
            "a\u{200b}\u{ad}bc",
            "c\u{200b} ",
            "⼤",
        ];
        assert_eq!(seen, Some(("abc 大".to_owned(), places.map(Some))));
    }
}
