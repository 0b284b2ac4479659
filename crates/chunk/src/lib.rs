//! Markdown and HTML documents to chunks, with exact byte spans.
//!
//! | module or item | what it is |
//! |---|---|
//! | [`Chunker`] | the trait: a document to chunks, and what holds for all of them |
//! | [`SentencePacked`] | the standard: whole sentences of one section, code and tables kept whole |
//! | [`ParentChild`], [`expand`] | small chunks to match, whole sections to show |
//! | [`TableRows`], [`TableView`] | each row of a table in words to match, the whole table to show; cells with their places |
//! | [`FixedWindow`] | the baseline: windows of so many tokens |
//! | [`Window`], [`HeadingContext`], [`Comments`] | settings |
//! | [`render()`] | a chunk as Markdown whose fences are closed |
//! | [`markdown`] | the structure of a document: sections, blocks, tables, front matter |
//! | [`html`] | HTML documents: structure, and the words that a reader of the page sees |
//! | [`metrics`] | boundary break rate and context completeness, with formulas |
//! | [`read_markdown_tree`] | documents from a folder |
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use cornu_chunk::{Chunker, SentencePacked, SentencePackedOptions};
//! use cornu_core::{Acl, DocId, Document};
//! use cornu_text::WordCounter;
//!
//! let source = "# Autograd\n\n## 反向传播\n\n梯度沿计算图反向流动。See `zero_grad`.\n";
//! let doc = Document::new(DocId::new("04-autograd.md")?, source, Acl::public());
//! let chunker = SentencePacked::new(Arc::new(WordCounter::new()), SentencePackedOptions::default());
//!
//! let chunks = chunker.chunk(&doc)?;
//! let [chunk] = chunks.as_slice() else { unreachable!() };
//! assert_eq!(chunk.text, &source[chunk.span.range()]);
//! assert_eq!(chunk.citation(), "04-autograd.md § Autograd › 反向传播, lines 3-5");
//! assert_eq!(chunk.index_text, "Autograd > 反向传播\n梯度沿计算图反向流动。See `zero_grad`.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Sizes are in tokens of a [`TokenCounter`](cornu_core::TokenCounter): take that of the model that
//! embeds the chunks, or [`cornu_text::CharCounter`] and [`cornu_text::WordCounter`], which need
//! none.

mod chunker;
mod comments;
mod context;
mod emit;
mod expand;
mod fixed;
pub mod html;
pub mod markdown;
pub mod metrics;
mod pack;
mod parent_child;
mod piece;
mod render;
mod sentence;
mod table;
mod tree;
mod unit;
mod window;

pub use chunker::{ChunkError, Chunker};
pub use comments::Comments;
pub use context::HeadingContext;
pub use expand::{Expanded, expand};
pub use fixed::{FixedWindow, FixedWindowOptions};
pub use parent_child::{ParentChild, ParentChildOptions};
pub use render::render;
pub use sentence::{SentencePacked, SentencePackedOptions};
pub use table::{
    CellPlace, ColumnPlace, LeftOut, RowPlace, TableAnswer, TableOperation, TableRows,
    TableRowsOptions, TableView,
};
pub use tree::{Tree, TreeError, read_markdown_tree};
pub use window::{ConfigError, Window};

/// The crate's README, so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
