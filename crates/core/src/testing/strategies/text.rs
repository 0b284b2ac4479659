//! Sentences and Markdown from a small vocabulary, so that any two texts share words.

use std::fmt::Write as _;
use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{acl, doc_id};
use crate::chunk::ChunkKind;
use crate::document::Document;

const TERMS: [&str; 8] = [
    "梯度",
    "自动微分",
    "计算图",
    "learning rate",
    "现金流",
    "净利润",
    "loss",
    "share buyback",
];
const ENTITIES: [&str; 6] = [
    "北辰科技",
    "Orion Capital",
    "星河基金",
    "Delta Robotics",
    "林岚",
    "Ada Moreno",
];
const IDENTIFIERS: [&str; 6] = [
    "zero_grad",
    "v1.5",
    "AdamW",
    "ERR-1042",
    "no_grad()",
    "FY2023",
];

/// Texts that tokenizers and embedders stumble over: several scripts, joined emoji, stacked
/// marks, right-to-left, a byte order mark, private use, NUL, no spaces. All hold letters.
pub(crate) const AWKWARD: &[&str] = &[
    "👩‍👩‍👧‍👦 family of four 🏳️‍🌈",
    "z\u{335}\u{321}\u{327}a\u{322}\u{316}l\u{337}g\u{301}\u{301}\u{301}\u{301}o",
    "שלום עולם مرحبا بالعالم",
    "\u{feff}with a byte order mark",
    "nul \0 inside, tab\tand\u{b}vertical tab",
    "private \u{e000}\u{f8ff} use \u{fffd} replacement",
    "ｆｕｌｌｗｉｄｔｈ　ＡＢＣ　１２３",
    "caf\u{e9} cafe\u{301}",
    "𠮷野家 龘靐齉爨 ゔぁ 한글",
    "https://example.org/a?b=c&d=%E4%B8%AD#frag_1-2.3",
];

/// A sentence in Chinese or English that names an entity, a term and an identifier.
///
/// ```
/// use cornu_core::testing::{proptest::prelude::*, strategies};
/// proptest!(|(text in strategies::sentence())| {
///     prop_assert!(text.ends_with(['.', '。', '?']));
/// });
/// ```
pub fn sentence() -> impl Strategy<Value = String> {
    sentence_sketch().prop_map(|sentence| sentence.to_text())
}

/// A Markdown source: headings, paragraphs in Chinese and English, fenced code, tables; with LF
/// or CRLF; sometimes empty.
///
/// ```
/// use cornu_core::testing::{proptest::prelude::*, strategies};
/// proptest!(|(source in strategies::markdown())| {
///     prop_assert_eq!(source.matches("```").count() % 2, 0);
/// });
/// ```
pub fn markdown() -> impl Strategy<Value = String> {
    page().prop_map(|page| page.render().source)
}

/// A document: a name, an ACL (the empty one among them) and a [`markdown`] source.
///
/// ```
/// use cornu_core::testing::{proptest::prelude::*, strategies};
/// proptest!(|(doc in strategies::document())| {
///     prop_assert_eq!(doc.content_hash(), doc.clone().content_hash());
/// });
/// ```
pub fn document() -> impl Strategy<Value = Document> {
    (doc_id(), markdown(), acl()).prop_map(|(id, source, acl)| Document::new(id, source, acl))
}

/// Any text that a user may send: sentences, nothing, white space, awkward Unicode, any letters.
///
/// ```
/// use cornu_core::testing::{proptest::prelude::*, strategies};
/// proptest!(|(text in strategies::awkward_text())| { prop_assert!(text.len() < 1000); });
/// ```
pub fn awkward_text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => sentence(),
        1 => select(&["", " ", "\n\t \u{3000}"][..]).prop_map(str::to_owned),
        2 => select(AWKWARD).prop_map(str::to_owned),
        2 => vec(any::<char>(), 1..24).prop_map(String::from_iter),
    ]
}

/// A sentence before its words are looked up.
#[derive(Clone, Debug)]
pub(super) struct SentenceSketch {
    form: u8,
    entity: usize,
    term: usize,
    identifier: usize,
}

impl SentenceSketch {
    fn entity(&self) -> &'static str {
        ENTITIES[self.entity % ENTITIES.len()]
    }

    fn term(&self) -> &'static str {
        TERMS[self.term % TERMS.len()]
    }

    fn identifier(&self) -> &'static str {
        IDENTIFIERS[self.identifier % IDENTIFIERS.len()]
    }

    fn to_text(&self) -> String {
        let (entity, term, identifier) = (self.entity(), self.term(), self.identifier());
        match self.form % 4 {
            0 => format!("{entity}在{identifier}中使用{term}。"),
            1 => format!("{entity} reports {term} with {identifier}."),
            2 => format!("{term}与{entity}无关，见 `{identifier}`。"),
            _ => format!("Why does {identifier} change {term} at {entity}?"),
        }
    }
}

