//! What can go wrong, by name.

use cornu_chunk::{ChunkError, TreeError};
use cornu_core::{ChunkId, DocId, ProviderError, RankingError};
use cornu_fuse::FuseError;
use cornu_hop::HopError;
use cornu_rerank::{RerankError, TokensError};
use cornu_segment::SegmentError;
use cornu_sparse::SparseError;
use cornu_store::StoreError;

/// Why an index did not do what was asked. A refusal to answer is no error: see
/// [`Outcome`](crate::Outcome).
///
/// ```
/// use cornu::{RagError, Threshold, Fingerprint};
/// let error = Threshold::by_hand(1.5, &Fingerprint::new("model")).unwrap_err();
/// assert!(matches!(error, RagError::ThresholdRange { .. }));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RagError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The embedding model.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// A file of a folder that cannot become a document of it.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The chunker gave no chunks.
    #[error("{doc} was not cut into chunks: {source}")]
    Chunk {
        /// The document.
        doc: DocId,
        /// The cause.
        source: ChunkError,
    },
    /// The term counts.
    #[error(transparent)]
    Sparse(#[from] SparseError),
    /// The fusion's settings.
    #[error(transparent)]
    Fuse(#[from] FuseError),
    /// A route gave scores that are no ranking.
    #[error(transparent)]
    Ranking(#[from] RankingError),
    /// The reranker, or the model of the token vectors.
    #[error(transparent)]
    Rerank(#[from] RerankError),
    /// Stored token vectors that cannot be read.
    #[error(transparent)]
    Tokens(#[from] TokensError),
    /// Segments that cannot be extracted so.
    #[error(transparent)]
    Segment(#[from] SegmentError),
    /// The walk over names and facts.
    #[error(transparent)]
    Hop(#[from] HopError),
    /// No text that the asker sees was read by the extractor, so there is nothing to walk over.
    #[error(
        "nothing that the asker sees was read by the extractor {extractor}, so there are no names \
         and statements to walk over; ingest with it, or call `complete_extractions` for what is \
         in the index already"
    )]
    NoExtractions {
        /// The extractor that the index was opened with.
        extractor: String,
    },
    /// A stored extraction that is not what this version writes.
    #[error(
        "the names and statements of chunk {chunk} cannot be read: {source}. Remove the document \
         and index it again"
    )]
    Extraction {
        /// The chunk.
        chunk: ChunkId,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A document that is not public, and a provider to which only public ones may be sent.
    #[error(
        "{doc} is not public and the embedding provider or the extractor is remote; it was not \
         sent, and it is not in the index. Use a local provider, or set `disclosure` to `Disclosure::Everything`"
    )]
    NotDisclosed {
        /// The document.
        doc: DocId,
    },
    /// An asker who may see more than what is public, and a provider to which only that may be sent.
    #[error(
        "an answer sends sentences of what the asker sees to the embedding provider, which may be \
         sent public ones only. Ask as a principal that holds `public` alone, use a local \
         provider, or set `disclosure` to `Disclosure::Everything`"
    )]
    AskerNotPublic,
    /// An asker who may see more than what is public, and a chat model on another machine to which
    /// only that may be sent.
    #[error(
        "a written answer sends texts that the asker sees to a chat model on another machine, \
         which may be sent public ones only; nothing was sent. Ask as a principal that holds \
         `public` alone, use a model on this machine, or set `Chat::disclosure` to \
         `Disclosure::Everything`"
    )]
    ChatAskerNotPublic,
    /// The chat model gave no text.
    #[error(
        "the chat model gave no answer: {source}; ask again, or set `Chat::on_failure` to \
         `OnFailure::Extract` for sentences of the evidence in its place"
    )]
    Chat {
        /// What it met.
        source: ProviderError,
    },
    /// A threshold is no cosine.
    #[error(
        "{value} is no threshold; it is compared with a cosine similarity, so give a number from \
         -1 to 1, best one that `calibrate` fitted"
    )]
    ThresholdRange {
        /// The value.
        value: f64,
    },
    /// A threshold that was fitted with another model.
    #[error(
        "the threshold belongs to another model ({}); similarities of two models share no scale, \
         so run `calibrate` with this one", differences.join("; ")
    )]
    ForeignThreshold {
        /// How the model that it was fitted with (there) differs from the index's (here).
        differences: Vec<String>,
    },
    /// Nothing can be calibrated from these questions.
    #[error("no threshold was fitted: {problem}")]
    Calibration {
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// A folder or file that has to be looked at, to say which documents have vanished.
    #[error(
        "cannot look at {path}: {source}; so nothing in it is taken for vanished. Check that it \
         exists (is its disk mounted?) and that you may read it"
    )]
    Unreadable {
        /// The path.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// Options that no index can have.
    #[error("the options of the index: {problem}")]
    Options {
        /// What is wrong, and what would be right.
        problem: String,
    },
}
