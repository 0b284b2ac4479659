//! Passages, keywords and question edges.

use std::collections::{BTreeMap, BTreeSet};

use ndarray::{ArrayView1, ArrayView2, Axis, s};

use crate::error::HopError;

/// Rows that are compared at once: 512 × answerable scores, 4 bytes each, are in memory.
const BLOCK: usize = 512;

/// A passage with its questions; see [`HopRag`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HopRagPassage {
    /// Which document it is of; passages of one document have the same number.
    pub document: u32,
    /// The words that its document is about.
    pub keywords: BTreeSet<String>,
    /// How many questions it answers.
    pub answerable: usize,
    /// How many it raises.
    pub pending: usize,
}

/// How edges are made.
///
/// ```
/// use cornu_hop::hoprag::EdgeRules;
/// assert!(EdgeRules::published().adopt_orphans);
/// assert!(EdgeRules::clean().cap);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeRules {
    /// Answers to each pending question in other documents, besides the best anywhere.
    pub elsewhere: usize,
    /// Whether a passage none of whose questions was asked for gets an edge from the first passage
    /// of its document.
    pub adopt_orphans: bool,
    /// Whether at most N · log₂ N edges are kept, the most similar, for N passages.
    pub cap: bool,
}

impl EdgeRules {
    /// The published program's: no cap (it stands in a comment there), orphans adopted.
    #[must_use]
    pub fn published() -> Self {
        Self {
            elsewhere: 2,
            adopt_orphans: true,
            cap: false,
        }
    }

    /// The paper's cap, and no edge without a question behind it.
    #[must_use]
    pub fn clean() -> Self {
        Self {
            elsewhere: 2,
            adopt_orphans: false,
            cap: true,
        }
    }
}

/// An edge: a question that one passage raises and another answers.
///
/// ```
/// use cornu_hop::hoprag::QuestionEdge;
/// let edge = QuestionEdge { from: 0, to: 1, pending: Some(0), answerable: 0, similarity: 0.8 };
/// assert_ne!(edge.from, edge.to);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuestionEdge {
    /// The passage that raises it.
    pub from: u32,
    /// The passage that answers it.
    pub to: u32,
    /// The question raised, by its row among all pending ones; `None` for an orphan's edge.
    pub pending: Option<u32>,
    /// The question answered, by its row among all answerable ones.
    pub answerable: u32,
    /// Mean of the cosine of the two questions and the Jaccard index of the passages' keywords.
    pub similarity: f64,
}

/// HopRAG's index.
///
/// ```
/// use cornu_hop::hoprag::{EdgeRules, HopRag, HopRagPassage};
/// use ndarray::arr2;
///
/// let passage = |document, answerable, pending| HopRagPassage {
///     document,
///     keywords: Default::default(),
///     answerable,
///     pending,
/// };
/// // Passage 0 raises what passage 1 answers.
/// let passages = vec![passage(0, 1, 1), passage(1, 1, 0)];
/// let answerable = arr2(&[[0.0_f32, 1.0], [1.0, 0.0]]);
/// let pending = arr2(&[[1.0_f32, 0.0]]);
/// let rules = EdgeRules::clean();
/// let index = HopRag::build(passages, &answerable.view(), &pending.view(), &rules)?;
/// assert_eq!((index.edges()[0].from, index.edges()[0].to), (0, 1));
/// # Ok::<(), cornu_hop::HopError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HopRag {
    pub(super) passages: Vec<HopRagPassage>,
    /// By `from`, then by similarity, the greatest first.
    edges: Vec<QuestionEdge>,
    /// Where each passage's edges begin.
    starts: Vec<usize>,
}

impl HopRag {
    /// Joins passages. `answerable` and `pending` hold the vectors of all passages' questions, in
    /// the order of the passages and of the questions of each.
    ///
    /// For each pending question: an edge to the passage with the best answer among the others, and
    /// to those with the best answers in other documents. Of edges between the same two passages
    /// the most similar stays. O(pending · answerable · dimension) time, O(512 · answerable) memory.
    ///
    /// # Errors
    /// [`HopError::Vectors`] where a number of rows differs.
    pub fn build(
        passages: Vec<HopRagPassage>,
        answerable: &ArrayView2<'_, f32>,
        pending: &ArrayView2<'_, f32>,
        rules: &EdgeRules,
    ) -> Result<Self, HopError> {
        let owners = |count: fn(&HopRagPassage) -> usize| -> Vec<u32> {
            let each = (0_u32..).zip(&passages);
            each.flat_map(|(at, passage)| std::iter::repeat_n(at, count(passage)))
                .collect()
        };
        let answerers = owners(|passage| passage.answerable);
        let askers = owners(|passage| passage.pending);
        HopError::check_rows("answerable questions", answerable.nrows(), answerers.len())?;
        HopError::check_rows("pending questions", pending.nrows(), askers.len())?;

        let mut best: BTreeMap<(u32, u32), QuestionEdge> = BTreeMap::new();
        let all = answerable.t();
        for from in (0..askers.len()).step_by(BLOCK) {
            let to = (from + BLOCK).min(askers.len());
            let cosines = pending.slice(s![from..to, ..]).dot(&all);
            for (row, cosines) in (from..to).zip(cosines.axis_iter(Axis(0))) {
                let Some(&asker) = askers.get(row) else {
                    continue;
                };
                for edge in candidates(&passages, asker, row as u32, &answerers, &cosines, rules) {
                    let kept = best.entry((edge.from, edge.to)).or_insert(edge);
                    if edge.similarity > kept.similarity {
                        *kept = edge;
                    }
                }
            }
        }
        if rules.adopt_orphans {
            adopt(&passages, &answerers, &mut best);
        }
        let mut edges: Vec<QuestionEdge> = best.into_values().collect();
        if rules.cap {
            let n = passages.len() as f64;
            edges.sort_by(|a, b| {
                let by_similarity = b.similarity.total_cmp(&a.similarity);
                by_similarity.then_with(|| (a.from, a.to).cmp(&(b.from, b.to)))
            });
            edges.truncate((n * n.log2().max(1.0)).ceil() as usize);
        }
        edges.sort_by(|a, b| {
            let by_similarity = b.similarity.total_cmp(&a.similarity);
            a.from
                .cmp(&b.from)
                .then(by_similarity)
                .then(a.to.cmp(&b.to))
        });
        let starts = (0..=passages.len() as u32)
            .map(|passage| edges.partition_point(|edge| edge.from < passage))
            .collect();
        Ok(Self {
            passages,
            edges,
            starts,
        })
    }

