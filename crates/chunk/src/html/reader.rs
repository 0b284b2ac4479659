//! Tokens to blocks, units and words.

use std::ops::Range;

use cornu_core::ByteSpan;
use cornu_text::sentences;

use super::element::{self, is_block};
use super::markup::{Gap, Markup, Run, Words, words_of};
use super::table::{self, ReadCell, ReadRow};
use super::tokens::{Start, Token, reference, tokens};
use crate::markdown::{Block, BlockKind, CodeBlock, Heading, Outline, Table, sections, title_of};
use crate::unit::{Unit, UnitKind};

pub(super) fn read(source: &str) -> Outline {
    let bom = if source.starts_with('\u{feff}') { 3 } else { 0 };
    let tokens = tokens(source);
    let mut reader = Reader::new(source, bom, table::data_tables(&tokens));
    for token in &tokens {
        match token {
            Token::Start(tag, span) => reader.start_tag(tag, span),
            Token::End(name, span) => reader.end_tag(name, span),
            Token::Text(span) => reader.text(span),
            Token::Comment(span) => reader.comment(span),
        }
    }
    reader.finish(bom)
}

/// The block that is being read.
#[derive(Debug)]
enum Kind {
    Flow,
    Heading(u8),
    Code(Option<String>),
    Table(table::Open),
}

#[derive(Debug)]
struct Leaf {
    start: usize,
    end: usize,
    first_run: usize,
    /// How many containers it stands in.
    depth: usize,
    kind: Kind,
}

struct Reader<'a> {
    source: &'a str,
    /// Where text may begin: behind a byte order mark.
    begin: usize,
    blocks: Vec<Block>,
    headings: Vec<Heading>,
    comments: Vec<ByteSpan>,
    markup: Markup,
    open: element::Open,
    leaf: Option<Leaf>,
    pending: Gap,
    /// Where the next block begins, if it begins with a tag.
    next: Option<usize>,
    /// Where the hidden part that is being read began.
    hidden_from: Option<usize>,
    title: String,
    data_tables: std::vec::IntoIter<bool>,
    code_language: Option<String>,
}

impl<'a> Reader<'a> {
    fn new(source: &'a str, begin: usize, data_tables: Vec<bool>) -> Self {
        Self {
            source,
            begin,
            blocks: Vec::new(),
            headings: Vec::new(),
            comments: Vec::new(),
            markup: Markup::default(),
            open: element::Open::default(),
            leaf: None,
            pending: Gap::default(),
            next: None,
            hidden_from: None,
            title: String::new(),
            data_tables: data_tables.into_iter(),
            code_language: None,
        }
    }

    fn start_tag(&mut self, tag: &Start, span: &Range<usize>) {
        let name = tag.name.as_str();
        let was_hidden = self.open.is_hidden();
        let is_data = name == "table" && self.data_tables.next().unwrap_or(false);
        let foreign = tag.self_closing && name == "svg";
        let hidden = !foreign && (tag.hidden || element::is_hidden(name));
        if !was_hidden && is_block(name) {
            self.boundary(name, span.start, None);
        }
        self.open.start(name, hidden);
        if was_hidden && !self.open.is_hidden() {
            // An end that the tag implied, such as that of a hidden item by the next one.
            self.reveal(span.start);
            self.boundary(name, span.start, None);
        }
        if self.open.is_hidden() {
            self.hidden_from.get_or_insert(span.start);
            return;
        }
        match name {
            "br" if self.open.has("pre") => self.pending.line = true,
            "br" => self.pending.space = true,
            "pre" => self.code_language.clone_from(&tag.language),
            "code" if self.open.has("pre") && self.code_language.is_none() => {
                self.code_language.clone_from(&tag.language);
            }
            "table" if is_data && !self.in_table() => self.start_table(span.start),
            _ => {}
        }
        if self.in_table() {
            self.table_tag(name, span);
        } else if self.leaf.is_none() && (is_block(name) || self.next.is_none()) {
            self.next = Some(span.start);
        }
    }

    fn end_tag(&mut self, name: &str, span: &Range<usize>) {
        let was_hidden = self.open.is_hidden();
        if name == "table" && self.in_table() && !was_hidden {
            self.end_row(span.start);
            self.flush(Some(span.end));
        }
        self.open.end(name);
        if was_hidden {
            if !self.open.is_hidden() {
                let own = element::is_hidden(name) || !is_block(name);
                self.reveal(if own { span.end } else { span.start });
            }
            return;
        }
        if name == "br" {
            self.pending.space = true;
        } else if self.in_table() {
            if matches!(name, "tr" | "caption") {
                self.end_row(span.end);
            } else if name == "thead" {
                self.end_row(span.start);
                if let Some(table) = self.table() {
                    table.in_head = false;
                }
            } else if is_block(name) {
                self.pending.space = true;
            }
        } else if is_block(name) {
            self.boundary(name, span.start, Some(span.end));
        } else if let Some(leaf) = &mut self.leaf {
            leaf.end = span.end;
        }
    }

