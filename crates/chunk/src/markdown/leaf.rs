//! What is read from the source of a leaf block rather than from the parser's events.

use std::ops::Range;

use cornu_core::ByteSpan;

use super::lines::line_end;
use super::{CodeBlock, Fence, MAX_TITLE_CHARS};

/// A code block at `range`; `info` is the info string of a fenced one.
pub(super) fn code(source: &str, range: &Range<usize>, info: Option<&str>) -> CodeBlock {
    CodeBlock {
        language: info
            .and_then(|info| info.split_whitespace().next())
            .map(str::to_owned),
        fence: info.map(|_| fence(source, range)),
    }
}

fn fence(source: &str, range: &Range<usize>) -> Fence {
    let text = source.get(range.clone()).unwrap_or_default();
    let marker = text.chars().next().unwrap_or('`');
    let length = text.chars().take_while(|&c| c == marker).count();
    let opening = ByteSpan::from_range(range.start..line_end(source, range.start));
    let last = text
        .rsplit(['\n', '\r'])
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    let last = last.trim_start_matches([' ', '\t', '>']).trim_end();
    let closed = range.end > opening.end()
        && last.chars().count() >= length
        && last.chars().all(|c| c == marker);
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

/// A title of at most [`MAX_TITLE_CHARS`] characters, and a mark where it was cut.
pub(super) fn cut_title(title: &str) -> String {
    match title.char_indices().nth(MAX_TITLE_CHARS) {
        None => title.to_owned(),
        Some((at, _)) => format!("{}…", title.get(..at).unwrap_or_default().trim_end()),
    }
}
