//! What holds for the chunks of any text. Also used by the fuzz target.

use std::collections::{BTreeMap, BTreeSet};

use cornu_chunk::markdown::{BlockKind, Outline, Table};
use cornu_chunk::{Chunker, TableView, render};
use cornu_core::{
    ByteSpan, Chunk, ChunkId, ChunkKind, ChunkRole, Document, LineIndex, TokenCounter,
};

/// What a chunker was set to.
pub(crate) struct Settings<'a> {
    pub(crate) chunker: &'a dyn Chunker,
    pub(crate) counter: &'a dyn TokenCounter,
    /// Limit of the indexed chunks, and of parents.
    pub(crate) limit: usize,
    pub(crate) parent_limit: usize,
    /// Whether sections, code blocks and tables are respected.
    pub(crate) structured: bool,
    /// Whether tables are cut into rows, and have the only parents.
    pub(crate) rows: bool,
    /// Whether wide tables are cut into columns, too.
    pub(crate) wide: bool,
}

/// Chunks the document and checks everything that is promised; gives the chunks.
pub(crate) fn check(settings: &Settings<'_>, doc: &Document) -> Vec<Chunk> {
    let chunks = settings
        .chunker
        .chunk(doc)
        .expect("a chunker of this crate never fails");
    let again = settings
        .chunker
        .chunk(doc)
        .expect("a chunker of this crate never fails");
    assert_eq!(chunks, again, "not deterministic");
    let outline = Outline::parse(doc.source());
    let ids: BTreeSet<ChunkId> = chunks.iter().map(|chunk| chunk.id).collect();
    assert_eq!(ids.len(), chunks.len(), "two chunks share an id");
    for role in [ChunkRole::Indexed, ChunkRole::Parent] {
        let of_role: Vec<&Chunk> = chunks.iter().filter(|chunk| chunk.role == role).collect();
        let owners: Vec<&Chunk> = of_role.iter().copied().filter(|c| !c.is_column()).collect();
        check_order(doc, &owners, settings.rows && role == ChunkRole::Parent);
        for chunk in &of_role {
            check_chunk(settings, doc, chunk);
            check_rendered(doc, chunk);
        }
    }
    check_family(&chunks);
    check_columns(settings, &chunks);
    if settings.structured {
        check_structure(settings, doc, &outline, &chunks);
    }
    check_coverage(settings, doc, &outline, &chunks);
    chunks
}

fn check_order(doc: &Document, chunks: &[&Chunk], gaps: bool) {
    let mut end = 0;
    for chunk in chunks {
        assert!(chunk.core.start() >= end, "cores overlap");
        assert!(gaps || chunk.core.start() == end, "cores leave a gap");
        end = chunk.core.end();
    }
    if !chunks.is_empty() && !gaps {
        assert_eq!(end, doc.source().len(), "cores do not reach the end");
    }
    for pair in chunks.windows(2) {
        assert!(
            pair[0].span.start() < pair[1].span.start(),
            "starts do not increase"
        );
        assert!(
            pair[0].span.end() < pair[1].span.end(),
            "a chunk lies within another"
        );
    }
}

