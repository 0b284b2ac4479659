//! A chunk as Markdown that can stand beside other text.

use cornu_core::{Chunk, ChunkKind};

use crate::markdown::{BlockKind, Outline};

/// The chunk's prefix and text as Markdown in which every fence is closed, so that in a prompt it
/// cannot swallow what stands after it.
///
/// Definitions come first, apart by a blank line; then the repeated header or fence, then the text,
/// then a closing fence if one is missing. Neither begins nor ends with a line end. `source` is the
/// document that the chunk was made from; prefix spans that are not in it are left out.
/// O(bytes of the output).
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
    let mut out = String::new();
    let parts: Vec<&str> = chunk
        .prefix
        .iter()
        .filter_map(|span| span.slice(source))
        .collect();
    for (at, part) in parts.iter().enumerate() {
        out.push_str(part.trim_end());
        let last = at + 1 == parts.len();
        let joined = last && repeated(chunk.kind, part);
        out.push_str(if joined { "\n" } else { "\n\n" });
    }
    out.push_str(&chunk.text);
    if let Some(fence) = unclosed(&out) {
        if !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(&fence);
    }
    out
}

/// Whether a part of the prefix is a fence or a header that the text goes on from.
fn repeated(kind: ChunkKind, part: &str) -> bool {
    match kind {
        ChunkKind::Code => part.starts_with("```") || part.starts_with("~~~"),
        ChunkKind::Table => {
            part.trim_end().lines().next_back().is_some_and(|line| {
                line.contains('-') && line.chars().all(|c| "|-: \t>".contains(c))
            })
        }
        _ => false,
    }
}

/// The line that closes the fence in which a text ends.
fn unclosed(text: &str) -> Option<String> {
    let outline = Outline::parse(text);
    let last = outline.blocks().last()?;
    let BlockKind::Code(code) = &last.kind else {
        return None;
    };
    let fence = code.fence.as_ref().filter(|fence| !fence.closed)?;
    let before = text
        .get(last.span.start()..fence.opening.start())
        .unwrap_or_default();
    Some(indent(before) + &fence.close_with())
}

/// What a further line of the container begins with, where a line of it begins with `markers`.
fn indent(markers: &str) -> String {
    markers
        .chars()
        .map(|c| if matches!(c, '>' | '\t') { c } else { ' ' })
        .collect()
}
