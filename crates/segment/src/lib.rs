//! Evidence with the document around it: runs of chunks that belong together, and headers that say
//! what an excerpt is from.
//!
//! | module or item | what it is |
//! |---|---|
//! | [`extract`], [`Segments`], [`Run`] | Relevant Segment Extraction: results to runs of neighbouring chunks |
//! | [`documents_of`] | the documents that are looked at |
//! | [`SegmentOptions`], [`Preset`], [`Mode`] | what has a default: dsRAG's numbers; its greedy, or the exact optimum |
//! | [`ChunkValue`] | what a chunk is worth, and why |
//! | [`Relevance`], [`fit_logistic`], [`Calibrated`] | from similarities and rerankers' scores to relevance |
//! | [`select`] | the choice over numbers alone: [`greedy`](select::greedy), [`optimal`](select::optimal) |
//! | [`AutoContext`], [`HeaderStyle`] | headers of title and summary in front of what is indexed |
//! | [`ExtractiveSummariser`], [`CachedSummariser`] | summaries without a model; each text once |
//!
//! What a segment is worth depends on all chunks of its documents. **Documents and results have to
//! come from a search within the asker's [`View`](cornu_core::View).**
//!
//! # Example
//!
//! ```
//! use cornu_segment::select::{Limits, Values, optimal};
//!
//! // Two documents of four and two chunks; two of the chunks were found, one apart.
//! let penalty = -0.18;
//! let values = Values::new(vec![vec![0.5, penalty, 0.4, penalty, penalty, 0.3]], &[4, 2])?;
//! let limits = Limits { segment: 15, total: 30, minimum: 0.5, price: 0.5 };
//! let best = optimal(&values, &limits)?;
//! assert_eq!((best.picks[0].start, best.picks[0].end), (0, 3));
//! assert_eq!(best.picks.len(), 1, "0.3 alone is below the minimum");
//! # Ok::<(), cornu_segment::SegmentError>(())
//! ```
//!
//! # Features
//!
//! - `serde`: `Serialize` for values, runs and options; calibrations are also read.

mod beta;
mod context;
mod error;
mod extract;
mod fit;
mod options;
mod relevance;
mod run;
pub mod select;
mod value;

pub use context::{
    AutoContext, AutoContextOptions, CachedSummariser, Contextual, ExtractiveOptions,
    ExtractiveSummariser, FolderStore, HeaderStyle, MemoryStore, SummaryStore,
};
pub use error::SegmentError;
pub use extract::{DocumentChunks, Segments, documents_of, extract};
pub use fit::{Calibrated, fit_logistic};
pub use options::{Mode, Preset, SegmentOptions};
pub use relevance::Relevance;
pub use run::{Run, RunChunk};
pub use value::ChunkValue;

/// The crate's README, so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
