//! The second look: fused candidates through a reranker, before the cut.

use std::sync::Arc;

use cornu_core::{Chunk, ChunkId, Trace, TraceStep};
use cornu_fuse::Fused;
use cornu_rerank::{
    Candidate, Candidates, CutReason, Entry, Outcome, Reranked, Reranker, TokenMatrix,
};
use cornu_store::Snapshot;

use crate::error::RagError;
use crate::index::LiveRagIndex;
use crate::search::Hit;

/// What a reranker said of a hit.
///
/// ```
/// let second = cornu::Second {
///     first_rank: 7, score: Some(2.2), scale: Some("logit"), probability: Some(0.9), blended: None,
///     unscored: None, earlier: None,
/// };
/// assert!(second.score.is_some() != second.unscored.is_some());
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Second {
    /// The hit's rank in the fused list, from 1.
    pub first_rank: usize,
    /// The reranker's score, on its scale.
    pub score: Option<f64>,
    /// What the score means: `logit`, `probability`, `max_sim`, `ordinal`.
    pub scale: Option<&'static str>,
    /// The score as a probability of relevance, where the scale has one.
    pub probability: Option<f64>,
    /// What the hit is ordered by, from 0 to 1, where the reranker blends its score with that of
    /// the fused list.
    pub blended: Option<f64>,
    /// Why there is no score, in words.
    pub unscored: Option<&'static str>,
    /// Where a reranker before this one had put it, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Earlier>,
}

/// What the first of two rerankers said of a hit.
///
/// ```
/// let earlier = cornu::Earlier { rank: 2, score: Some(17.5), scale: Some("max_sim") };
/// assert_eq!(earlier.rank, 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Earlier {
    /// Its rank there, from 1.
    pub rank: usize,
    /// That reranker's score, on its scale.
    pub score: Option<f64>,
    /// What that score means, as [`Second::scale`].
    pub scale: Option<&'static str>,
}

impl Earlier {
    fn of(earlier: cornu_rerank::Earlier) -> Self {
        let score = earlier.outcome.score();
        Self {
            rank: earlier.rank,
            score: score.map(cornu_rerank::Score::value),
            scale: score.map(|score| score.scale().name()),
        }
    }
}

impl Second {
    fn of(entry: &Entry) -> Self {
        let score = entry.outcome.score();
        Self {
            first_rank: entry.first_rank,
            score: score.map(cornu_rerank::Score::value),
            scale: score.map(|score| score.scale().name()),
            probability: score.and_then(cornu_rerank::Score::probability),
            blended: entry.blended,
            unscored: entry.outcome.unscored().map(cornu_rerank::Unscored::name),
            earlier: entry.earlier.map(Earlier::of),
        }
    }

    pub(crate) fn note(&self, step: &mut TraceStep) {
        step.note("first_rank", self.first_rank);
        if let (Some(score), Some(scale)) = (self.score, self.scale) {
            step.note("rerank_score", score).note("rerank_scale", scale);
        }
        if let Some(probability) = self.probability {
            step.note("rerank_probability", probability);
        }
        if let Some(blended) = self.blended {
            step.note("rerank_blended", blended);
        }
        if let Some(why) = self.unscored {
            step.note("unscored", why);
        }
        if let Some(earlier) = self.earlier {
            step.note("earlier_rank", earlier.rank);
            if let (Some(score), Some(scale)) = (earlier.score, earlier.scale) {
                step.note("earlier_score", score)
                    .note("earlier_scale", scale);
            }
        }
    }
}

/// What became of the fused candidates.
pub(crate) struct SecondLook {
    reranked: Reranked,
    /// The reranker, in words.
    by: String,
    /// Fused candidates behind the pool, which the reranker never saw.
    rest: Vec<(ChunkId, f64)>,
    /// How many candidates had token vectors in the index, for a reranker that uses them.
    stored: Option<usize>,
}

impl LiveRagIndex {
    /// The fused candidates through the reranker, if there is one. They are what the asker sees, so
    /// whatever the reranker does with them, nothing hidden has a part in it.
    pub(crate) fn second_look(
        &self,
        snapshot: &Snapshot<'_>,
        question: &str,
        fused: &Fused<ChunkId>,
    ) -> Result<Option<SecondLook>, RagError> {
        let Some(reranker) = &self.options.reranker else {
            return Ok(None);
        };
        let pool = self.options.pool;
        let best = || fused.ranking().iter().take(pool);
        let found = snapshot.chunks(best().map(|hit| &hit.id))?;
        let scores = best().map(|hit| hit.score);
        let chunks: Vec<(Arc<Chunk>, f64)> = found
            .into_iter()
            .zip(scores)
            .filter_map(|(chunk, score)| Some((chunk?, score)))
            .collect();
        let tokens = stored_tokens(snapshot, &**reranker, &chunks)?;
        let candidates = chunks
            .iter()
            .enumerate()
            .map(|(at, (chunk, score))| Candidate {
                tokens: tokens.as_ref().and_then(|tokens| tokens.get(at)?.as_ref()),
                ..Candidate::new(chunk.id, &chunk.index_text, *score)
            });
        let candidates = Candidates::new(candidates)?;
        let reranked = reranker.rerank(question, &candidates)?;
        Ok(Some(SecondLook {
            reranked,
            by: reranker.fingerprint().to_string(),
            rest: fused
                .ranking()
                .iter()
                .skip(pool)
                .map(|hit| (hit.id, hit.score))
                .collect(),
            stored: tokens.map(|tokens| tokens.iter().flatten().count()),
        }))
    }
}

