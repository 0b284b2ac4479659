//! Facts in one SQLite file; nearest neighbours under a view, exact unless it is asked
//! otherwise.
//!
//! | module | what it holds |
//! |---|---|
//! | [`store`] | [`SqliteVecStore`]: open, upsert, remove, batch |
//! | [`snapshot`] | [`Snapshot`]: one state for a whole query |
//! | [`mod@write`] | [`Batch`]: many documents in one commit |
//! | [`options`] | [`Options`], [`Access`], [`Route`], [`Scan`], [`Approximate`], [`Durability`] |
//! | [`terms`] | [`ChunkTerms`]: what a sparse route reads |
//! | [`artifact`] | [`Facts`], [`ArtifactFile`]: for what others derive |
//! | [`tokens`] | [`TokenFacts`]: token vectors, where an index has them |
//! | [`extractions`] | [`ExtractionFacts`]: what was read from chunks, where an index has it |
//! | [`maintain`] | [`Stats`], and rebuilding and compacting |
//! | [`doctor`] | [`Finding`]: what does not hold |
//! | [`error`] | [`StoreError`] |
//!
//! # Example
//!
//! ```
//! use cornu_core::*;
//! use cornu_store::{Options, SqliteVecStore};
//! use ndarray::{array, aview1};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("index.db");
//! let store = SqliteVecStore::open(path, &Fingerprint::new("model"), 2, &Options::default())?;
//! let document = |name: &str, grant: &str, vector: [f32; 2]| {
//!     let doc = DocId::new(name)?;
//!     let text = format!("about {name}");
//!     let chunk = Chunk {
//!         id: ChunkId::derive(&ChunkIdParts {
//!             doc: &doc, chunker: "example", kind: ChunkKind::Prose, heading_path: &[],
//!             index_text: &text, text: &text, ordinal: 0,
//!         }),
//!         doc: doc.clone(), kind: ChunkKind::Prose, role: ChunkRole::Indexed, parent: None,
//!         heading_path: vec![], span: ByteSpan::new(0, text.len())?,
//!         core: ByteSpan::new(0, text.len())?, lines: LineSpan::new(1, 1)?, prefix: vec![],
//!         language: None, text: text.clone(), index_text: text.clone(), tokens: 3,
//!     };
//!     store.upsert(&DocumentFacts {
//!         doc, content: ContentHash::of(text.as_bytes()), acl: Acl::new([grant])?,
//!         chunks: vec![chunk], vectors: array![vector],
//!     })?;
//!     Ok::<_, Box<dyn std::error::Error>>(())
//! };
//! document("guide.md", "public", [0.6, 0.8])?;
//! document("payroll.md", "hr", [1.0, 0.0])?;
//!
//! // The payroll is nearer, but it is not there for a reader who may not see it.
//! let snapshot = store.snapshot(&Principal::public())?;
//! let hits = snapshot.knn(aview1(&[1.0, 0.0]), 2)?;
//! let best = hits.ids().next().unwrap();
//! assert_eq!(hits.len(), 1);
//! assert_eq!(snapshot.chunk(best)?.unwrap().text, "about guide.md");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod approximate;
pub mod artifact;
mod beside;
mod codes;
mod digest;
pub mod doctor;
pub mod error;
pub mod extractions;
mod graph;
mod kernel;
mod knn;
mod line;
mod lookup;
pub mod maintain;
mod map;
#[cfg(feature = "naive")]
pub mod naive;
pub mod options;
pub mod owner;
mod read;
mod recent;
mod resident;
mod score;
pub mod searching;
mod select;
pub mod snapshot;
mod sqlite;
pub mod store;
pub mod terms;
pub mod tokens;
mod upkeep;
mod validate;
mod vec0;
mod views;
pub mod write;

pub use artifact::{ArtifactFile, DocumentVersion, Facts, POSTINGS_SUFFIX};
pub use beside::Cursor;
pub use doctor::{Check, Finding};
pub use error::StoreError;
pub use extractions::{ExtractionFacts, ExtractionStats, ExtractionVersion};
pub use graph::Rung;
pub use maintain::Stats;
pub use options::{Access, Approximate, Durability, Hnsw, Options, Route, Scan};
pub use owner::Known;
pub use searching::Searching;
pub use snapshot::Snapshot;
pub use store::SqliteVecStore;
pub use terms::{ChunkTerms, TermCounts};
pub use tokens::{TokenFacts, TokenStats};
pub use validate::UNIT_TOLERANCE;
pub use write::Batch;

/// The crate's README, so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
