//! pulldown-cmark's events to the blocks of an [`Outline`].

use std::collections::BTreeMap;
use std::ops::Range;

use cornu_core::ByteSpan;
use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};

use super::leaf;
use super::lines::{Lines, line_end, line_start};
use super::parsed::parsed;
use super::{
    Block, BlockKind, Cell, Container, ContainerKind, Definition, Heading, Outline, Reference, Row,
    Table,
};

/// Reads the Markdown from byte `start` on; spans count from the start of the source.
pub(super) fn read(source: &str, start: usize) -> Outline {
    let body = parsed(source.get(start..).unwrap_or_default());
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH;
    let mut events = Parser::new_ext(&body, options).into_offset_iter();
    let mut reader = Reader::new(source, start);
    while let Some((event, range)) = events.next() {
        let range = range.start + start..range.end + start;
        if let Event::Start(Tag::Link { link_type, id, .. } | Tag::Image { link_type, id, .. }) =
            &event
            && refers(*link_type)
            && let Some(definition) = events.reference_definitions().get(id)
        {
            let target = definition.span.start + start..definition.span.end + start;
            reader.link_uses.push((range.clone(), target));
        }
        reader.event(event, range);
    }
    for (_, definition) in events.reference_definitions().iter() {
        let span = definition.span.start + start..definition.span.end + start;
        reader.link_targets.push(span);
    }
    reader.finish()
}

fn refers(link: LinkType) -> bool {
    matches!(
        link,
        LinkType::Reference | LinkType::Collapsed | LinkType::Shortcut
    )
}

/// What is being read.
enum Leaf {
    None,
    /// Loose text of a tight list item.
    Inline(Range<usize>),
    Paragraph(Range<usize>),
    Heading(Range<usize>, u8, String),
    /// Its info string, if it is fenced, and where its content ends.
    Code(Range<usize>, Option<String>, usize),
    Html(Range<usize>),
    Table(Range<usize>, Table),
}

struct Reader<'a> {
    source: &'a str,
    start: usize,
    out: Outline,
    leaf: Leaf,
    depth: usize,
    footnotes: BTreeMap<String, Range<usize>>,
    footnote_uses: Vec<(Range<usize>, String)>,
    link_uses: Vec<(Range<usize>, Range<usize>)>,
    link_targets: Vec<Range<usize>>,
}

impl<'a> Reader<'a> {
    fn new(source: &'a str, start: usize) -> Self {
        Self {
            source,
            start,
            out: Outline::default(),
            leaf: Leaf::None,
            depth: 0,
            footnotes: BTreeMap::new(),
            footnote_uses: Vec::new(),
            link_uses: Vec::new(),
            link_targets: Vec::new(),
        }
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.open(tag, range),
            Event::End(end) => self.close(end),
            Event::Rule => {
                self.flush();
                self.push(range, BlockKind::Rule);
            }
            Event::Text(text) => {
                if let Leaf::Code(_, _, end) = &mut self.leaf {
                    *end = range.end;
                }
                self.inline(range);
                self.plain(&text);
            }
            Event::Code(text) => {
                self.inline(range);
                self.plain(&text);
            }
            Event::InlineMath(text) => {
                self.inline(range);
                self.plain(&format!("${text}$"));
            }
            Event::DisplayMath(text) => {
                self.inline(range);
                self.plain(&format!("$${text}$$"));
            }
            Event::InlineHtml(html) => {
                self.inline(range.clone());
                if html.starts_with("<!--") {
                    self.out.comments.push(ByteSpan::from_range(range));
                } else if leaf::is_line_break(&html) {
                    self.plain(" ");
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                self.inline(range);
                self.plain(" ");
            }
            Event::FootnoteReference(label) => {
                self.inline(range.clone());
                self.footnote_uses.push((range, label.to_lowercase()));
            }
            Event::TaskListMarker(_) => self.inline(range),
            Event::Html(_) => {}
        }
    }

