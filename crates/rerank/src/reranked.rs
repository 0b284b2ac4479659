//! What a reranker gives.

use std::time::Duration;

use cornu_core::{ChunkId, Ranking};

use crate::blend::Blend;
use crate::candidate::Candidates;
use crate::elbow::Cut;
use crate::error::RerankError;
use crate::score::{Cutoff, Scale, Score};

/// Candidates in their new order: those that were scored, by score, or by the
/// [blend](crate::Blend) of both stages' scores where one was asked for, ties in first-stage order;
/// then all others in the order they came in. None is lost, and a score of one stage is never compared
/// with one of the other.
///
/// Two results are equal when all but their [timings](Self::elapsed) are.
///
/// ```
/// use cornu_core::ChunkId;
/// use cornu_rerank::{Candidate, Candidates, Reranked, Scale, Unscored};
///
/// let id = |byte| ChunkId::from_bytes([byte; 32]);
/// let candidates = Candidates::new((0..5).map(|at| Candidate::new(id(at), "", -f64::from(at))))?;
/// // An API answers with positions, one twice, one that was never sent, three not at all.
/// let rows = [(3, 0.9), (3, 0.1), (9, 0.8), (0, 0.7)];
/// let reranked = Reranked::from_rows(&candidates, rows, Scale::Probability)?;
/// assert_eq!(reranked.ids().collect::<Vec<_>>(), [id(3), id(0), id(1), id(2), id(4)]);
/// assert_eq!(reranked.report().ignored_rows, 2);
/// assert_eq!(reranked.entries()[2].outcome.unscored(), Some(Unscored::NotReturned));
/// # Ok::<(), cornu_rerank::RerankError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reranked {
    entries: Vec<Entry>,
    report: Report,
    elapsed: Duration,
}

impl PartialEq for Reranked {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries && self.report == other.report
    }
}

/// One candidate's place.
///
/// See [`Reranked`] for an example.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Which chunk.
    pub id: ChunkId,
    /// Its rank in the first stage, from 1.
    pub first_rank: usize,
    /// Its score in the first stage, on that stage's scale.
    pub first_score: f64,
    /// What the reranker said.
    pub outcome: Outcome,
    /// What it is ordered by, from 0 to 1, where the reranker [blends](crate::Blend) and scored it.
    pub blended: Option<f64>,
    /// What an earlier reranker made of it, where one stood [before](crate::Staged).
    pub earlier: Option<Earlier>,
}

/// A candidate's place after the first of two rerankers.
///
/// See [`Staged`](crate::Staged) for an example.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Earlier {
    /// Its rank there, from 1.
    pub rank: usize,
    /// What that reranker said.
    pub outcome: Outcome,
    /// What it was ordered by there, where that reranker blends.
    pub blended: Option<f64>,
}

/// A score, or why there is none.
///
/// ```
/// use cornu_rerank::{Outcome, Unscored};
/// let outcome = Outcome::Unscored(Unscored::BelowCut);
/// assert_eq!(outcome.unscored().map(Unscored::name), Some("below the cut"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// The reranker's score.
    Scored(Score),
    /// Why it has none.
    Unscored(Unscored),
}

impl Outcome {
    /// The score, if there is one.
    #[must_use]
    pub fn score(self) -> Option<Score> {
        match self {
            Self::Scored(score) => Some(score),
            Self::Unscored(_) => None,
        }
    }

    /// The reason, if there is no score.
    #[must_use]
    pub fn unscored(self) -> Option<Unscored> {
        match self {
            Self::Scored(_) => None,
            Self::Unscored(why) => Some(why),
        }
    }
}

/// Why a candidate has no score.
///
/// ```
/// assert_eq!(cornu_rerank::Unscored::NotAsked.name(), "not asked");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unscored {
    /// No reranking was asked for.
    NotAsked,
    /// It stands beyond the depth to which the reranker goes.
    BeyondDepth,
    /// It stands below the elbow.
    BelowCut,
    /// The latency budget did not reach to it.
    BudgetSpent,
    /// The top was decided before.
    TopDecided,
    /// The scorer gave no row for it.
    NotReturned,
    /// The scorer gave NaN or an infinite score.
    NotFinite,
    /// It has no token, or the query has none that counts.
    NoTokens,
}

