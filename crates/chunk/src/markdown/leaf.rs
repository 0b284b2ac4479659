//! What is read from the source of a leaf block rather than from the parser's events.

use std::ops::Range;

use cornu_core::ByteSpan;

use super::lines::line_end;
use super::{CodeBlock, Fence, MAX_TITLE_CHARS};

/// A code block at `range`, whose content ends at `content`; `info` is the info string of a fenced
/// one.
pub(super) fn code(
    source: &str,
    range: &Range<usize>,
    info: Option<&str>,
    content: usize,
) -> CodeBlock {
    CodeBlock {
        language: info
            .and_then(|info| info.split_whitespace().next())
            .map(str::to_owned),
        fence: info.map(|_| fence(source, range, content)),
    }
}

fn fence(source: &str, range: &Range<usize>, content: usize) -> Fence {
    let text = source.get(range.clone()).unwrap_or_default();
    let marker = text.chars().next().unwrap_or('`');
    let length = text.chars().take_while(|&c| c == marker).count();
    let opening = ByteSpan::from_range(range.start..line_end(source, range.start));
    // A line that closes the fence is in the block and not in its content. Only the markers of the
    // block's own containers can stand before it.
    let after = content.max(opening.end());
    let closing = source
        .get(after..range.end)
        .unwrap_or_default()
        .split(['\n', '\r'])
        .map(|line| line.trim_start_matches([' ', '\t', '>']).trim_end())
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    let closed = closing.chars().count() >= length && closing.chars().all(|c| c == marker);
    Fence {
        opening,
        marker,
        length,
        closed,
    }
}

/// The comments of an HTML block, and whether there is nothing else in it. A comment that is not
/// closed runs to the end of the block.
pub(super) fn comments(source: &str, range: &Range<usize>) -> (Vec<ByteSpan>, bool) {
    let text = source.get(range.clone()).unwrap_or_default();
    let mut found = Vec::new();
    let (mut at, mut alone) = (0, true);
    // Markers of a block quote are no content.
    let blank = |text: &str| text.chars().all(|c| c.is_whitespace() || c == '>');
    while let Some(opened) = text.get(at..).and_then(|tail| tail.find("<!--")) {
        let opened = at + opened;
        alone &= blank(text.get(at..opened).unwrap_or_default());
        // `<!-->` and `<!--->` are whole comments: both ends may share the dashes.
        let dashes = opened + "<!".len();
        at = text
            .get(dashes..)
            .and_then(|tail| tail.find("-->"))
            .map_or(text.len(), |closed| dashes + closed + "-->".len());
        found.push(ByteSpan::from_range(range.start + opened..range.start + at));
    }
    alone &= blank(text.get(at..).unwrap_or_default()) && !found.is_empty();
    (found, alone)
}

/// Whether an HTML tag is `<br>` in one of its forms.
pub(super) fn is_line_break(html: &str) -> bool {
    let named = html
        .get(..3)
        .is_some_and(|tag| tag.eq_ignore_ascii_case("<br"));
    let after = html.get(3..).and_then(|rest| rest.chars().next());
    named && after.is_some_and(|c| c == '>' || c == '/' || c.is_whitespace())
}

/// A heading's title in one line: white space and control characters folded to one space each, at
/// most [`MAX_TITLE_CHARS`] characters, and a mark where it was cut.
pub(crate) fn title(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let title = words.join(" ");
    match title.char_indices().nth(MAX_TITLE_CHARS) {
        None => title,
        Some((at, _)) => format!("{}…", title.get(..at).unwrap_or_default().trim_end()),
    }
}
