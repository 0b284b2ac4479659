//! Every candidate through a cross-encoder.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use cornu_core::{Fingerprint, PairScorer};

use crate::blend::Blend;
use crate::candidate::Candidates;
use crate::clock::{Clock, SystemClock};
use crate::error::RerankError;
use crate::reranked::{Draft, Reranked, Unscored};
use crate::reranker::Reranker;
use crate::score::Scale;

/// A [`PairScorer`] with the scale of its scores: the two belong together, and the trait does not
/// say the second.
///
/// ```
/// use std::sync::Arc;
/// use cornu_core::{Fingerprint, PairScorer, ProviderError};
/// use cornu_rerank::{Scale, Scorer};
///
/// struct Length(Fingerprint);
/// impl PairScorer for Length {
///     fn fingerprint(&self) -> &Fingerprint { &self.0 }
///     fn score(&self, _: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
///         Ok(documents.iter().map(|d| d.len() as f32).collect())
///     }
/// }
/// let scorer = Scorer::new(Arc::new(Length(Fingerprint::new("length"))), Scale::Ordinal);
/// assert_eq!(scorer.scale(), Scale::Ordinal);
/// ```
#[derive(Clone)]
pub struct Scorer {
    model: Arc<dyn PairScorer>,
    scale: Scale,
}

impl Scorer {
    /// A scorer and what its numbers mean. `BertPairScorer` gives [`Scale::Logit`].
    #[must_use]
    pub fn new(model: Arc<dyn PairScorer>, scale: Scale) -> Self {
        Self { model, scale }
    }

    /// What its numbers mean.
    #[must_use]
    pub fn scale(&self) -> Scale {
        self.scale
    }

    pub(crate) fn fingerprint(&self) -> Fingerprint {
        self.model
            .fingerprint()
            .clone()
            .with("rerank.scale", self.scale)
    }

    /// One call of the model, for the candidates of a range.
    pub(crate) fn score(
        &self,
        query: &str,
        candidates: &Candidates<'_>,
        range: Range<usize>,
        draft: &mut Draft<'_>,
    ) -> Result<(), RerankError> {
        let part = candidates.as_slice().get(range.clone()).unwrap_or_default();
        if part.is_empty() {
            return Ok(());
        }
        let texts: Vec<&str> = part.iter().map(|candidate| candidate.text).collect();
        let scores = self.model.score(query, &texts)?;
        if scores.len() != texts.len() {
            return Err(RerankError::Rows {
                scorer: self.model.fingerprint().model().to_owned(),
                sent: texts.len(),
                found: scores.len(),
            });
        }
        draft.report.sent += texts.len();
        for (at, score) in range.zip(scores) {
            draft.row(at, f64::from(score), self.scale)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Scorer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scorer")
            .field("model", self.model.fingerprint())
            .field("scale", &self.scale)
            .finish()
    }
}

/// All candidates through a cross-encoder, in one call: the best order that the model can give, at
/// the price of a pass of the model for each. There is no bound on its time; see
/// [`ElbowCascade`](crate::ElbowCascade) for one.
///
/// ```
/// use std::sync::Arc;
/// use cornu_core::{ChunkId, Fingerprint, PairScorer, ProviderError};
/// use cornu_rerank::{Candidate, Candidates, CrossEncoder, Reranker, Scale, Scorer};
///
/// # struct Shares(Fingerprint);
/// # impl PairScorer for Shares {
/// #     fn fingerprint(&self) -> &Fingerprint { &self.0 }
/// #     fn score(&self, query: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
/// #         Ok(documents.iter().map(|d| d.matches(query).count() as f32).collect())
/// #     }
/// # }
/// # let model = Arc::new(Shares(Fingerprint::new("shares")));
/// let reranker = CrossEncoder::new(Scorer::new(model, Scale::Logit));
/// let id = |byte| ChunkId::from_bytes([byte; 32]);
/// let found = [Candidate::new(id(1), "a fruit", 0.9), Candidate::new(id(2), "a slope", 0.8)];
/// let reranked = reranker.rerank("slope", &Candidates::new(found)?)?;
/// assert_eq!(reranked.ids().next(), Some(id(2)));
/// assert_eq!(reranked.entries()[0].first_rank, 2);
/// # Ok::<(), cornu_rerank::RerankError>(())
/// ```
pub struct CrossEncoder {
    scorer: Scorer,
    depth: Option<usize>,
    blend: Option<Blend>,
    clock: Arc<dyn Clock>,
    fingerprint: Fingerprint,
}

impl CrossEncoder {
    /// A reranker of all candidates.
    #[must_use]
    pub fn new(scorer: Scorer) -> Self {
        let fingerprint = scorer.fingerprint().with("rerank", "cross");
        Self {
            scorer,
            depth: None,
            blend: None,
            clock: Arc::new(SystemClock::new()),
            fingerprint,
        }
    }

    /// Only the first so many candidates; a fixed cut.
    #[must_use]
    pub fn with_depth(mut self, depth: usize) -> Self {
        self.fingerprint = self.fingerprint.with("rerank.depth", depth);
        self.depth = Some(depth);
        self
    }

    /// In the order of both stages' scores, not of the model's alone.
    #[must_use]
    pub fn with_blend(mut self, blend: Blend) -> Self {
        self.fingerprint = self.fingerprint.with("rerank.blend", blend.weight());
        self.blend = Some(blend);
        self
    }

    /// Another clock for the report.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }
}

impl Reranker for CrossEncoder {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn rerank(&self, query: &str, candidates: &Candidates<'_>) -> Result<Reranked, RerankError> {
        let start = self.clock.now();
        let depth = self.depth.unwrap_or(usize::MAX).min(candidates.len());
        let mut draft = Draft::new(candidates, Unscored::BeyondDepth).blended(self.blend);
        self.scorer.score(query, candidates, 0..depth, &mut draft)?;
        Ok(draft.finish(self.clock.now().saturating_sub(start)))
    }
}
