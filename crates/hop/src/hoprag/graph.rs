//! Passages, keywords and question edges.

use std::collections::{BTreeMap, BTreeSet};

use ndarray::ArrayView2;

use super::keywords::Keywords;
use super::nearest::{Answers, nearest};
use crate::error::HopError;

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
    pub(super) keywords: Keywords,
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
    /// the most similar stays.
    ///
    /// O(different pending · answerable · dimension) time, on all cores; 4 MiB a core, besides the
    /// edges. The same bits on any number of cores.
    ///
    /// # Errors
    /// [`HopError::Vectors`] where a number of rows or of columns differs.
    pub fn build(
        passages: Vec<HopRagPassage>,
        answerable: &ArrayView2<'_, f32>,
        pending: &ArrayView2<'_, f32>,
        rules: &EdgeRules,
    ) -> Result<Self, HopError> {
        let count = |of: fn(&HopRagPassage) -> usize| passages.iter().map(of).sum();
        let expected = count(|passage| passage.answerable);
        HopError::check_rows("answerable questions", answerable.nrows(), expected)?;
        let expected = count(|passage| passage.pending);
        HopError::check_rows("pending questions", pending.nrows(), expected)?;
        if !pending.is_empty() && !answerable.is_empty() {
            HopError::check_rows("dimensions", pending.ncols(), answerable.ncols())?;
        }

        let keywords = Keywords::new(passages.iter().map(|passage| &passage.keywords));
        let answers = Answers::new(&passages, answerable);
        let mut best: BTreeMap<(u32, u32), QuestionEdge> = BTreeMap::new();
        for edge in nearest(&passages, &keywords, &answers, pending, rules.elsewhere) {
            let kept = best.entry((edge.from, edge.to)).or_insert(edge);
            if edge.similarity > kept.similarity {
                *kept = edge;
            }
        }
        if rules.adopt_orphans {
            adopt(&passages, &answers, &mut best);
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
            keywords,
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

/// Edges to passages that nobody asks for, from the first of their document.
fn adopt(
    passages: &[HopRagPassage],
    answers: &Answers<'_>,
    best: &mut BTreeMap<(u32, u32), QuestionEdge>,
) {
    let asked: BTreeSet<u32> = best.keys().map(|(_, to)| *to).collect();
    let mut first: BTreeMap<u32, u32> = BTreeMap::new();
    for (at, passage) in (0_u32..).zip(passages) {
        first.entry(passage.document).or_insert(at);
    }
    for (at, passage) in (0_u32..).zip(passages) {
        let own = answers.of(at).start;
        let Some(&from) = first.get(&passage.document) else {
            continue;
        };
        if passage.answerable > 0 && from != at && !asked.contains(&at) {
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