fn check_chunk(settings: &Settings<'_>, doc: &Document, chunk: &Chunk) {
    let source = doc.source();
    assert_eq!(
        chunk.span.slice(source),
        Some(chunk.text.as_str()),
        "text is not source[span]"
    );
    assert!(!chunk.text.trim().is_empty(), "a chunk without content");
    assert!(
        chunk.span.end() <= chunk.core.end() || chunk.is_column(),
        "a chunk shows what the next one owns"
    );
    assert!(
        chunk.core.slice(source).is_some(),
        "a core cuts a character"
    );
    assert_eq!(chunk.doc, *doc.id());
    assert_eq!(chunk.lines, LineIndex::new(source).lines_of(chunk.span));
    for prefix in &chunk.prefix {
        assert!(
            prefix.slice(source).is_some_and(|text| !text.is_empty()),
            "a bad prefix"
        );
        assert!(
            !chunk.span.contains(*prefix),
            "the prefix is part of the text"
        );
    }
    assert_eq!(
        chunk.tokens,
        settings.counter.count(&chunk.index_text),
        "tokens do not agree"
    );
    let limit = match chunk.role {
        ChunkRole::Indexed => settings.limit,
        ChunkRole::Parent => settings.parent_limit,
    };
    let one = chunk.text.chars().count() == 1;
    assert!(
        chunk.tokens <= limit || one,
        "{} tokens over {limit}: {chunk:?}",
        chunk.tokens
    );
    let limit = match chunk.is_column() {
        true => settings.parent_limit,
        false => limit,
    };
    let shown = settings.counter.count(&chunk.text);
    let slack = settings.counter.slack();
    assert!(
        shown <= limit + slack || one,
        "evidence of {shown} over {limit}: {chunk:?}"
    );
}

/// What stands after a chunk in a prompt is no part of its code.
fn check_rendered(doc: &Document, chunk: &Chunk) {
    let shown = render(chunk, doc.source()) + "\n\nAfterwards.\n";
    let outline = Outline::parse(&shown);
    let last = outline.blocks().last().map(|block| &block.kind);
    assert!(
        !matches!(last, Some(BlockKind::Code(_))),
        "{shown:?} of {:?}",
        doc.source()
    );
}

fn check_family(chunks: &[Chunk]) {
    let parents: BTreeMap<ChunkId, &Chunk> = chunks
        .iter()
        .filter(|chunk| chunk.role == ChunkRole::Parent)
        .map(|chunk| (chunk.id, chunk))
        .collect();
    let mut used = BTreeSet::new();
    for chunk in chunks {
        let Some(parent) = chunk.parent else {
            continue;
        };
        let parent = parents.get(&parent).expect("a parent that does not exist");
        assert!(
            parent.core.contains(chunk.core),
            "a child beyond its parent"
        );
        assert!(
            parent.span.contains(chunk.span),
            "a child shows what its parent does not"
        );
        assert!(chunk.heading_path.starts_with(&parent.heading_path));
        used.insert(parent.id);
    }
    assert_eq!(used.len(), parents.len(), "a parent without children");
}

/// A column owns nothing and shows whole lines of its parent, directly behind it.
fn check_columns(settings: &Settings<'_>, chunks: &[Chunk]) {
    for chunk in chunks {
        let nothing = chunk.role.is_indexed() && chunk.core.is_empty();
        assert_eq!(nothing, chunk.is_column(), "owns nothing: {chunk:?}");
        if !nothing {
            continue;
        }
        assert!(settings.wide, "a column that nobody asked for");
        assert_eq!(chunk.kind, ChunkKind::Table);
        let sentence = chunk.index_text.lines().last();
        assert!(sentence.is_some_and(|line| line.starts_with("[Column ") && line.ends_with(']')));
    }
    for pair in chunks.windows(2).filter(|pair| pair[1].is_column()) {
        let behind = Some(pair[0].id) == pair[1].parent;
        assert!(behind || pair[0].parent == pair[1].parent && pair[0].is_column());
        assert!(pair[0].span.start() <= pair[1].span.start() || pair[0].is_column());
    }
}

/// A child of a table that can be read is a row or a column; each cell that a column shows stands in
/// one child of that column only, and its row's lines are among those that the child shows.
pub(crate) fn check_places(chunks: &[Chunk], tables: &[TableView]) {
    for table in tables {
        let mut seen = BTreeSet::new();
        for chunk in chunks {
            let Some(place) = table.column_of(chunk) else {
                continue;
            };
            assert!(table.row_of(chunk).is_none());
            assert!(!place.cells.is_empty(), "a column without cells: {chunk:?}");
            for cell in &place.cells {
                assert_eq!(cell.column, place.column);
                assert!(seen.insert((cell.row, cell.column)), "a cell stands twice");
                assert!(chunk.span.contains(cell.span) || cell.span.is_empty());
            }
        }
    }
}