    fn comment(&mut self, span: &Range<usize>) {
        if self.open.is_hidden() {
            return;
        }
        self.comments.push(ByteSpan::from_range(span.clone()));
        if self.leaf.is_none() {
            self.hide(span.clone());
        }
    }

    /// A block begins or ends here.
    fn boundary(&mut self, name: &str, at: usize, end: Option<usize>) {
        if self.in_table() && name != "table" {
            return;
        }
        // A generic box within a heading is part of it.
        let heading = self.open.heading().is_some();
        if heading && matches!(name, "div" | "center" | "hgroup" | "header") {
            self.pending.space = true;
            return;
        }
        if self.in_table() {
            self.end_row(at);
        }
        self.flush(end);
        self.pending = Gap {
            line: true,
            ..Gap::default()
        };
    }

    /// The hidden part ends before byte `end`.
    fn reveal(&mut self, end: usize) {
        if let Some(start) = self.hidden_from.take()
            && self.leaf.is_none()
        {
            self.hide(start..end);
        }
    }

    /// Bytes between blocks that are in no chunk's text.
    fn hide(&mut self, range: Range<usize>) {
        self.next = None;
        self.push_unit(ByteSpan::from_range(range.clone()), UnitKind::Hidden, 0);
        self.blocks.push(Block {
            span: ByteSpan::from_range(range),
            kind: BlockKind::Comment,
            depth: self.open.containers(),
        });
    }

    fn text(&mut self, span: &Range<usize>) {
        let text = self.source.get(span.clone()).unwrap_or_default();
        if self.open.is_hidden() {
            if self.open.has("title") && !self.open.has("svg") && self.title.is_empty() {
                self.title = decoded(text);
            }
            return;
        }
        let raw = self.open.has("pre") && !self.in_table();
        let mut at = 0;
        let mut run = 0;
        while let Some(rest) = text.get(at..)
            && let Some(c) = rest.chars().next()
        {
            let referred = if c == '&' { reference(rest) } else { None };
            let (length, stays) = match &referred {
                Some((length, _)) => (*length, false),
                // An end tag without a name: no token, and no text.
                None if rest.starts_with("</>") => (3, false),
                None if c == '\u{ad}' => (c.len_utf8(), false),
                None if c.is_whitespace() && !raw => {
                    let next = rest.chars().nth(1);
                    let joins = c == ' ' && at > run && next.is_some_and(is_plain);
                    (c.len_utf8(), joins)
                }
                None => (c.len_utf8(), true),
            };
            if !stays {
                self.push_run(span.start + run..span.start + at, None);
                match referred {
                    Some((_, decoded)) if decoded == "\u{ad}" => {}
                    Some((_, decoded)) if decoded.trim().is_empty() && !raw => {
                        self.pending.space = true;
                    }
                    Some((length, decoded)) => {
                        let start = span.start + at;
                        self.push_run(start..start + length, Some(decoded.into()));
                    }
                    None => self.pending.space |= c.is_whitespace(),
                }
                run = at + length;
            }
            at += length;
        }
        self.push_run(span.start + run..span.start + at, None);
    }

    fn push_run(&mut self, range: Range<usize>, decoded: Option<Box<str>>) {
        let mut range = range.start.max(self.begin)..range.end;
        if range.is_empty() {
            return;
        }
        let first_run = self.markup.runs.len();
        if self.leaf.is_none() {
            // Blank lines before the first line of a <pre>.
            let text = self.source.get(range.clone()).unwrap_or_default();
            let blank = text.len() - text.trim_start().len();
            if blank == text.len() {
                return;
            }
            let lines = text
                .get(..blank)
                .and_then(|blank| blank.rfind(['\n', '\r']));
            range.start += lines.map_or(0, |at| at + 1);
            let kind = if let Some(level) = self.open.heading() {
                Kind::Heading(level)
            } else if self.open.has("pre") {
                Kind::Code(self.code_language.clone())
            } else {
                Kind::Flow
            };
            let start = self.next.take().unwrap_or(range.start);
            self.pending.line = true;
            self.leaf = Some(Leaf {
                start,
                end: range.end,
                first_run,
                depth: self.open.containers(),
                kind,
            });
        }
        if let Some(leaf) = &mut self.leaf {
            leaf.end = range.end;
        }
        self.markup.runs.push(Run {
            span: ByteSpan::from_range(range),
            before: std::mem::take(&mut self.pending),
            decoded,
        });
    }

