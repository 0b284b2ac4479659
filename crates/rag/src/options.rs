//! What has a default when an index is opened.

use std::fmt;
use std::sync::Arc;

use cornu_chunk::{Chunker, SentencePacked, SentencePackedOptions};
use cornu_core::Extractor;
use cornu_fuse::{Normalisation, RrfOptions};
use cornu_hop::{GraphOptions, HopGate, RecallOptions};
use cornu_pool::CacheOptions;
use cornu_remote::Disclosure;
use cornu_rerank::{Reranker, TokenSpace};
use cornu_sparse::Bm25;
use cornu_text::{StopWords, Tokenizer, WordCounter};

use crate::chat::Chat;
use crate::error::RagError;

/// Everything about an index that has a default.
///
/// The chunker and the tokenizer shape what is stored, so they are part of the index's fingerprint
/// and an index is only opened with those it was built with. All else may differ from one opening
/// to the next.
///
/// ```
/// use cornu::{Fusion, RagOptions};
/// let options = RagOptions { evidence: 4, ..RagOptions::default() };
/// assert!(matches!(options.fusion, Fusion::Rrf { .. }));
/// ```
#[derive(Clone)]
pub struct RagOptions {
    /// Documents to chunks. Default: whole sentences of one section, sizes by words.
    pub chunker: Arc<dyn Chunker>,
    /// Texts to words. Default: [`Tokenizer::new`], questions without function words.
    pub tokenizer: Tokenizer,
    /// The sparse route's formula. Default: Lucene's with its usual parameters.
    pub bm25: Bm25,
    /// How the two routes become one list. Default: reciprocal ranks with k = 60.
    pub fusion: Fusion,
    /// How many candidates each route gives to the fusion, at least. Default 100.
    pub depth: usize,
    /// How many fused chunks an answer looks at. Default 6.
    pub evidence: usize,
    /// How many sentences an answer has at most. Default 3.
    pub sentences: usize,
    /// Whether an answer needs the question's names, numbers and identifiers in its evidence; see
    /// [`anchors`](crate::anchors). Default: yes.
    pub entity_check: bool,
    /// The second look at the fused candidates, before the cut. Default `None`: the fused order is
    /// the order. A reranker reads questions and the texts of candidates; one that sends them
    /// somewhere has to be held to [`Disclosure`] by whoever gives it. A threshold of `answer` is
    /// on the cosine similarity with any of them; calibrate it with the one that is used.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// How many fused candidates the reranker is given, at most: what bounds its cost. Where more hits
    /// are asked for, the others follow in their fused order. Default 50.
    pub pool: usize,
    /// With which model token vectors are computed at ingest and stored, for late interaction.
    /// Default `None`: none are. Documents that are in the index already get theirs by
    /// [`complete_tokens`](crate::LiveRagIndex::complete_tokens); candidates without have theirs
    /// computed when they are reranked.
    pub tokens: Option<TokenSpace>,
    /// What reads names and statements from texts at ingest, to be stored for
    /// [`search_hop`](crate::LiveRagIndex::search_hop), such as
    /// [`RuleExtractor`](crate::extract::RuleExtractor), which needs no model. Default `None`:
    /// nothing is read. Documents that are in the index already get theirs by
    /// [`complete_extractions`](crate::LiveRagIndex::complete_extractions). One that sends texts
    /// somewhere is held to `disclosure`, as the provider is.
    pub extractor: Option<Arc<dyn Extractor>>,
    /// How the graph of names and facts is made: whether spellings are joined.
    pub graph: GraphOptions,
    /// The weights of the walk over names and facts.
    pub recall: RecallOptions,
    /// What decides whether a question of [`search_auto`](crate::LiveRagIndex::search_auto) needs
    /// that walk.
    pub gate: HopGate,
    /// The database's options.
    pub store: cornu_store::Options,
    /// What the provider and the extractor may be sent. Default `None`: both are local, so nothing leaves the
    /// machine. **Set it where one of them is not** (see `Client::leaves_machine` of
    /// `cornu-remote`); a provider sees texts, not grants, so the index cannot know by itself.
    pub disclosure: Option<Disclosure>,
    /// Whether the two routes' results are kept for those who ask the same again. Default `None`.
    /// With [`CacheOptions::similar`] at its default of `None` no byte of any result changes; with a
    /// [`SameQuestion`](crate::SameQuestion) there a question may get the dense candidates of a
    /// similar one, with its own cosines, and what is found depends on what was asked before.
    pub cache: Option<CacheOptions>,
    /// A model that writes answers; see [`chat`](crate::chat). Default `None`: an answer is made of
    /// sentences of the evidence.
    pub chat: Option<Chat>,
}

