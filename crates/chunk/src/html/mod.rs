//! HTML documents: their structure with byte ranges, and the words that a reader of the page sees.
//!
//! A document is HTML when its name ends in `.html` or `.htm`; then every strategy reads it by this
//! module, into the same [`Outline`] as Markdown. Tags and character references are told apart by
//! html5gum, which implements the tokenizer of the WHATWG standard with byte offsets.
//!
//! **Two payloads.** A chunk's `text` is exactly the source bytes of its span, tags and all, as for
//! Markdown, so a citation resolves to bytes and lines of the file. Its `index_text` holds what a
//! reader of the page sees, [`words`]: tags are left out, character references decoded, white space
//! collapsed (not within `<pre>`), blocks on lines of their own, the cells of a table's row parted
//! by ` | `. Sizes are those of the words; markup is free.
//!
//! **What may be quoted.** An answer quotes the bytes of a statement and shows their words. No word
//! is shown that is not in the source: `words` takes characters away (tags, hidden elements, spaces
//! beside spaces), puts the character in the place of its reference (`&eacute;` is `é`), and adds
//! nothing but spaces, line ends and ` | `. So a shown quote can be checked without this program:
//! open the page, and read it.
//!
//! **What is not there.** The content of scripts, styles, templates, `<noscript>`, frames, media,
//! SVG, form controls, `<nav>`, and of elements that are hidden by `hidden`, `aria-hidden="true"`,
//! `role="navigation"` or `display:none` in their `style`; comments; attributes, `alt` among them.
//! None of it is in `index_text`. Between two blocks it is in no `text` either: it ends the chunk
//! before it, as a comment does in Markdown. Within a paragraph it stays in `text`, which is an
//! exact slice. Style sheets and scripts are not run, so what they hide is seen.
//!
//! **Structure.** `<h1>` to `<h6>` open sections, unless they stand in a list item, a quotation or a
//! cell. Where a document has no `<h1>`, its `<title>` is the outermost title of every path. `<pre>`
//! is code, with the language of a class `language-…`. A table is data, row by row, unless it holds
//! a table, a heading, a section or code: then it is layout and its cells are blocks. End tags that
//! are missing, misplaced or doubled are put up with, in the ways that the standard prescribes for
//! lists, cells, paragraphs and headings; nesting counts to [`MAX_DEPTH`] levels.
//!
//! ```
//! use cornu_chunk::html;
//!
//! let page = "<title>Pumps</title><script>track()</script><h2>Start</h2>\n<p>Open the <b>inlet\
//!      </b>&nbsp;valve.<br>Then\n  press start.<table><tr><th>part<th>limit<tr><td>rotor<td>90 &deg;C</table>";
//! let outline = html::outline(page);
//! assert_eq!(outline.sections()[1].path, ["Pumps", "Start"]);
//! assert_eq!(
//!     html::words(page),
//!     "Start\nOpen the inlet valve. Then press start.\npart | limit\nrotor | 90 °C"
//! );
//! ```

mod element;
mod markup;
mod reader;
mod table;
mod tokens;

use std::borrow::Cow;
use std::ops::Range;

use cornu_core::{Chunk, ChunkKind, DocId, Document};

pub use element::MAX_DEPTH;
pub(crate) use markup::Markup;

use crate::markdown::{BlockKind, Outline};
use crate::unit::UnitKind;

/// Whether a document is HTML, by the ending of its name.
///
/// ```
/// use cornu_core::DocId;
/// assert!(cornu_chunk::html::is_html(&DocId::new("a/index.HTML")?));
/// assert!(!cornu_chunk::html::is_html(&DocId::new("a/html")?));
/// # Ok::<(), cornu_core::IdError>(())
/// ```
#[must_use]
pub fn is_html(doc: &DocId) -> bool {
    let ending = doc.as_str().rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| {
        ["html", "htm"]
            .iter()
            .any(|it| ending.eq_ignore_ascii_case(it))
    })
}

/// The structure of an HTML document. Any text will do. Linear in its bytes; holds some words for
/// each run of text between two tags.
///
/// See [the module](self) for an example.
#[must_use]
pub fn outline(source: &str) -> Outline {
    reader::read(source)
}