    fn in_table(&self) -> bool {
        let kind = self.leaf.as_ref().map(|leaf| &leaf.kind);
        matches!(kind, Some(Kind::Table(_)))
    }

    fn table(&mut self) -> Option<&mut table::Open> {
        match self.leaf.as_mut().map(|leaf| &mut leaf.kind) {
            Some(Kind::Table(table)) => Some(table),
            _ => None,
        }
    }

    fn start_table(&mut self, at: usize) {
        let first_run = self.markup.runs.len();
        self.next = None;
        self.leaf = Some(Leaf {
            start: at,
            end: at,
            first_run,
            depth: self.open.containers(),
            kind: Kind::Table(table::Open {
                start: at,
                first_run,
                ..table::Open::default()
            }),
        });
    }

    /// A start tag within a table of data.
    fn table_tag(&mut self, name: &str, span: &Range<usize>) {
        let runs = self.markup.runs.len();
        match name {
            "tr" | "tbody" | "tfoot" | "thead" => {
                self.end_row(span.start);
                if let Some(table) = self.table()
                    && name != "tr"
                {
                    table.in_head = name == "thead";
                }
            }
            "td" | "th" => {
                let follows = self.table().is_some_and(|table| !table.cells.is_empty());
                self.pending.cells += u16::from(follows && self.pending.cells < u16::MAX);
                self.pending.space = false;
                if let Some(table) = self.table() {
                    if let Some(last) = table.cells.last_mut() {
                        last.end_run = runs;
                    }
                    let is_header = name == "th" || table.in_head;
                    table.cells.push(ReadCell {
                        at: span.end,
                        first_run: runs,
                        end_run: runs,
                        is_header,
                    });
                }
            }
            _ if is_block(name) && name != "table" => self.pending.space = true,
            _ => {}
        }
    }

    /// Ends the row that is being read, if it says anything, before byte `end`.
    fn end_row(&mut self, end: usize) {
        let (source, runs) = (self.source, self.markup.runs.len());
        let Some(table) = self.table() else {
            return;
        };
        let mut cells = std::mem::take(&mut table.cells);
        if let Some(last) = cells.last_mut() {
            last.end_run = runs;
        }
        if runs > table.first_run {
            let row = source.get(table.start..end).unwrap_or_default();
            let start = table.start + (row.len() - row.trim_start().len());
            table.rows.push(ReadRow {
                span: ByteSpan::from_range(start..end.max(start)),
                is_header: !cells.is_empty() && cells.iter().all(|cell| cell.is_header),
                cells,
            });
            // The tag of the table belongs to its first row, so that this can stand by itself.
            (table.start, table.first_run) = (end, runs);
        }
        self.pending = Gap {
            line: true,
            ..Gap::default()
        };
    }

    /// Ends the block that is being read.
    fn flush(&mut self, end: Option<usize>) {
        self.next = None;
        let Some(leaf) = self.leaf.take() else {
            return;
        };
        if self.markup.runs.len() == leaf.first_run {
            return;
        }
        let depth = leaf.depth;
        let span = ByteSpan::from_range(leaf.start..end.unwrap_or(leaf.end).max(leaf.end));
        let kind = match leaf.kind {
            Kind::Flow => {
                self.flow_units(span, leaf.first_run);
                BlockKind::Paragraph
            }
            Kind::Heading(level) => {
                let opens = depth == 0;
                let unit = if opens {
                    UnitKind::Heading
                } else {
                    UnitKind::Sentence
                };
                self.push_unit(span, unit, 0);
                self.headings.push(Heading {
                    span,
                    level,
                    title: title_of(&self.words_from(leaf.first_run).text),
                    in_container: !opens,
                });
                BlockKind::Heading(self.headings.len() - 1)
            }
            Kind::Code(language) => {
                self.code_units(span, leaf.first_run);
                BlockKind::Code(CodeBlock {
                    language,
                    fence: None,
                })
            }
            Kind::Table(table) => BlockKind::Table(self.finish_table(table.rows, span)),
        };
        self.blocks.push(Block { span, kind, depth });
    }

    /// `block` counts from the block that is pushed next.
    fn push_unit(&mut self, span: ByteSpan, kind: UnitKind, block: usize) {
        let kept = span.slice(self.source).unwrap_or_default().trim_end().len();
        if kept > 0 {
            self.markup.units.push(Unit {
                span: ByteSpan::from_range(span.start()..span.start() + kept),
                kind,
                block: self.blocks.len() + block,
            });
        }
    }