/// The candidates' token vectors, of the space that the reranker works in.
fn stored_tokens(
    snapshot: &Snapshot<'_>,
    reranker: &dyn Reranker,
    chunks: &[(Arc<Chunk>, f64)],
) -> Result<Option<Vec<Option<TokenMatrix>>>, RagError> {
    let Some(space) = reranker.token_space() else {
        return Ok(None);
    };
    let ids: Vec<ChunkId> = chunks.iter().map(|(chunk, _)| chunk.id).collect();
    let stored = snapshot.token_vectors(&space.digest(), &ids)?;
    let read = |bytes: Option<Vec<u8>>| {
        Ok(bytes
            .map(|bytes| TokenMatrix::from_bytes(&bytes))
            .transpose()?)
    };
    stored
        .into_iter()
        .map(read)
        .collect::<Result<_, RagError>>()
        .map(Some)
}

impl SecondLook {
    /// The candidates in their new order, each with its first-stage score; behind them those that
    /// the reranker never saw, as they were.
    pub(crate) fn order(&self) -> impl Iterator<Item = (ChunkId, f64)> + '_ {
        let entries = self.reranked.entries().iter();
        let seen = entries.map(|entry| (entry.id, entry.first_score));
        seen.chain(self.rest.iter().copied())
    }

    pub(crate) fn of(&self, id: &ChunkId) -> Option<Second> {
        let entries = self.reranked.entries();
        if let Some(entry) = entries.iter().find(|entry| entry.id == *id) {
            return Some(Second::of(entry));
        }
        let behind = self.rest.iter().position(|(other, _)| other == id)?;
        Some(Second {
            first_rank: entries.len() + behind + 1,
            score: None,
            scale: None,
            probability: None,
            blended: None,
            unscored: Some("behind the pool"),
            earlier: None,
        })
    }

    /// What was done, and for each candidate its first rank and its score or why it has none. What
    /// is not among these candidates was not retrieved, and no reranker brings it back.
    pub(crate) fn note(&self, trace: &mut Trace, k: usize) {
        let report = self.reranked.report();
        let step = trace.step("rerank");
        step.note("by", self.by.as_str())
            .note("retrieved", self.reranked.entries().len() + self.rest.len())
            .note("pool", self.reranked.entries().len())
            .note("sent", report.sent)
            .note("scored", report.scored);
        if let Some(stored) = self.stored {
            step.note("with_stored_tokens", stored);
        }
        if let Some(cut) = report.cut {
            step.note("cut", cut.at).note("cut_because", cut.why.name());
            if let CutReason::Elbow { drop } = cut.why {
                step.note("drop", drop);
            }
        }
        if let Some(planned) = report.planned {
            step.note("within_budget", planned);
        }
        if !report.is_clean() {
            let missing = report.sent.saturating_sub(report.scored);
            step.note(
                "warning",
                format!("{missing} of {} sent have no score", report.sent),
            );
        }
        let candidates = self.reranked.entries().iter().map(|entry| {
            let id: String = entry.id.to_string().chars().take(12).collect();
            let said = match entry.outcome {
                Outcome::Scored(score) => format!("{} ({})", score.value(), score.scale()),
                Outcome::Unscored(why) => why.name().to_owned(),
            };
            // What a score is blended with is that of the stage before.
            let (before, then) = match entry.earlier {
                Some(earlier) => {
                    let score = earlier.outcome.score().map(cornu_rerank::Score::value);
                    (
                        earlier.blended.or(score),
                        format!(", then {}", earlier.rank),
                    )
                }
                None => (Some(entry.first_score), String::new()),
            };
            let both = match (entry.blended, before) {
                (Some(blended), Some(before)) => {
                    format!(", with {before} blended to {blended:.6}")
                }
                _ => String::new(),
            };
            format!("{id}, first {}{then}: {said}{both}", entry.first_rank)
        });
        step.note("k", k)
            .note("candidates", candidates.collect::<Vec<_>>());
    }
}

/// For a reranker that looks at tokens: which of the chunk's answers which of the question's.
pub(crate) fn matches(
    step: &mut TraceStep,
    reranker: &dyn Reranker,
    question: &str,
    hit: &Hit,
) -> Result<(), RagError> {
    let text = hit.chunk.index_text.as_str();
    let candidate = Candidate::new(hit.chunk.id, text, hit.score);
    let matches = reranker.explain(question, &candidate)?;
    if matches.is_empty() {
        return Ok(());
    }
    let word = |of: &str, span: Option<cornu_core::ByteSpan>| match span {
        Some(span) => of.get(span.range()).unwrap_or_default().to_owned(),
        None => "(special)".to_owned(),
    };
    let shown = matches.iter().map(|pair| {
        let (asked, held) = (word(question, pair.query), word(text, pair.document));
        format!("{asked} ~ {held}: {:.3}", pair.similarity)
    });
    step.note("token_matches", shown.collect::<Vec<_>>());
    Ok(())
}
