//! The nouns that every Cornu crate shares, and nothing that does work of its own.
//!
//! | module | what it holds |
//! |---|---|
//! | [`acl`] | [`Grant`], [`Acl`] (who may see a document), [`Principal`] (who asks) |
//! | [`view`] | [`View`]: what one principal sees of one state of an index |
//! | [`id`] | [`DocId`], [`ChunkId`], [`ContentHash`] |
//! | [`span`] | [`ByteSpan`], [`LineSpan`], [`LineIndex`] |
//! | [`document`] | [`Document`]: source text with its grants |
//! | [`chunk`] | [`Chunk`]: a span of a document with its two payloads |
//! | [`ranking`] | [`Ranking`]: the one type that every search route produces |
//! | [`trace`] | [`Trace`]: what each step of a query did |
//! | [`provider`] | the traits for models: [`EmbeddingProvider`], [`PairScorer`] and their kin |
//! | [`chat`] | [`ChatProvider`]: a model that writes |
//! | [`fingerprint`] | [`Fingerprint`]: which model, with which settings, made a number |
//! | [`store`] | [`FactStore`]: facts in, facts and nearest neighbours under a view out |
//!
//! Three promises shape these types. *Non-interference*: an [`Acl`] that names nobody admits
//! nobody, and every search takes a [`View`]. *Evidence or refusal*: a [`Chunk`] knows the bytes
//! and the lines of its source. *Numbers that regenerate*: a [`Ranking`] has one order, ids do not
//! depend on time, machine or neighbours, and a provider names itself by a [`Fingerprint`].
//!
//! # Example
//!
//! ```
//! use cornu_core::{Acl, DocId, Principal, View, ViewEntry, ContentHash};
//!
//! let handbook = DocId::new("handbook.md")?;
//! let payroll = DocId::new("hr/payroll.md")?;
//! let public = Acl::new(["public"])?;
//! let hr = Acl::new(["hr"])?;
//! let hash = ContentHash::of(b"text");
//! let entries = [
//!     ViewEntry { ordinal: 0, id: &handbook, content: &hash, acl: &public },
//!     ViewEntry { ordinal: 1, id: &payroll, content: &hash, acl: &hr },
//! ];
//!
//! let reader = View::resolve(&Principal::new(["public"])?, 7, entries);
//! assert!(reader.contains(0) && !reader.contains(1));
//!
//! // A view's digest depends on what is seen, on nothing else.
//! let alone = View::resolve(&Principal::new(["public"])?, 8, [entries[0]]);
//! assert_eq!(reader.digest(), alone.digest());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! - `serde`: `Serialize` and `Deserialize` for the plain data types.
//! - `proptest`: the module `testing`: strategies and conformance suites with which you can
//!   property-test your own embedder or store.

pub mod acl;
pub mod chat;
pub mod chunk;
pub mod document;
pub mod fingerprint;
pub mod id;
pub mod provider;
pub mod ranking;
pub mod span;
pub mod store;
#[cfg(feature = "proptest")]
pub mod testing;
pub mod trace;
pub mod view;

pub use acl::{Acl, AclError, Grant, Principal};
pub use chat::{ChatCompletion, ChatEnd, ChatPrompt, ChatProvider};
pub use chunk::{Chunk, ChunkKind, ChunkRole};
pub use document::{Document, DocumentError};
pub use fingerprint::Fingerprint;
pub use id::{ChunkId, ChunkIdParts, ContentHash, DocId, IdError};
pub use provider::{
    EmbeddingProvider, Embeddings, Extraction, Extractor, PairScorer, Proposition, ProviderError,
    Side, Summariser, TextTokens, TokenCounter, TokenEmbedder, TokenVectors, Triple,
    normalise_rows,
};
pub use ranking::{Ranking, RankingError, Scored};
pub use span::{ByteSpan, LineIndex, LineSpan, SpanError};
pub use store::{Change, DocumentFacts, FactStore};
pub use trace::{Trace, TraceStep, TraceValue};
pub use view::{View, ViewEntry};

/// The crate's README, so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
