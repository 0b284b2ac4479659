//! The strategy: everything but tables as [`SentencePacked`](crate::SentencePacked) has it.

use std::sync::Arc;

use cornu_core::{ByteSpan, Chunk, ChunkKind, ChunkRole, Document, TokenCounter};

use super::row::Rows;
use crate::chunker::{ChunkError, Chunker};
use crate::comments::Comments;
use crate::context::Context;
use crate::emit::{Namer, Place, cores};
use crate::html::outline_of;
use crate::markdown::{BlockKind, Outline, Section, Table};
use crate::pack::{Draft, Packer, is_long};
use crate::piece::{Measure, Piece};
use crate::sentence::{SentencePackedOptions, counter_name, pieces_of};

/// Settings of [`TableRows`].
///
/// ```
/// let options = cornu_chunk::TableRowsOptions::default();
/// assert_eq!((options.parent, options.columns, options.fill_down), (2048, 16, false));
/// assert_eq!(options.wide, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableRowsOptions {
    /// Size of what is indexed, and all that concerns text.
    pub text: SentencePackedOptions,
    /// The most tokens that a parent shows; a larger table has several. At least the size of what
    /// is indexed. 2048 unless set.
    pub parent: usize,
    /// A row of more columns has a child for each so many of them. 16 unless set.
    pub columns: usize,
    /// Whether an empty cell is *indexed* with the nearest value above it, as merged cells are
    /// often exported. What is shown stays as it is. Not, unless set: a blank may mean "none".
    pub fill_down: bool,
    /// A table of at least so many columns (and at least two) has a child for each of its columns,
    /// too. None does, unless set.
    pub wide: Option<usize>,
}

impl Default for TableRowsOptions {
    fn default() -> Self {
        Self {
            text: SentencePackedOptions::default(),
            parent: 2048,
            columns: 16,
            fill_down: false,
            wide: None,
        }
    }
}

/// Every table, of Markdown or HTML, is a parent, each of its rows a child in words.
///
/// - The parent's `text` is the whole source of the table's rows. A table larger than
///   [`parent`](TableRowsOptions::parent) has several, each with whole rows; from the second on
///   `prefix` names the header, so [`render`](crate::render()) repeats it.
/// - A child's `text` is its row (the first one's: header, delimiter and row), `prefix` names the
///   header, and `index_text` says heading path, caption, and
///   `[Row 2: 模型代号: Qwen-2.5-7B, 参数量: 7B]`: rows count from 1, cells without a name stand
///   alone, blank cells stay blank, cells beyond the header's come last, without a name.
/// - A row of many columns, or too large for a chunk, is cut between cells (in HTML only where it is
///   too large, and as text), and each child repeats the first column. A cell too large for a chunk
///   is packed as text.
/// - Where the table is [`wide`](TableRowsOptions::wide), each of its columns is a child, too:
///   `[Column 2 参数量: BGE: 24M, Qwen-2.5-7B: 7B]`. A column has no bytes of its own, so its `text`
///   is the rows that it names, whole, and it owns none of them: its `core` is empty
///   ([`Chunk::is_column`]). It has as many of its parent's rows as its sentence has room for; then
///   the next child of the same column begins. Columns stand behind their parent, before the rows.
///   Of HTML with merged or missing cells there are none, nor is there a cell in them that is too
///   large for a chunk.
/// - The caption is the paragraph above the table, when it directly touches the table, ends in a
///   colon, or begins with 表, 表格, Table or Tab. and a number. It stays in the text chunk that owns
///   it; children index its words.
/// - Where something does not fit, first the caption goes, then the heading path.
/// - All else, and a table of nothing but a header, is chunked as by
///   [`SentencePacked`](crate::SentencePacked); a table never shares a chunk with text.
///
/// Only parents of tables exist, so the cores of the *indexed* chunks partition the document; a
/// parent's core is that of its children. [`TableView`](crate::TableView) gives each child its
/// coordinates, [`expand`](crate::expand) takes a ranking of children to their tables.
///
/// Time is linear in the document, but for tables with header names much larger than their cells:
/// each row repeats the names, as each column repeats the first one.
///
/// ```
/// use std::sync::Arc;
/// use cornu_chunk::{Chunker, TableRows, TableRowsOptions};
/// use cornu_core::{Acl, ChunkRole, DocId, Document};
/// use cornu_text::WordCounter;
///
/// let source = "# 模型\n\n表 1：规格\n\n| 模型代号 | 参数量 |\n|---|---|\n| BGE | 24M |\n| Qwen-2.5-7B | 7B |\n";
/// let doc = Document::new(DocId::new("a.md")?, source, Acl::public());
/// let chunks = TableRows::new(Arc::new(WordCounter::new()), TableRowsOptions::default()).chunk(&doc)?;
/// let [caption, table, first, second] = chunks.as_slice() else { unreachable!() };
/// assert_eq!(caption.text, "# 模型\n\n表 1：规格");
/// assert_eq!((table.role, &*table.text), (ChunkRole::Parent, &source[source.find('|').unwrap()..source.len() - 1]));
/// assert_eq!(first.parent, Some(table.id));
/// assert_eq!(second.text, "| Qwen-2.5-7B | 7B |");
/// assert_eq!(second.index_text, "模型\n表 1：规格\n[Row 2: 模型代号: Qwen-2.5-7B, 参数量: 7B]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct TableRows {
    counter: Arc<dyn TokenCounter>,
    options: TableRowsOptions,
    fingerprint: String,
    parent_fingerprint: String,
}