impl Unscored {
    /// In words, for traces.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NotAsked => "not asked",
            Self::BeyondDepth => "beyond the depth",
            Self::BelowCut => "below the cut",
            Self::BudgetSpent => "the budget was spent",
            Self::TopDecided => "the top was decided",
            Self::NotReturned => "the scorer gave no row",
            Self::NotFinite => "the scorer's number is not finite",
            Self::NoTokens => "no tokens",
        }
    }
}

/// What a reranker did, in numbers.
///
/// ```
/// let report = cornu_rerank::Report::default();
/// assert!(report.is_clean() && report.scored == 0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Candidates that the scorer was given.
    pub sent: usize,
    /// Candidates with a score.
    pub scored: usize,
    /// Where the list was cut, and why there; `None` for rerankers that do not cut.
    pub cut: Option<Cut>,
    /// How many pairs were to fit into the latency budget; `None` without a budget.
    pub planned: Option<usize>,
    /// Rows of the scorer that were passed over: repeated, or of no candidate.
    pub ignored_rows: usize,
    /// Scores that were NaN or infinite.
    pub not_finite: usize,
    /// Candidates that came twice and were dropped before.
    pub duplicates: usize,
}

impl Report {
    /// Whether there is nothing to warn of: the scorer gave one finite score for each candidate
    /// that it was sent.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.ignored_rows == 0 && self.not_finite == 0 && self.scored == self.sent
    }
}

impl Reranked {
    /// Rows (position in `candidates` from 0, number) as a scorer or a remote API gives them.
    ///
    /// The first row of a position counts. A repeated row and a position that was not sent are
    /// counted in [`Report::ignored_rows`]; a NaN leaves its candidate unscored; a candidate
    /// without a row keeps its place behind the scored ones. O(n log n).
    ///
    /// # Errors
    /// [`RerankError::OffScale`] for a finite number that the scale does not hold: then the scale
    /// is wrong for the model, and so is every other score.
    pub fn from_rows(
        candidates: &Candidates<'_>,
        rows: impl IntoIterator<Item = (usize, f64)>,
        scale: Scale,
    ) -> Result<Self, RerankError> {
        let mut draft = Draft::new(candidates, Unscored::NotReturned);
        draft.report.sent = candidates.len();
        for (at, value) in rows {
            draft.row(at, value, scale)?;
        }
        Ok(draft.finish(Duration::ZERO))
    }

    /// The candidates, best first.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The candidates' ids, best first.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = ChunkId> + '_ {
        self.entries.iter().map(|entry| entry.id)
    }

    /// The scored candidates with the reranker's scores. Ties stand by id here, as in every
    /// ranking; [`entries`](Self::entries) breaks them by the first stage.
    #[must_use]
    pub fn scored(&self) -> Ranking<ChunkId> {
        let scored = self
            .entries
            .iter()
            .filter_map(|entry| entry.outcome.score().map(|score| (entry.id, score.value())));
        // Scores are finite and ids differ by construction.
        Ranking::new(scored).unwrap_or_else(|_| Ranking::empty())
    }

    /// The unscored candidates with the first stage's scores.
    #[must_use]
    pub fn unscored(&self) -> Ranking<ChunkId> {
        let unscored = self
            .entries
            .iter()
            .filter(|entry| entry.outcome.score().is_none());
        Ranking::new(unscored.map(|entry| (entry.id, entry.first_score)))
            .unwrap_or_else(|_| Ranking::empty())
    }

    /// The scored candidates that pass a threshold, best first.
    ///
    /// # Errors
    /// [`RerankError::Scales`] for a threshold on a scale that the scores cannot be compared with.
    pub fn passing(&self, cutoff: Cutoff) -> Result<Vec<Entry>, RerankError> {
        let mut passing = Vec::new();
        for entry in &self.entries {
            if let Some(score) = entry.outcome.score()
                && cutoff.passes(score)?
            {
                passing.push(*entry);
            }
        }
        Ok(passing)
    }

    /// The same order and report, told of the candidates of the stage before.
    pub(crate) fn told_of(
        mut self,
        before: &Self,
        duplicates: usize,
        tell: impl Fn(Entry, &Entry) -> Entry,
    ) -> Self {
        for entry in &mut self.entries {
            let at = entry.first_rank.checked_sub(1);
            if let Some(earlier) = at.and_then(|at| before.entries.get(at)) {
                *entry = tell(*entry, earlier);
            }
        }
        self.report.duplicates = duplicates;
        self.elapsed += before.elapsed;
        self
    }

    /// What was done.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// How long it took, by the reranker's clock. Not part of equality.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }
}

