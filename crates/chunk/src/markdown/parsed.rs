//! The text that the parser is given: the document, mended where the parser would go astray.

use std::borrow::Cow;
use std::ops::Range;

use super::lines::Lines;

/// Markers of containers (`>`, `-`, `1.`, `[^1]:`) that begin at this column of their line or after
/// it count as white space: no document nests deeper than this. Each line is compared with all the
/// containers that are open, so without a bound one line of `>>>>…` would make the work quadratic.
pub const MAX_MARKER_COLUMN: usize = 100;

/// The text to parse for `body`, byte for byte as long, so that every offset holds.
///
/// - A CR that no LF follows is an LF: pulldown-cmark sees such line ends in some places only.
/// - A tab before the closing hashes of a heading, and after a closing fence, is a space:
///   pulldown-cmark knows only spaces there.
/// - Markers from [`MAX_MARKER_COLUMN`] on are blank.
///
/// A copy only where there is something to mend. O(bytes).
pub(super) fn parsed(body: &str) -> Cow<'_, str> {
    let mut copy: Option<Vec<u8>> = None;
    let any_tabs = body.contains('\t');
    for line in Lines::new(body, 0) {
        let text = line.slice(body).unwrap_or_default().as_bytes();
        let mut fill = |part: Range<usize>, with: u8| {
            let copy = copy.get_or_insert_with(|| body.as_bytes().to_vec());
            let range = line.start() + part.start..line.start() + part.end;
            copy.get_mut(range).unwrap_or_default().fill(with);
        };
        if text.last() == Some(&b'\r') {
            fill(text.len() - 1..text.len(), b'\n');
        }
        if any_tabs {
            let tabs = closing_tabs(text).into_iter();
            tabs.filter(|tabs| !tabs.is_empty())
                .for_each(|tabs| fill(tabs, b' '));
        }
        if let Some(deep) = deep_markers(text) {
            fill(deep, b' ');
        }
    }
    // Only whole characters were replaced, so the copy is UTF-8.
    copy.and_then(|copy| String::from_utf8(copy).ok())
        .map_or(Cow::Borrowed(body), Cow::Owned)
}

/// The tab before the hashes that end a line, and the white space with a tab in it after hashes or
/// the characters of a fence. Where the line is neither heading nor fence, nothing is read from it
/// that a space instead of a tab would change.
fn closing_tabs(line: &[u8]) -> [Range<usize>; 2] {
    let until = |bytes: &[u8], drop: &[u8]| {
        let kept = bytes.iter().rposition(|byte| !drop.contains(byte));
        kept.map_or(0, |last| last + 1)
    };
    let end = until(line, b"\r\n");
    let line = line.get(..end).unwrap_or_default();
    let kept = line.get(..until(line, b" \t")).unwrap_or_default();
    let Some(last @ (b'#' | b'`' | b'~')) = kept.last() else {
        return [0..0, 0..0];
    };
    let white = line.get(kept.len()..).unwrap_or_default();
    let after = if white.contains(&b'\t') {
        kept.len()..end
    } else {
        0..0
    };
    let open = until(kept, b"#");
    // A tab that no opening hashes come before is indentation.
    let before = match kept.get(..open) {
        Some([text @ .., b'\t']) if *last == b'#' && text.contains(&b'#') => open - 1..open,
        _ => 0..0,
    };
    [before, after]
}

/// The bytes of a line from its first marker at [`MAX_MARKER_COLUMN`] or after it to the end of its
/// last marker.
fn deep_markers(line: &[u8]) -> Option<Range<usize>> {
    let (mut at, mut column) = (0, 0);
    let mut deep: Option<Range<usize>> = None;
    loop {
        let rest = line.get(at..).unwrap_or_default();
        match rest.first() {
            Some(b' ') => (at, column) = (at + 1, column + 1),
            Some(b'\t') => (at, column) = (at + 1, column + 4 - column % 4),
            _ => {
                let length = marker(rest);
                if length == 0 {
                    return deep;
                }
                if column >= MAX_MARKER_COLUMN {
                    deep.get_or_insert(at..at).end = at + length;
                }
                (at, column) = (at + length, column + length);
            }
        }
    }
}

/// The bytes of the container marker that a line goes on with; 0 for none.
fn marker(rest: &[u8]) -> usize {
    let free = |length: usize| {
        let apart = rest.get(length).is_none_or(u8::is_ascii_whitespace);
        if apart { length } else { 0 }
    };
    match rest {
        [b'>', ..] => 1,
        [b'-' | b'+' | b'*', ..] => free(1),
        [b'[', b'^', ..] => match rest.iter().position(|&byte| byte == b']') {
            Some(close) if rest.get(close + 1) == Some(&b':') => close + 2,
            _ => 0,
        },
        _ => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            match rest.get(digits) {
                Some(b'.' | b')') if (1..=9).contains(&digits) => free(digits + 1),
                _ => 0,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::parsed;

    #[test]
    fn what_needs_no_mending_is_not_copied() {
        for text in ["", "# A\r\n> - x\n", "字\n\n    code"] {
            assert!(matches!(parsed(text), Cow::Borrowed(_)), "{text:?}");
        }
    }

    #[test]
    fn the_copy_is_as_long() {
        assert_eq!(parsed("a\rb\r\nc\r"), "a\nb\r\nc\n");
        let deep = ">".repeat(100) + "> -\t[^字]: # x > y";
        assert_eq!(parsed(&deep), ">".repeat(100) + &" ".repeat(12) + "# x > y");
        assert_eq!(
            parsed("# a\t#\t\r\n``` \t\n\tx\t\n"),
            "# a # \r\n```  \n\tx\t\n"
        );
        let text = " ".repeat(100) + "-x";
        assert_eq!(parsed(&text), text);
    }
}