/// How the dense and the sparse list become one.
///
/// ```
/// use cornu::Fusion;
/// assert!(matches!(Fusion::default(), Fusion::Rrf { dense, sparse, .. } if dense == sparse));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fusion {
    /// Reciprocal ranks: needs no fitted number.
    Rrf {
        /// The constant.
        options: RrfOptions,
        /// The dense list's weight.
        dense: f64,
        /// The sparse list's weight.
        sparse: f64,
    },
    /// α · dense + (1 − α) · sparse, scores brought to one scale. α has to be fitted.
    Convex {
        /// The dense list's part, from 0 to 1.
        alpha: f64,
        /// How scores come to one scale.
        normalisation: Normalisation,
    },
}

impl Default for Fusion {
    fn default() -> Self {
        Self::Rrf {
            options: RrfOptions::default(),
            dense: 1.0,
            sparse: 1.0,
        }
    }
}

impl Default for RagOptions {
    fn default() -> Self {
        let counter = Arc::new(WordCounter::new());
        let chunker = SentencePacked::new(counter, SentencePackedOptions::default());
        Self {
            chunker: Arc::new(chunker),
            tokenizer: Tokenizer::builder().stop_words(StopWords::Common).build(),
            bm25: Bm25::default(),
            fusion: Fusion::default(),
            depth: 100,
            evidence: 6,
            sentences: 3,
            entity_check: true,
            reranker: None,
            pool: 50,
            tokens: None,
            extractor: None,
            graph: GraphOptions::default(),
            recall: RecallOptions::default(),
            gate: HopGate::default(),
            store: cornu_store::Options::default(),
            disclosure: None,
            cache: None,
            chat: None,
        }
    }
}

impl RagOptions {
    pub(crate) fn check(&self) -> Result<(), RagError> {
        for (name, value) in [
            ("depth", self.depth),
            ("evidence", self.evidence),
            ("sentences", self.sentences),
            ("pool", self.pool),
        ] {
            if value == 0 {
                return Err(RagError::Options {
                    problem: format!("`{name}` is 0, so there would be no answer; give at least 1"),
                });
            }
        }
        self.chat.as_ref().map_or(Ok(()), Chat::check)
    }
}

impl fmt::Debug for RagOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RagOptions")
            .field("chunker", &self.chunker.fingerprint())
            .field("tokenizer", self.tokenizer.fingerprint())
            .field("bm25", &self.bm25)
            .field("fusion", &self.fusion)
            .field("depth", &self.depth)
            .field("evidence", &self.evidence)
            .field("sentences", &self.sentences)
            .field("entity_check", &self.entity_check)
            .field(
                "reranker",
                &self.reranker.as_ref().map(|one| one.fingerprint()),
            )
            .field("pool", &self.pool)
            .field("tokens", &self.tokens.as_ref().map(TokenSpace::fingerprint))
            .field(
                "extractor",
                &self.extractor.as_ref().map(|one| one.fingerprint()),
            )
            .field("recall", &self.recall)
            .field("gate", &self.gate)
            .field("store", &self.store)
            .field("disclosure", &self.disclosure)
            .field("cache", &self.cache)
            .field("chat", &self.chat)
            .finish()
    }
}