/// A result in the making.
pub(crate) struct Draft<'c> {
    candidates: &'c Candidates<'c>,
    outcomes: Vec<Outcome>,
    touched: Vec<bool>,
    pub(crate) report: Report,
    blend: Option<Blend>,
}

impl<'c> Draft<'c> {
    /// All candidates are unscored for one reason, until more is known.
    pub(crate) fn new(candidates: &'c Candidates<'_>, why: Unscored) -> Self {
        Self {
            candidates,
            outcomes: vec![Outcome::Unscored(why); candidates.len()],
            touched: vec![false; candidates.len()],
            report: Report {
                duplicates: candidates.duplicates(),
                ..Report::default()
            },
            blend: None,
        }
    }

    /// To be ordered by both stages' scores.
    pub(crate) fn blended(self, blend: Option<Blend>) -> Self {
        Self { blend, ..self }
    }

    /// A scorer's row.
    pub(crate) fn row(&mut self, at: usize, value: f64, scale: Scale) -> Result<(), RerankError> {
        match self.touched.get_mut(at) {
            Some(touched) if !*touched => *touched = true,
            _ => {
                self.report.ignored_rows += 1;
                return Ok(());
            }
        }
        let outcome = if value.is_finite() {
            self.report.scored += 1;
            Outcome::Scored(Score::new(value, scale)?)
        } else {
            self.report.not_finite += 1;
            Outcome::Unscored(Unscored::NotFinite)
        };
        self.set(at, outcome);
        Ok(())
    }

    /// Why the candidates from a position on were left out.
    pub(crate) fn leave(&mut self, from: usize, to: usize, why: Unscored) {
        for at in from..to {
            self.set(at, Outcome::Unscored(why));
        }
    }

    fn set(&mut self, at: usize, outcome: Outcome) {
        if let Some(place) = self.outcomes.get_mut(at) {
            *place = outcome;
        }
    }

    /// The scores so far, in first-stage order.
    pub(crate) fn scores(&self) -> impl Iterator<Item = Score> + '_ {
        self.outcomes.iter().filter_map(|outcome| outcome.score())
    }

    pub(crate) fn finish(self, elapsed: Duration) -> Reranked {
        let mut entries: Vec<Entry> = self
            .candidates
            .iter()
            .zip(self.outcomes)
            .enumerate()
            .map(|(at, (candidate, outcome))| Entry {
                id: candidate.id,
                first_rank: at + 1,
                first_score: candidate.score,
                outcome,
                blended: None,
                earlier: None,
            })
            .collect();
        if let Some(blend) = self.blend {
            let scored = entries.iter_mut().filter_map(|entry| {
                let score = entry.outcome.score()?;
                Some((&mut entry.blended, (entry.first_score, score.value())))
            });
            let (places, scores): (Vec<_>, Vec<_>) = scored.unzip();
            for (place, value) in places.into_iter().zip(blend.values(&scores)) {
                *place = Some(value);
            }
        }
        entries.sort_by(|a, b| match (a.outcome, b.outcome) {
            (Outcome::Scored(own), Outcome::Scored(other)) => match (a.blended, b.blended) {
                (Some(own), Some(other)) => other.total_cmp(&own),
                _ => own.descending(other),
            },
            (Outcome::Scored(_), Outcome::Unscored(_)) => std::cmp::Ordering::Less,
            (Outcome::Unscored(_), Outcome::Scored(_)) => std::cmp::Ordering::Greater,
            // A stable sort leaves them in first-stage order.
            (Outcome::Unscored(_), Outcome::Unscored(_)) => std::cmp::Ordering::Equal,
        });
        Reranked {
            entries,
            report: self.report,
            elapsed,
        }
    }
}
