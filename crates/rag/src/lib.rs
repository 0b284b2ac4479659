//! Markdown in, cited evidence or an honest refusal out.
//!
//! | module or item | what it is |
//! |---|---|
//! | [`LiveRagIndex`] | the index: `ingest`, `remove`, `prune`, four searches, `answer`, `calibrate` |
//! | [`RagOptions`], [`Fusion`] | what has a default |
//! | [`Found`], [`Hit`], [`Place`], [`Second`], [`Earlier`] | what a search gives |
//! | [`Response`], [`Outcome`], [`Answer`], [`Refusal`] | what `answer` gives |
//! | [`Statement`], [`Citation`] | a sentence of the evidence, and its place in the source |
//! | [`FoundSegments`], [`SegmentOptions`] | runs of chunks that belong together, by `segments` |
//! | [`FromTable`] | numbers computed from a table's cells, by `ask_tables` |
//! | [`Asked`], [`AskOptions`] | answer, tables and runs of one state of the index, by `ask` |
//! | [`ContextualChunker`], [`ChatSummariser`] | headers of title and summary in front of what is indexed |
//! | [`Threshold`], [`Calibration`] | where an answer becomes a refusal, fitted and with its origin |
//! | [`SameQuestion`] | which questions in other words may share a kept result |
//! | [`anchors`] | the names, numbers and identifiers that an answer has to be about |
//! | [`upkeep`] | for the owner: bring the artifacts up to date, rebuild, check |
//! | [`chat`] | answers that a model writes, each sentence checked; off by default |
//! | [`markers`], [`claims`] | checking the citations and the claims of a text that a model wrote |
//!
//! The nouns of `cornu-core` are re-exported, and the crates below as modules.
//!
//! **Non-interference.** Every question is asked as a [`Principal`]. What that principal may not see
//! has no influence on what they get: each search, answer and trace is, byte for byte, that of an
//! index which never held the rest. `calibrate` and everything of [`LiveRagIndex::store`] are for
//! the owner. Time is not covered, and a provider has to keep the promise of
//! [`EmbeddingProvider`] that a text's vector does not depend on the other texts of a call.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//! use cornu::{Acl, DocId, Document, HashEmbeddingProvider, LiveRagIndex, Principal, RagOptions, Threshold};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("index.db");
//! let provider = Arc::new(HashEmbeddingProvider::default());
//! let index = LiveRagIndex::open(path, provider, RagOptions::default())?;
//! let guide = "# Training\n\nCall `zero_grad` before each backward pass. Then step.\n";
//! index.ingest(&Document::new(DocId::new("guide.md")?, guide, Acl::public()))?;
//! let payroll = "# Salaries\n\nThe salary of each engineer is secret.\n";
//! index.ingest(&Document::new(DocId::new("payroll.md")?, payroll, Acl::new(["hr"])?))?;
//!
//! let reader = Principal::public();
//! let threshold = Threshold::by_hand(0.2, index.provider())?;
//! let response = index.answer(&reader, "When to call zero_grad?", &threshold)?;
//! let answer = response.outcome.answer().ok_or("refused")?;
//! let best = &answer.statements[0].citation;
//! assert_eq!(best.quote, "Call `zero_grad` before each backward pass.");
//! assert_eq!(best.to_string(), "guide.md § Training, line 3");
//! assert_eq!(&guide[best.span.range()], best.quote);
//!
//! // What the reader may not see is not there.
//! let response = index.answer(&reader, "What is the salary of each engineer?", &threshold)?;
//! assert!(response.outcome.refusal().is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod anchors;
mod answer;
mod asking;
mod calibrate;
pub mod chat;
pub mod claims;
mod complete;
mod contextual;
mod error;
mod evidence;
mod explain;
mod extractions;
mod fine_points;
mod index;
mod ingest;
mod interval;
mod kept;
pub mod markers;
mod multihop;
mod opposites;
mod options;
mod postings;
mod prune;
mod route;
mod same_question;
mod search;
mod second;
mod segments;
mod summariser;
mod tables;
mod threshold;
pub mod upkeep;

pub use answer::{Answer, Outcome, Reason, Refusal, Response};
pub use asking::{AskOptions, Asked};
pub use calibrate::{Calibration, Labelled, Target};
pub use contextual::ContextualChunker;
pub use error::RagError;
pub use evidence::{Citation, Statement};
pub use index::LiveRagIndex;
pub use ingest::{IngestReport, Ingested, Progress};
pub use interval::Rate;
pub use options::{Fusion, RagOptions};
pub use route::AnswerRoute;
pub use same_question::SameQuestion;
pub use search::{Found, Hit, Place};
pub use second::{Earlier, Second};
pub use segments::FoundSegments;
pub use summariser::{ChatSummariser, ChatSummariserOptions};
pub use tables::FromTable;
pub use threshold::{Metric, Origin, Threshold};

pub use cornu_core::{
    Acl, ByteSpan, Change, ChatProvider, Chunk, ChunkId, DocId, Document, EmbeddingProvider,
    Fingerprint, Grant, LineSpan, Principal, Trace, View,
};
pub use cornu_embed::HashEmbeddingProvider;
pub use cornu_remote::Disclosure;
pub use cornu_segment::{Preset, SegmentOptions};

pub use cornu_chunk as chunk;
pub use cornu_core as core;
pub use cornu_embed as embed;
pub use cornu_eval as eval;
pub use cornu_extract as extract;
pub use cornu_fuse as fuse;
pub use cornu_hop as hop;
pub use cornu_pool as pool;
pub use cornu_remote as remote;
pub use cornu_rerank as rerank;
pub use cornu_segment as segment;
pub use cornu_sparse as sparse;
pub use cornu_store as store;
pub use cornu_text as text;

/// As JSON. The types of this crate have text for keys and finite numbers, so it cannot fail.
fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The crate's README, so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
