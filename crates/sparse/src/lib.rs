//! BM25 over sparse matrices of raw counts, within what the asker may see.
//!
//! | module | what it holds |
//! |---|---|
//! | [`counts`] | [`TermCounts`] of a text, [`Row`], [`DocumentRows`]: the facts |
//! | [`index`] | [`Bm25Index`]: the counts as a matrix, kept up to date by small steps |
//! | [`builder`] | [`Builder`]: an index of many documents, a few at a time |
//! | [`mod@file`] | an index in a file, of which a search reads what it needs; its [`Origin`]; [`FileBuilder`]: one larger than memory |
//! | [`query`] | [`Query`]: terms with weights |
//! | [`formula`] | [`Bm25`] and its [`Variant`]s |
//! | [`search`] | [`Searcher`]: exact top-k under a view, and its [`Explanation`] |
//!
//! The matrix holds counts, no scores. How rare a term is and how long texts are on average is
//! computed over the rows that a [`View`](cornu_core::View) sees: results, scores and explanations
//! are, bit for bit, those of an index that never held the others. k1, b and the variant are the
//! caller's, at query time.
//!
//! Texts without words are in no statistic: they do not count as texts and do not shorten the
//! average.
//!
//! # Example
//!
//! ```
//! use cornu_core::{Acl, ContentHash, DocId, Principal, View, ViewEntry};
//! use cornu_sparse::{Bm25, Bm25Index, DocumentRows, Query, Row, TermCounts};
//! use cornu_text::Tokenizer;
//!
//! let tokenizer = Tokenizer::new();
//! let texts = ["call zero_grad before backward", "the gradient of the loss", "mind the grad"];
//! let rows = texts.iter().zip(0..).map(|(text, id)| Row {
//!     id,
//!     counts: TermCounts::new(&tokenizer.tokens(text)),
//! });
//! let document = DocumentRows { document: 0, rows: rows.collect() };
//! let index = Bm25Index::build(tokenizer.fingerprint().clone(), [document], 1)?;
//!
//! let (id, content, acl) = (DocId::new("notes.md")?, ContentHash::of(b""), Acl::public());
//! let entry = ViewEntry { ordinal: 0, id: &id, content: &content, acl: &acl };
//! let view = View::resolve(&Principal::public(), 1, [entry]);
//!
//! let found = index
//!     .searcher(&view)?
//!     .search(&Query::new(&tokenizer, "zero_grad"), &Bm25::default(), 10)?;
//! assert_eq!(found.ids().copied().collect::<Vec<u32>>(), [0, 2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bits;
pub mod builder;
pub mod counts;
mod dictionary;
mod error;
pub mod file;
pub mod formula;
mod gallop;
pub mod index;
pub mod query;
pub mod search;
mod segment;
mod stats;

pub use builder::Builder;
pub use counts::{DocumentRows, Row, TermCounts};
pub use error::SparseError;
pub use file::{FileBuilder, FileError, Origin, Output, Scratch};
pub use formula::{Bm25, Variant};
pub use index::Bm25Index;
pub use query::Query;
pub use search::{Explanation, Searcher, TermShare};

/// The crate's README, so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