impl TableRows {
    /// A chunker that measures with `counter`.
    #[must_use]
    pub fn new(counter: Arc<dyn TokenCounter>, options: TableRowsOptions) -> Self {
        let text = options.text;
        let options = TableRowsOptions {
            parent: options.parent.max(text.window.size()),
            columns: options.columns.max(1),
            ..options
        };
        // An index of before there were columns opens as before.
        let wide = options
            .wide
            .map_or_else(String::new, |wide| format!(" wide={wide}"));
        let fingerprint = format!(
            "table-rows/v1 size={} overlap={} context={} comments={} parent={} columns={} fill={}{wide} \
             counter={}",
            text.window.size(),
            text.window.overlap(),
            text.heading_context.as_str(),
            text.comments.as_str(),
            options.parent,
            options.columns,
            options.fill_down,
            counter_name(&*counter),
        );
        Self {
            counter,
            options,
            parent_fingerprint: format!("{fingerprint} table"),
            fingerprint,
        }
    }
}

impl std::fmt::Debug for TableRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("TableRows").field(&self.fingerprint).finish()
    }
}

impl Chunker for TableRows {
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn chunk(&self, doc: &Document) -> Result<Vec<Chunk>, ChunkError> {
        let source = doc.source();
        let outline = outline_of(doc);
        let hide_comments = self.options.text.comments == Comments::Hide;
        let measure = Measure::new(source, &outline, &*self.counter, hide_comments);
        let pieces = measure.pieces();
        let mut found = Found::default();
        for section in outline.sections() {
            let section = InSection {
                measure: &measure,
                options: &self.options,
                section,
            };
            section.drafts(pieces_of(&pieces, section.section), &mut found);
        }
        let cores = cores(&found.drafts, ByteSpan::from_range(0..source.len()));
        Ok(self.name(doc, &outline, found, &cores))
    }
}

impl TableRows {
    fn name(
        &self,
        doc: &Document,
        outline: &Outline,
        found: Found<'_>,
        cores: &[ByteSpan],
    ) -> Vec<Chunk> {
        let mut namer = Namer::new(doc, outline);
        let mut chunks = Vec::new();
        let mut parents = found.parents.into_iter().peekable();
        let mut parent: Option<(usize, cornu_core::ChunkId)> = None;
        let children = found.drafts.into_iter().zip(cores).zip(found.paths);
        for (at, ((draft, &core), path)) in children.enumerate() {
            if let Some(next) = parents.next_if(|next| next.first == at) {
                let last = cores.get(next.end.saturating_sub(1)).copied();
                let place = Place {
                    fingerprint: &self.parent_fingerprint,
                    role: ChunkRole::Parent,
                    parent: None,
                    path,
                    core: ByteSpan::from_range(core.start()..last.unwrap_or(core).end()),
                };
                let table = namer.chunk(next.draft, place);
                parent = Some((next.end, table.id));
                // Columns show what rows own.
                let place = Place {
                    fingerprint: &self.fingerprint,
                    role: ChunkRole::Indexed,
                    parent: Some(table.id),
                    path,
                    core: ByteSpan::from_range(core.start()..core.start()),
                };
                chunks.push(table);
                let columns = next.columns.into_iter();
                chunks.extend(columns.map(|draft| namer.chunk(draft, place)));
            }
            let place = Place {
                fingerprint: &self.fingerprint,
                role: ChunkRole::Indexed,
                parent: parent.filter(|(end, _)| at < *end).map(|(_, id)| id),
                path,
                core,
            };
            chunks.push(namer.chunk(draft, place));
        }
        chunks
    }
}