    fn words_from(&self, first_run: usize) -> Words {
        let runs = self.markup.runs.get(first_run..).unwrap_or_default();
        let whole = ByteSpan::from_range(0..self.source.len());
        words_of(self.source, runs, whole, usize::MAX)
    }

    fn flow_units(&mut self, span: ByteSpan, first_run: usize) {
        let words = self.words_from(first_run);
        let parts = sentences(&words.text).map(ByteSpan::range);
        self.parts(span, &words, parts.collect(), UnitKind::Sentence);
    }

    fn code_units(&mut self, span: ByteSpan, first_run: usize) {
        let words = self.words_from(first_run);
        let mut at = 0;
        let lines = words.text.split_inclusive('\n').map(|line| {
            at += line.len();
            at - line.len()..at
        });
        let lines = lines.collect();
        self.parts(span, &words, lines, UnitKind::Row);
    }

    /// Units for parts of a block's words: each from its first letter to its last, the first and
    /// the last to the edges of the block.
    fn parts(&mut self, span: ByteSpan, words: &Words, parts: Vec<Range<usize>>, kind: UnitKind) {
        let text = |range: &Range<usize>| words.text.get(range.clone()).unwrap_or_default();
        let parts: Vec<Range<usize>> = parts
            .into_iter()
            .filter(|range| !text(range).trim().is_empty())
            .map(|range| {
                let part = text(&range);
                let indented = match kind {
                    // The indentation of a line of code is a part of it.
                    UnitKind::Row => 0,
                    _ => part.len() - part.trim_start().len(),
                };
                range.start + indented..range.start + part.trim_end().len()
            })
            .collect();
        let last = parts.len().saturating_sub(1);
        for (at, range) in parts.into_iter().enumerate() {
            let start = match at {
                0 => span.start(),
                _ => words.start_of(range.start),
            };
            let end = match at {
                at if at == last => span.end(),
                _ => words.end_of(range.end),
            };
            self.push_unit(ByteSpan::from_range(start..end.max(start)), kind, 0);
        }
    }

    fn finish_table(&mut self, rows: Vec<ReadRow>, span: ByteSpan) -> Table {
        let last = rows.len().saturating_sub(1);
        let mut out = Table::default();
        for (at, row) in rows.into_iter().enumerate() {
            let end = match at {
                at if at == last => span.end().max(row.span.end()),
                _ => row.span.end(),
            };
            self.push_unit(
                ByteSpan::from_range(row.span.start()..end),
                UnitKind::Row,
                0,
            );
            let is_header = row.is_header && out.header.span.is_empty() && out.rows.is_empty();
            if row.cells.is_empty() {
                continue; // a caption
            }
            let row = row.into_row(|first, end| {
                let runs = self.markup.runs.get(first..end)?;
                let from = runs.first()?.span.start();
                let span = ByteSpan::from_range(from..runs.last()?.span.end());
                let words = words_of(self.source, runs, span, usize::MAX);
                let text = words.text.trim_start_matches(['|', ' ']).to_owned();
                Some((span, text))
            });
            if is_header {
                let end = row.span.end();
                out.delimiter = ByteSpan::from_range(end..end);
                out.header = row;
            } else {
                out.rows.push(row);
            }
        }
        out
    }

    fn finish(mut self, bom: usize) -> Outline {
        let end = self.source.len();
        if self.open.is_hidden() {
            self.reveal(end);
        }
        if self.in_table() {
            self.end_row(end);
        }
        self.flush(None);
        let mut sections = sections(&self.blocks, &self.headings, bom, end);
        let title = title_of(&self.title);
        let own = self.headings.iter();
        let has_h1 = own.filter(|it| !it.in_container).any(|it| it.level == 1);
        if !title.is_empty() && !has_h1 {
            for section in &mut sections {
                section.path.insert(0, title.clone());
            }
        }
        Outline::of_markup(
            self.blocks,
            self.headings,
            sections,
            self.comments,
            self.markup,
        )
    }
}

/// Whether a space before this character may stay as it is.
fn is_plain(c: char) -> bool {
    !c.is_whitespace() && !matches!(c, '&' | '<' | '\u{ad}')
}

/// A text without tags, its references decoded and its white space collapsed.
fn decoded(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        let (length, words) = reference(tail).unwrap_or((1, "&".to_owned()));
        out.push_str(&words);
        rest = tail.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}