    fn open(&mut self, tag: Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Paragraph => {
                self.flush();
                self.leaf = Leaf::Paragraph(range);
            }
            Tag::Heading { level, .. } => {
                self.flush();
                self.leaf = Leaf::Heading(range, level as u8, String::new());
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                let info = match kind {
                    CodeBlockKind::Fenced(info) => Some(info.to_string()),
                    CodeBlockKind::Indented => None,
                };
                let content = range.start;
                self.leaf = Leaf::Code(range, info, content);
            }
            Tag::HtmlBlock => {
                self.flush();
                self.leaf = Leaf::Html(range);
            }
            Tag::Table(_) => {
                self.flush();
                self.leaf = Leaf::Table(range, Table::default());
            }
            Tag::TableHead => {
                if let Leaf::Table(_, table) = &mut self.leaf {
                    table.header.span = ByteSpan::from_range(range);
                }
            }
            Tag::TableRow => {
                if let Leaf::Table(_, table) = &mut self.leaf {
                    let span = ByteSpan::from_range(range);
                    table.rows.push(Row {
                        span,
                        cells: Vec::new(),
                    });
                }
            }
            Tag::TableCell => {
                if let Leaf::Table(_, table) = &mut self.leaf {
                    let span = ByteSpan::from_range(range);
                    let row = table.rows.last_mut().unwrap_or(&mut table.header);
                    row.cells.push(Cell {
                        span,
                        text: String::new(),
                    });
                }
            }
            Tag::BlockQuote(_) => self.enter(ContainerKind::Quote, range),
            Tag::List(_) => self.enter(ContainerKind::List, range),
            Tag::Item => self.enter(ContainerKind::Item, range),
            Tag::FootnoteDefinition(label) => {
                let end = range.start + self.slice(&range).trim_end().len();
                self.footnotes
                    .entry(label.to_lowercase())
                    .or_insert(range.start..end);
                self.enter(ContainerKind::Footnote, range);
            }
            _ => self.inline(range),
        }
    }

    fn close(&mut self, end: TagEnd) {
        match end {
            TagEnd::Paragraph
            | TagEnd::Heading(_)
            | TagEnd::CodeBlock
            | TagEnd::HtmlBlock
            | TagEnd::Table => self.flush(),
            TagEnd::TableCell => {
                if let Leaf::Table(_, table) = &mut self.leaf {
                    let row = table.rows.last_mut().unwrap_or(&mut table.header);
                    if let Some(cell) = row.cells.last_mut() {
                        cell.text = cell.text.trim_matches([' ', '\t']).to_owned();
                    }
                }
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item | TagEnd::FootnoteDefinition => {
                self.flush();
                self.depth = self.depth.saturating_sub(1);
            }
            _ => {}
        }
    }

    fn enter(&mut self, kind: ContainerKind, range: Range<usize>) {
        self.flush();
        self.depth += 1;
        let span = ByteSpan::from_range(range);
        self.out.containers.push(Container { span, kind });
    }

    /// Inline content: part of the leaf that is open, or of a tight list item.
    fn inline(&mut self, range: Range<usize>) {
        match &mut self.leaf {
            Leaf::None => self.leaf = Leaf::Inline(range),
            Leaf::Inline(run) => run.end = run.end.max(range.end),
            _ => {}
        }
    }

    /// Plain text of a title or a cell.
    fn plain(&mut self, text: &str) {
        match &mut self.leaf {
            Leaf::Heading(_, _, title) => title.push_str(text),
            Leaf::Table(_, table) => {
                let row = table.rows.last_mut().unwrap_or(&mut table.header);
                if let Some(cell) = row.cells.last_mut() {
                    cell.text.push_str(text);
                }
            }
            _ => {}
        }
    }

    fn flush(&mut self) {
        match std::mem::replace(&mut self.leaf, Leaf::None) {
            Leaf::None => {}
            Leaf::Inline(range) | Leaf::Paragraph(range) => self.push(range, BlockKind::Paragraph),
            Leaf::Heading(range, level, title) => {
                let kind = BlockKind::Heading(self.out.headings.len());
                self.push(range, kind);
                let span = self
                    .out
                    .blocks
                    .last()
                    .map_or(ByteSpan::default(), |block| block.span);
                self.out.headings.push(Heading {
                    span,
                    level,
                    title: leaf::title(&title),
                    in_container: self.depth > 0,
                });
            }
            Leaf::Code(range, info, content) => {
                let code = leaf::code(self.source, &range, info.as_deref(), content);
                self.push(range, BlockKind::Code(code));
            }
            Leaf::Html(range) => {
                let (comments, alone) = leaf::comments(self.source, &range);
                self.out.comments.extend(comments);
                let kind = if alone {
                    BlockKind::Comment
                } else {
                    BlockKind::Html
                };
                self.push(range, kind);
            }
            Leaf::Table(range, mut table) => {
                let below = line_end(self.source, table.header.span.start());
                let end = line_end(self.source, below).min(range.end.max(below));
                table.delimiter = ByteSpan::from_range(below..end);
                self.push(range, BlockKind::Table(table));
            }
        }
    }

    /// Adds a leaf as whole lines; lines before it that no leaf owns become a leaf of their own.
    fn push(&mut self, range: Range<usize>, kind: BlockKind) {
        let floor = self
            .out
            .blocks
            .last()
            .map_or(self.start, |block| block.span.start());
        let start = line_start(self.source, range.start, floor);
        let ends_line = range.end > range.start
            && matches!(
                self.source.as_bytes().get(range.end - 1),
                Some(b'\n' | b'\r')
            );
        let end = if ends_line {
            range.end
        } else {
            line_end(self.source, range.end)
        };
        self.gap(start);
        // The parser may let a leaf run into the markers of the next line.
        if let Some(last) = self.out.blocks.last_mut()
            && last.span.end() > start
        {
            last.span = ByteSpan::from_range(last.span.start()..start);
        }
        self.out.blocks.push(Block {
            span: ByteSpan::from_range(start..end),
            kind,
            depth: self.depth,
        });
    }

    /// Turns lines up to `end` that are not blank and in no leaf into leaves: link reference
    /// definitions, which have no events, and bare container markers.
    fn gap(&mut self, end: usize) {
        let from = self
            .out
            .blocks
            .last()
            .map_or(self.start, |block| block.span.end());
        if from >= end {
            return;
        }
        let mut run: Option<(ByteSpan, bool)> = None;
        for line in Lines::within(self.source, ByteSpan::from_range(from..end)) {
            let text = line.slice(self.source).unwrap_or_default();
            if text.trim().is_empty() {
                self.gap_block(run.take());
                continue;
            }
            let markers = text
                .trim()
                .chars()
                .all(|c| ">-+*0123456789.) \t[]".contains(c));
            run = Some(match run {
                None => (line, markers),
                Some((span, other)) => (
                    ByteSpan::from_range(span.start()..line.end()),
                    other && markers,
                ),
            });
        }
        self.gap_block(run);
    }

    fn gap_block(&mut self, run: Option<(ByteSpan, bool)>) {
        if let Some((span, markers)) = run {
            let kind = if markers {
                BlockKind::Markers
            } else {
                BlockKind::LinkDefinitions
            };
            self.out.blocks.push(Block {
                span,
                kind,
                depth: self.depth,
            });
        }
    }

    fn slice(&self, range: &Range<usize>) -> &'a str {
        self.source.get(range.clone()).unwrap_or_default()
    }

    fn finish(mut self) -> Outline {
        self.flush();
        self.depth = 0;
        self.gap(self.source.len());
        let mut targets: Vec<(Range<usize>, bool)> = self
            .link_targets
            .iter()
            .map(|target| (target.clone(), false))
            .collect();
        targets.extend(self.footnotes.values().map(|span| (span.clone(), true)));
        targets.sort_unstable_by_key(|(span, _)| (span.start, span.end));
        let index = |target: &Range<usize>| {
            targets.binary_search_by_key(&(target.start, target.end), |(span, _)| {
                (span.start, span.end)
            })
        };
        let links = self.link_uses.iter().map(|(at, target)| (at, Some(target)));
        let notes = self
            .footnote_uses
            .iter()
            .map(|(at, label)| (at, self.footnotes.get(label)));
        let mut references: Vec<Reference> = links
            .chain(notes)
            .filter_map(|(at, target)| {
                let span = ByteSpan::from_range(at.clone());
                Some(Reference {
                    span,
                    definition: index(target?).ok()?,
                })
            })
            .collect();
        references.sort_unstable_by_key(|reference| reference.span);
        self.out.references = references;
        self.out.definitions = targets
            .into_iter()
            .map(|(span, footnote)| Definition {
                span: ByteSpan::from_range(span),
                footnote,
            })
            .collect();
        self.out.comments.sort_unstable();
        self.out
    }
}