/// What a document gives, in order.
#[derive(Default)]
struct Found<'a> {
    drafts: Vec<Draft>,
    /// For each draft its heading path.
    paths: Vec<&'a [String]>,
    parents: Vec<Parent>,
}

/// The parent of the drafts `first..end`, and of its columns.
struct Parent {
    draft: Draft,
    columns: Vec<Draft>,
    first: usize,
    end: usize,
}

struct InSection<'a> {
    measure: &'a Measure<'a>,
    options: &'a TableRowsOptions,
    section: &'a Section,
}

impl<'a> InSection<'a> {
    fn drafts(&self, pieces: &[Piece], found: &mut Found<'a>) {
        let window = self.options.text.window;
        let (mode, counter) = (self.options.text.heading_context, self.measure.counter);
        let context = Context::new(self.section, mode, counter, window.size());
        let packer = Packer::new(self.measure, window, &context);
        let mut at = 0;
        while let Some(piece) = pieces.get(at) {
            let table = self.table(piece);
            let rest = pieces.get(at..).unwrap_or_default();
            let same = |other: &&Piece| match table {
                Some(_) => other.block == piece.block,
                None => self.table(other).is_none(),
            };
            let run = rest
                .get(..rest.iter().take_while(same).count())
                .unwrap_or_default();
            at += run.len().max(1);
            let end = pieces
                .get(at)
                .map_or(self.section.span.end(), |next| next.span.start());
            match table {
                Some(table) if !table.rows.is_empty() => {
                    let rows = Rows::new(self.measure, self.options, &context, table, piece.block);
                    let first = found.drafts.len();
                    found.drafts.extend(rows.children(run, &packer, end));
                    self.parents(run, &rows, first, found);
                }
                _ => {
                    let gap = run.get(1).map_or(0, |next| next.gap);
                    let long = run.first().is_some_and(|h| is_long(h, gap, window.size()));
                    if long || run.iter().any(Piece::is_body) {
                        found.drafts.extend(packer.pack(run, end));
                    }
                }
            }
            found.paths.resize(found.drafts.len(), &self.section.path);
        }
    }

    fn table(&self, piece: &Piece) -> Option<&'a Table> {
        match &self.measure.outline.blocks().get(piece.block)?.kind {
            BlockKind::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The parents of a table whose children are the drafts from `first` on: whole lines, as many
    /// as fit. A line that fits none has no parent.
    fn parents(&self, lines: &[Piece], rows: &Rows<'_>, first: usize, found: &mut Found<'_>) {
        let limit = self.options.parent;
        let (table, header) = (rows.table, rows.header);
        let mut child = first;
        let mut at = 0;
        while at < lines.len() {
            let rest = lines.get(at..).unwrap_or_default();
            let (mut tokens, mut count) = (0, 0_usize);
            for line in rest {
                tokens += line.tokens + if count == 0 { 0 } else { line.gap };
                if tokens > limit {
                    break;
                }
                count += 1;
            }
            // Sizes of lines need not add up to that of the whole.
            let draft = loop {
                let Some(last) = count.checked_sub(1).and_then(|last| rest.get(last)) else {
                    break None;
                };
                let start = rest.first().map_or(0, |line| line.span.start());
                let span = ByteSpan::from_range(start..last.span.end());
                let tokens = self.measure.count(span);
                if tokens <= limit {
                    break Some(Draft {
                        span,
                        own: span,
                        next: span.end(),
                        kind: ChunkKind::Table,
                        block: Some(last.block),
                        repeated: (!header.is_empty() && !span.contains(table.header.span))
                            .then_some(header),
                        index_text: self.measure.words(span).into_owned(),
                        tokens,
                    });
                }
                count -= 1;
            };
            let shown = rest.get(..count).unwrap_or_default();
            at += count.max(1);
            let Some(draft) = draft else {
                continue;
            };
            let skipped = |d: &&Draft| d.span.start() < draft.span.start();
            let drafts = found.drafts.get(child..).unwrap_or_default();
            child += drafts.iter().take_while(skipped).count();
            let drafts = found.drafts.get(child..).unwrap_or_default();
            let inside = drafts.iter().take_while(|d| draft.span.contains(d.span));
            let end = child + inside.count();
            if end > child {
                found.parents.push(Parent {
                    columns: rows.columns(shown, draft.span),
                    draft,
                    first: child,
                    end,
                });
                child = end;
            }
        }
    }
}
