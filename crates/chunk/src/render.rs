//! A chunk as Markdown that can stand beside other text.

use std::borrow::Cow;

use cornu_core::{Chunk, ChunkKind};

use crate::html::{is_html, shown};
use crate::markdown::lines::{Lines, line_start};
use crate::markdown::markers::Markers;
use crate::markdown::{BlockKind, Outline};

/// The chunk's prefix and text as Markdown in which every fence is closed, so that in a prompt it
/// cannot swallow what stands after it.
///
/// Definitions come first, apart by a blank line; then the repeated header or fence, then the text,
/// then a closing fence if one is missing. Where a header or fence is repeated, it and the text lose
/// the markers of the containers around them (`> `, the indentation of a list), so that each piece
/// is code or a table by itself. A CR that no LF follows becomes an LF, and a byte order mark in
/// front is left out. The output neither begins nor ends with a line end.
///
/// Of an HTML chunk it is the words, as a reader of the page sees them, code within a fence.
///
/// `source` is the document that the chunk was made from; prefix spans that are not in it are left
/// out. O(bytes of the output).
///
/// ```
/// use std::sync::Arc;
/// use cornu_chunk::{Chunker, SentencePacked, SentencePackedOptions, Window, render};
/// use cornu_core::{Acl, DocId, Document};
/// use cornu_text::CharCounter;
///
/// let source = "```rust\nlet a = 1;\nlet b = 2;\nlet c = 3;\n```\n";
/// let doc = Document::new(DocId::new("a.md")?, source, Acl::public());
/// let options = SentencePackedOptions { window: Window::new(24, 0)?, ..Default::default() };
/// let chunks = SentencePacked::new(Arc::new(CharCounter::new()), options).chunk(&doc)?;
/// assert_eq!(chunks[1].text, "let b = 2;");
/// assert_eq!(render(&chunks[1], source), "```rust\nlet b = 2;\n```");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn render(chunk: &Chunk, source: &str) -> String {
    if is_html(&chunk.doc) {
        return closed(for_any_parser(&page(chunk, source)));
    }
    let mut out = String::new();
    let mut text = opened(chunk);
    for (at, &span) in chunk.prefix.iter().enumerate() {
        let Some(part) = span.slice(source) else {
            continue;
        };
        let markers = Markers::before(source, span.start());
        let part = markers.strip(part, false);
        out.push_str(part.trim_end());
        if at + 1 == chunk.prefix.len() && repeated(chunk.kind, &part) {
            let start = chunk.span.start();
            let whole = line_start(source, start, 0) == start;
            text = Cow::Owned(markers.strip(&chunk.text, whole));
            out.push('\n');
        } else {
            out.push_str("\n\n");
        }
    }
    out.push_str(&text);
    closed(for_any_parser(&out))
}

/// The words of an HTML chunk and of what is repeated above it.
fn page(chunk: &Chunk, source: &str) -> String {
    let spans = chunk.prefix.iter().filter_map(|span| span.slice(source));
    let parts: Vec<Cow<'_, str>> = spans
        .chain([chunk.text.as_str()])
        .map(|part| shown(chunk, part))
        .collect();
    let words = parts.join("\n");
    if chunk.kind != ChunkKind::Code {
        return words;
    }
    let ticks = words.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(ticks.max(2) + 1);
    let language = chunk.language.as_deref().unwrap_or_default();
    let words = words.trim_end();
    format!("{fence}{language}\n{words}\n{fence}")
}

/// The Markdown with the fence in which it ends closed.
fn closed(mut out: String) -> String {
    if let Some(fence) = unclosed(&out) {
        if !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(&fence);
    }
    out
}

/// The text without what some parsers read and others do not: a byte order mark in front, and lone
/// CRs, which become LFs.
fn for_any_parser(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}');
    let mut out = String::with_capacity(text.len());
    for line in Lines::new(text, 0) {
        let line = line.slice(text).unwrap_or_default();
        match line.strip_suffix('\r') {
            Some(line) => out.extend([line, "\n"]),
            None => out.push_str(line),
        }
    }
    out
}

/// The text of a chunk without a repeated header or fence. A fence or a table that begins deep in a
/// list would be indented code without the list.
fn opened(chunk: &Chunk) -> Cow<'_, str> {
    let block = chunk.text.trim_start_matches([' ', '\t']);
    let indentation = chunk.text.get(..chunk.text.len() - block.len());
    let indentation = indentation.unwrap_or_default();
    let opens = match chunk.kind {
        ChunkKind::Code => is_fence(block),
        kind => kind == ChunkKind::Table,
    };
    if opens && !indentation.is_empty() {
        Cow::Owned(Markers::of(indentation).strip(&chunk.text, true))
    } else {
        Cow::Borrowed(&chunk.text)
    }
}

/// Whether a part of the prefix is a fence or a header that the text goes on from.
fn repeated(kind: ChunkKind, part: &str) -> bool {
    match kind {
        ChunkKind::Code => is_fence(part),
        ChunkKind::Table => {
            let outline = Outline::of_body(part);
            let first = outline.blocks().first();
            first.is_some_and(|block| matches!(block.kind, BlockKind::Table(_)) && block.depth == 0)
        }
        _ => false,
    }
}

fn is_fence(text: &str) -> bool {
    text.starts_with("```") || text.starts_with("~~~")
}

/// The line that closes the fence in which a text ends.
fn unclosed(text: &str) -> Option<String> {
    let outline = Outline::of_body(text);
    let BlockKind::Code(code) = &outline.blocks().last()?.kind else {
        return None;
    };
    let fence = code.fence.as_ref().filter(|fence| !fence.closed)?;
    let markers = Markers::before(text, fence.opening.start());
    Some(markers.continuation() + &fence.close_with())
}