/// A part of a page.
#[derive(Clone, Debug)]
pub(super) enum Block {
    Heading { level: usize, title: SentenceSketch },
    Prose(Vec<SentenceSketch>),
    Code(Vec<SentenceSketch>),
    Table(Vec<SentenceSketch>),
}

/// A Markdown source before it is written out.
#[derive(Clone, Debug)]
pub(super) struct Page {
    blocks: Vec<Block>,
    crlf: bool,
}

/// A block of a source that is worth a chunk.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) kind: ChunkKind,
    pub(super) heading_path: Vec<String>,
    pub(super) range: Range<usize>,
}

/// A source, and where its pieces lie.
pub(super) struct Rendered {
    pub(super) source: String,
    pub(super) pieces: Vec<Piece>,
}

impl Page {
    /// The same page with one word of one sentence exchanged; the same page when it has none.
    pub(super) fn with_one_word_changed(&self, at: usize) -> Self {
        let mut page = self.clone();
        let mut sentences: Vec<&mut SentenceSketch> = page
            .blocks
            .iter_mut()
            .flat_map(|block| match block {
                Block::Heading { title, .. } => std::slice::from_mut(title),
                Block::Prose(list) | Block::Code(list) | Block::Table(list) => list.as_mut_slice(),
            })
            .collect();
        let count = sentences.len().max(1);
        if let Some(sentence) = sentences.get_mut(at % count) {
            sentence.term += 1;
        }
        page
    }

    pub(super) fn render(&self) -> Rendered {
        let end = if self.crlf { "\r\n" } else { "\n" };
        let mut source = String::new();
        let mut pieces = Vec::new();
        let mut sections: Vec<(usize, String)> = Vec::new();
        for block in &self.blocks {
            if !source.is_empty() {
                source.push_str(end);
            }
            let start = source.len();
            let kind = match block {
                Block::Heading { level, title } => {
                    let title = format!("{}：{}", title.entity(), title.term());
                    source.push_str(&format!("{} {title}{end}", "#".repeat(*level)));
                    sections.retain(|(outer, _)| outer < level);
                    sections.push((*level, title));
                    continue;
                }
                Block::Prose(sentences) => {
                    for sentence in sentences {
                        source.push_str(&sentence.to_text());
                    }
                    ChunkKind::Prose
                }
                Block::Code(lines) => {
                    source.push_str(&format!("```python{end}"));
                    for line in lines {
                        let _ = write!(source, "# {}{end}", line.term());
                        let _ = write!(source, "run({:?}){end}", line.identifier());
                    }
                    source.push_str("```");
                    ChunkKind::Code
                }
                Block::Table(rows) => {
                    source.push_str(&format!("| 主体 | 指标 | id |{end}|---|---|---|"));
                    for row in rows {
                        let cells = (row.entity(), row.term(), row.identifier());
                        let _ = write!(source, "{end}| {} | {} | {} |", cells.0, cells.1, cells.2);
                    }
                    ChunkKind::Table
                }
            };
            pieces.push(Piece {
                kind,
                heading_path: sections.iter().map(|(_, title)| title.clone()).collect(),
                range: start..source.len(),
            });
            source.push_str(end);
        }
        Rendered { source, pieces }
    }
}

/// Pages of up to five blocks; one in fifteen is empty.
pub(super) fn page() -> impl Strategy<Value = Page> {
    let block = prop_oneof![
        2 => (1_usize..=3, sentence_sketch())
            .prop_map(|(level, title)| Block::Heading { level, title }),
        4 => vec(sentence_sketch(), 1..=3).prop_map(Block::Prose),
        1 => vec(sentence_sketch(), 1..=2).prop_map(Block::Code),
        1 => vec(sentence_sketch(), 1..=3).prop_map(Block::Table),
    ];
    let blocks = prop_oneof![1 => Just(Vec::new()), 14 => vec(block, 1..=5)];
    (blocks, any::<bool>()).prop_map(|(blocks, crlf)| Page { blocks, crlf })
}

fn sentence_sketch() -> impl Strategy<Value = SentenceSketch> {
    (
        0_u8..4,
        0..ENTITIES.len(),
        0..TERMS.len(),
        0..IDENTIFIERS.len(),
    )
        .prop_map(|(form, entity, term, identifier)| SentenceSketch {
            form,
            entity,
            term,
            identifier,
        })
}