    /// All edges, by the passage that raises the question, then the most similar first.
    #[must_use]
    pub fn edges(&self) -> &[QuestionEdge] {
        &self.edges
    }

    /// The edges of one passage, the most similar first.
    #[must_use]
    pub fn edges_of(&self, passage: u32) -> &[QuestionEdge] {
        let at = passage as usize;
        let range = self.starts.get(at).zip(self.starts.get(at + 1));
        let range = range.map(|(&from, &to)| from..to);
        range
            .and_then(|range| self.edges.get(range))
            .unwrap_or_default()
    }
}

/// The best answer among the other passages, and the best in other documents.
fn candidates(
    passages: &[HopRagPassage],
    asker: u32,
    row: u32,
    answerers: &[u32],
    cosines: &ArrayView1<'_, f32>,
    rules: &EdgeRules,
) -> Vec<QuestionEdge> {
    let Some(from) = passages.get(asker as usize) else {
        return Vec::new();
    };
    // Keywords are compared once a passage, whose questions stand side by side.
    let mut last: Option<(u32, f64)> = None;
    let mut near: Vec<QuestionEdge> = Vec::with_capacity(answerers.len());
    for (at, (&answerer, &cosine)) in (0_u32..).zip(answerers.iter().zip(cosines)) {
        if answerer == asker {
            continue;
        }
        let shared = match last {
            Some((passage, shared)) if passage == answerer => shared,
            _ => passages
                .get(answerer as usize)
                .map_or(0.0, |to| jaccard(&from.keywords, &to.keywords)),
        };
        last = Some((answerer, shared));
        near.push(QuestionEdge {
            from: asker,
            to: answerer,
            pending: Some(row),
            answerable: at,
            similarity: (f64::from(cosine) + shared) / 2.0,
        });
    }
    let is_elsewhere = |edge: &QuestionEdge| {
        passages
            .get(edge.to as usize)
            .is_some_and(|to| to.document != from.document)
    };
    let better = |a: &QuestionEdge, b: &QuestionEdge| {
        let by_similarity = b.similarity.total_cmp(&a.similarity);
        by_similarity.then(a.answerable.cmp(&b.answerable))
    };
    near.sort_unstable_by(better);
    let anywhere = near.first().copied();
    let elsewhere = near
        .iter()
        .filter(|edge| is_elsewhere(edge))
        .take(rules.elsewhere);
    anywhere.into_iter().chain(elsewhere.copied()).collect()
}

/// Edges to passages that nobody asks for, from the first of their document.
fn adopt(
    passages: &[HopRagPassage],
    answerers: &[u32],
    best: &mut BTreeMap<(u32, u32), QuestionEdge>,
) {
    let asked: BTreeSet<u32> = best.keys().map(|(_, to)| *to).collect();
    let mut first: BTreeMap<u32, u32> = BTreeMap::new();
    for (at, passage) in (0_u32..).zip(passages) {
        first.entry(passage.document).or_insert(at);
    }
    for (at, passage) in (0_u32..).zip(passages) {
        let own = answerers.iter().position(|&answerer| answerer == at);
        let (Some(&from), Some(own)) = (first.get(&passage.document), own) else {
            continue;
        };
        if from != at && !asked.contains(&at) {
            best.entry((from, at)).or_insert(QuestionEdge {
                from,
                to: at,
                pending: None,
                answerable: own as u32,
                similarity: 0.0,
            });
        }
    }
}

/// Size of the intersection by size of the union; 0 for two empty sets.
pub(super) fn jaccard(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let both = a.intersection(b).count();
    let either = a.len() + b.len() - both;
    if either == 0 {
        0.0
    } else {
        both as f64 / either as f64
    }
}