/// The words of an HTML text, or of a part of one, as a reader of the page sees them. O(bytes).
///
/// See [the module](self) for an example.
#[must_use]
pub fn words(source: &str) -> String {
    let outline = outline(source);
    let all = cornu_core::ByteSpan::from_range(0..source.len());
    outline
        .markup()
        .map_or_else(String::new, |markup| markup.words(source, all))
}

/// What a reader is shown of a chunk's text, or of a part of it: the part itself, and of an HTML
/// document's its [`words`].
///
/// ```
/// use std::sync::Arc;
/// use cornu_chunk::{Chunker, SentencePacked, html};
/// use cornu_core::{Acl, DocId, Document};
/// use cornu_text::WordCounter;
///
/// let page = "<h1>Gas</h1><p>Ventilate at <b>20</b>&nbsp;ppm.</p>";
/// let doc = Document::new(DocId::new("gas.html")?, page, Acl::public());
/// let chunks = SentencePacked::new(Arc::new(WordCounter::new()), Default::default()).chunk(&doc)?;
/// assert_eq!(chunks[0].text, page);
/// assert_eq!(html::shown(&chunks[0], &chunks[0].text[12..]), "Ventilate at 20 ppm.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn shown<'a>(chunk: &Chunk, part: &'a str) -> Cow<'a, str> {
    if is_html(&chunk.doc) {
        Cow::Owned(words(&Framed::new(part, chunk.kind).text))
    } else {
        Cow::Borrowed(part)
    }
}

/// What of an HTML chunk's text can stand alone, in order: sentences, and rows of tables below
/// their header. Headings and hidden text are none.
///
/// ```
/// let text = "<h2>Start</h2><p>Open it. <i>Wait.</i></p>";
/// let parts = cornu_chunk::html::statements(text, cornu_core::ChunkKind::Prose);
/// let parts: Vec<_> = parts.into_iter().map(|part| &text[part]).collect();
/// assert_eq!(parts, ["<p>Open it.", "Wait.</i></p>"]);
/// ```
#[must_use]
pub fn statements(text: &str, kind: ChunkKind) -> Vec<Range<usize>> {
    let framed = Framed::new(text, kind);
    let outline = outline(&framed.text);
    let units = outline.markup().map_or(&[][..], |markup| &markup.units);
    let stands = |unit: &&crate::unit::Unit| {
        let block = outline.blocks().get(unit.block).map(|block| &block.kind);
        match (unit.kind, block) {
            (UnitKind::Sentence, Some(BlockKind::Heading(_))) => false,
            (UnitKind::Row, Some(BlockKind::Table(table))) => {
                table.header.span.is_empty() || unit.span.start() >= table.header.span.end()
            }
            (kind, _) => matches!(kind, UnitKind::Sentence | UnitKind::Row),
        }
    };
    let spans = units.iter().filter(stands).map(|unit| unit.span);
    spans
        .filter_map(|span| {
            let start = span.start().saturating_sub(framed.added);
            let end = span.end().checked_sub(framed.added)?;
            (start < end).then_some(start..end)
        })
        .collect()
}

/// The outline of a document, by its name.
pub(crate) fn outline_of(doc: &Document) -> Outline {
    match is_html(doc.id()) {
        true => outline(doc.source()),
        false => Outline::parse(doc.source()),
    }
}

/// A part of a table or of code, with the tag in front that says so.
struct Framed<'a> {
    text: Cow<'a, str>,
    added: usize,
}

impl<'a> Framed<'a> {
    fn new(text: &'a str, kind: ChunkKind) -> Self {
        let begins = |tag: &str| {
            let start = text.trim_start().get(..tag.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(tag))
        };
        // A row of a small table in the midst of prose says by its tag what it is.
        let parts = ["<tr", "<td", "<th", "<tbody", "<caption"];
        let tag = match kind {
            ChunkKind::Code => "<pre>",
            ChunkKind::Table => "<table>",
            _ if parts.iter().any(|tag| begins(tag)) => "<table>",
            _ => "",
        };
        if begins(tag.trim_end_matches('>')) {
            let text = Cow::Borrowed(text);
            return Self { text, added: 0 };
        }
        Self {
            text: Cow::Owned(format!("{tag}{text}")),
            added: tag.len(),
        }
    }
}
