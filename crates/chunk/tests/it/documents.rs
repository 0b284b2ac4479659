//! Short ways to make documents and chunks.

use std::sync::Arc;

use cornu_chunk::markdown::Outline;
use cornu_chunk::{
    Chunker, FixedWindow, FixedWindowOptions, ParentChild, ParentChildOptions, SentencePacked,
    SentencePackedOptions, TableRows, TableRowsOptions, Window,
};
use cornu_core::{Acl, Chunk, DocId, Document, TokenCounter};

use crate::counters::chars;

pub(crate) fn doc(source: &str) -> Document {
    named("a.md", source)
}

pub(crate) fn named(name: &str, source: &str) -> Document {
    Document::new(DocId::new(name).unwrap(), source, Acl::public())
}

pub(crate) fn fixed(counter: Arc<dyn TokenCounter>, size: i64, overlap: i64) -> FixedWindow {
    FixedWindow::new(
        counter,
        FixedWindowOptions {
            window: Window::new(size, overlap).unwrap(),
        },
    )
}

pub(crate) fn packed(counter: Arc<dyn TokenCounter>, size: i64, overlap: i64) -> SentencePacked {
    let window = Window::new(size, overlap).unwrap();
    SentencePacked::new(
        counter,
        SentencePackedOptions {
            window,
            ..Default::default()
        },
    )
}

pub(crate) fn family(counter: Arc<dyn TokenCounter>, parent: i64, child: i64) -> ParentChild {
    let options = ParentChildOptions {
        parent: Window::new(parent, 0).unwrap(),
        child: Window::new(child, 0).unwrap(),
        ..Default::default()
    };
    ParentChild::new(counter, options).unwrap()
}

/// Chunks of at most so many characters, by the standard strategy.
pub(crate) fn chunks(source: &str, size: i64) -> Vec<Chunk> {
    let overlap = size * 15 / 100;
    packed(chars(), size, overlap).chunk(&doc(source)).unwrap()
}

pub(crate) fn texts(chunks: &[Chunk]) -> Vec<&str> {
    chunks.iter().map(|chunk| chunk.text.as_str()).collect()
}

/// Titles with levels, those in containers apart.
pub(crate) fn headings(source: &str) -> Vec<(String, u8)> {
    let outline = Outline::parse(source);
    let own = outline
        .headings()
        .iter()
        .filter(|heading| !heading.in_container);
    own.map(|heading| (heading.title.clone(), heading.level))
        .collect()
}

pub(crate) fn titles(source: &str) -> Vec<String> {
    headings(source)
        .into_iter()
        .map(|(title, _)| title)
        .collect()
}

/// Chunks with rows of tables whose indexed text holds at most so many characters.
pub(crate) fn by_rows(source: &str, size: i64, options: TableRowsOptions) -> Vec<Chunk> {
    let text = SentencePackedOptions {
        window: Window::new(size, 0).unwrap(),
        ..Default::default()
    };
    let options = TableRowsOptions { text, ..options };
    TableRows::new(chars(), options)
        .chunk(&doc(source))
        .unwrap()
}