fn check_structure(settings: &Settings<'_>, doc: &Document, outline: &Outline, chunks: &[Chunk]) {
    let indexed = || chunks.iter().filter(|chunk| chunk.role.is_indexed());
    for chunk in indexed() {
        let section = outline
            .section_at(chunk.span.start())
            .expect("a chunk outside of sections");
        assert!(
            section.span.contains(chunk.span),
            "a chunk spans two sections"
        );
        assert_eq!(chunk.heading_path, section.path);
    }
    for chunk in chunks {
        for comment in outline.comments() {
            let block = outline
                .blocks()
                .iter()
                .find(|block| block.span.contains(*comment));
            let alone = block.is_some_and(|block| block.kind == BlockKind::Comment);
            assert!(
                !alone || !chunk.span.overlaps(*comment),
                "a comment is shown"
            );
        }
    }
    for block in outline.blocks() {
        if matches!(block.kind, BlockKind::Code(_) | BlockKind::Table(_)) {
            let text = block.span.slice(doc.source()).expect("a block").trim_end();
            // Code may begin with lines that are blank to a reader and not to Markdown: U+3000.
            let blank = text
                .split_inclusive('\n')
                .take_while(|line| line.trim().is_empty());
            let start = block.span.start() + blank.map(str::len).sum::<usize>();
            let end = block.span.start() + text.len();
            let span = ByteSpan::from_range(start..end);
            let text = span.slice(doc.source()).expect("a block");
            // A quarter each for heading and context, and the counter's own freedom.
            let fits =
                settings.counter.count(text) + settings.counter.slack() <= settings.limit / 2;
            let bare = |table: &Table| table.rows.is_empty();
            let by_rows =
                settings.rows && matches!(&block.kind, BlockKind::Table(table) if !bare(table));
            if fits && settings.counter.slack() == 0 && !text.trim().is_empty() {
                let whole = |chunk: &&Chunk| {
                    chunk.role.is_indexed() != by_rows && chunk.span.contains(span)
                };
                assert!(chunks.iter().any(|chunk| whole(&chunk)), "cut: {text:?}");
            }
        }
    }
}

/// Every letter and digit is shown by some chunk, but for front matter, comments, headings without
/// a body, and markers.
fn check_coverage(settings: &Settings<'_>, doc: &Document, outline: &Outline, chunks: &[Chunk]) {
    let mut excused: Vec<ByteSpan> = Vec::new();
    if settings.structured {
        excused.extend(outline.front_matter().map(|front| front.span));
        excused.extend(outline.comments());
        excused.extend(
            outline
                .blocks()
                .iter()
                .filter_map(|block| match block.kind {
                    BlockKind::Heading(_) if block.depth == 0 => Some(block.span),
                    BlockKind::Comment | BlockKind::Markers | BlockKind::Rule => Some(block.span),
                    _ => None,
                }),
        );
    }
    for role in [ChunkRole::Indexed, ChunkRole::Parent] {
        let of_role: Vec<&Chunk> = chunks
            .iter()
            .filter(|chunk| chunk.role == role && !chunk.is_column())
            .collect();
        if role == ChunkRole::Parent && (of_role.is_empty() || settings.rows) {
            continue;
        }
        for (at, c) in doc
            .source()
            .char_indices()
            .filter(|(_, c)| c.is_alphanumeric())
        {
            let held = |span: &ByteSpan| span.start() <= at && at < span.end();
            let next = of_role.partition_point(|chunk| chunk.span.end() <= at);
            let shown = of_role.get(next).is_some_and(|chunk| held(&chunk.span));
            assert!(
                shown || excused.iter().any(held),
                "{c:?} at {at} is lost of {:?}",
                doc.source()
            );
        }
    }
}
