//! Why a passage was found.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Debug;

use cornu_graph_ppr::{Restart, SolveOptions, solve_batch};

use crate::error::HopError;
use crate::graph::HopGraph;
use crate::recall::{Recalled, SeedReason};

/// Why a passage stands where it stands.
///
/// ```
/// use cornu_core::Extraction;
/// use cornu_hop::{HopGraph, Passage, RecallOptions};
///
/// let rome = Passage::new(1, "Rome\nRome is old.", Extraction::default());
/// let pope = Passage::new(2, "Pope\nThe Pope lives in Rome.", Extraction::default());
/// let graph = HopGraph::build([&rome, &pope])?;
/// let found = graph.recall("Where does the Pope live?", None, &RecallOptions::default())?;
/// let why = graph.explain(&found, &1)?.ok_or("it was found")?;
/// assert_eq!(why.parts.len(), 1);
/// assert!((why.parts[0].share - 1.0).abs() < 1e-9); // all of it came from the name "Pope"
/// assert_eq!(why.parts[0].path.len(), 4); // Pope, passage 2, Rome, passage 1
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation<I> {
    /// The passage.
    pub id: I,
    /// Its score.
    pub score: f64,
    /// Where the score comes from, the largest share first.
    pub parts: Vec<Part<I>>,
}

/// A share of a score, and a way it may have come; see [`Explanation`].
#[derive(Clone, Debug, PartialEq)]
pub struct Part<I> {
    /// Why its seeds are seeds.
    pub reason: SeedReason,
    /// Its share of the score; all shares sum to 1.
    pub share: f64,
    /// The most probable path from one of its seeds to the passage, both included.
    pub path: Vec<Step<I>>,
}

/// A node on a path; see [`Explanation`].
#[derive(Clone, Debug, PartialEq)]
pub enum Step<I> {
    /// A name.
    Name {
        /// As it is written.
        name: String,
        /// The fact that says so, in the passage beside it on the path, where there is one.
        fact: Option<String>,
    },
    /// A passage.
    Passage {
        /// Its id.
        id: I,
        /// Its title.
        title: Option<String>,
    },
}

impl<I: Ord + Clone + Debug> HopGraph<I> {
    /// Parts a passage's score by the seeds it comes from. The walk is linear in its seeds, so the
    /// shares are exact up to the solver's tolerance. `None` for a passage that was not found.
    ///
    /// One solution for each reason among the seeds, and one search for each of the reasons that
    /// reach the passage.
    ///
    /// # Errors
    /// [`HopError::Walk`] for a result of another graph.
    pub fn explain(
        &self,
        recalled: &Recalled<I>,
        id: &I,
    ) -> Result<Option<Explanation<I>>, HopError> {
        Ok(self
            .explain_all(recalled, std::slice::from_ref(id))?
            .pop()
            .flatten())
    }

    /// As [`explain`](Self::explain) for several passages at the price of the same solutions: one
    /// for each reason among the seeds, however many passages there are.
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// use cornu_core::Extraction;
    /// use cornu_hop::{HopGraph, Passage, RecallOptions};
    ///
    /// let rome = Passage::new(1, "Rome\nRome is old.", Extraction::default());
    /// let pope = Passage::new(2, "Pope\nThe Pope lives in Rome.", Extraction::default());
    /// let graph = HopGraph::build([&rome, &pope])?;
    /// let found = graph.recall("Where does the Pope live?", None, &RecallOptions::default())?;
    /// let why = graph.explain_all(&found, &[1, 2, 3])?;
    /// assert_eq!(why[0], graph.explain(&found, &1)?);
    /// assert!(why[1].is_some() && why[2].is_none());
    /// # Ok::<(), cornu_hop::HopError>(())
    /// ```
    pub fn explain_all(
        &self,
        recalled: &Recalled<I>,
        ids: &[I],
    ) -> Result<Vec<Option<Explanation<I>>>, HopError> {
        if recalled.seeds.is_empty() {
            return Ok(vec![None; ids.len()]);
        }
        let parted = Parted::new(self, recalled)?;
        Ok(ids
            .iter()
            .map(|id| self.part(recalled, &parted, id))
            .collect())
    }

    fn part(&self, recalled: &Recalled<I>, parted: &Parted<'_>, id: &I) -> Option<Explanation<I>> {
        let found = recalled.ranking.iter().find(|scored| scored.id == *id)?;
        let target = self.position(id)?;
        let mut parts = Vec::new();
        for group in &parted.groups {
            let weight: f64 = group.seeds.iter().map(|(_, weight)| weight).sum();
            let reached = group.scores.get(target as usize).copied().unwrap_or(0.0);
            if reached > 0.0 {
                parts.push(Part {
                    reason: group.reason.clone(),
                    share: reached * weight / parted.total,
                    path: self.path(&group.seeds, target),
                });
            }
        }
        let sum: f64 = parts.iter().map(|part| part.share).sum();
        parts.iter_mut().for_each(|part| part.share /= sum);
        parts.sort_by(|a, b| {
            let by_share = b.share.total_cmp(&a.share);
            by_share.then_with(|| a.reason.cmp(&b.reason))
        });
        Some(Explanation {
            id: id.clone(),
            score: found.score,
            parts,
        })
    }

    /// The path with the largest product of a seed's weight and the probabilities of its steps.
    fn path(&self, seeds: &[(u32, f64)], target: u32) -> Vec<Step<I>> {
        let mut best: BTreeMap<u32, (f64, Option<u32>)> = BTreeMap::new();
        let mut heap = BinaryHeap::new();
        for &(node, weight) in seeds {
            let cost = -weight.ln();
            let known = best.get(&node).is_some_and(|(known, _)| *known <= cost);
            if !known {
                best.insert(node, (cost, None));
                heap.push(Reach { cost, node });
            }
        }
        while let Some(Reach { cost, node }) = heap.pop() {
            if node == target {
                break;
            }
            if best.get(&node).is_some_and(|(known, _)| *known < cost) {
                continue;
            }
            let strength = self.adjacency().strength(node);
            let (columns, weights) = self.adjacency().row(node);
            for (&next, &weight) in columns.iter().zip(weights) {
                let cost = cost - (weight / strength).ln();
                if best.get(&next).is_none_or(|(known, _)| cost < *known) {
                    best.insert(next, (cost, Some(node)));
                    heap.push(Reach { cost, node: next });
                }
            }
        }
        let mut nodes = Vec::new();
        let mut at = best.contains_key(&target).then_some(target);
        while let Some(node) = at {
            nodes.push(node);
            at = best.get(&node).and_then(|(_, before)| *before);
        }
        nodes.reverse();
        let steps = nodes.iter().enumerate();
        steps
            .filter_map(|(at, &node)| {
                let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
                let passages = beside.filter_map(|at| nodes.get(at)).copied();
                self.step(node, passages)
            })
            .collect()
    }

    fn step(&self, node: u32, beside: impl Iterator<Item = u32>) -> Option<Step<I>> {
        if let Some(passage) = self.passage(node) {
            return Some(Step::Passage {
                id: passage.id.clone(),
                title: passage.title.clone(),
            });
        }
        let key = self.key(node)?;
        let mut facts = beside
            .filter_map(|passage| self.passage(passage))
            .flat_map(|passage| passage.facts.clone())
            .filter_map(|at| self.fact(at));
        let fact = facts.find(|fact| *fact.subject != *key && fact.nodes.contains(&node));
        Some(Step::Name {
            name: self.display(key).to_owned(),
            fact: fact.map(|fact| fact.text.to_string()),
        })
    }
}

/// The seeds by their reasons, each with where a walk from these alone stands.
struct Parted<'r> {
    groups: Vec<Group<'r>>,
    /// The weight of all seeds.
    total: f64,
}

/// The seeds of one reason.
struct Group<'r> {
    reason: &'r SeedReason,
    seeds: Vec<(u32, f64)>,
    /// By node.
    scores: Vec<f64>,
}

impl<'r> Parted<'r> {
    fn new<I: Ord + Clone + Debug>(
        graph: &HopGraph<I>,
        recalled: &'r Recalled<I>,
    ) -> Result<Self, HopError> {
        let mut groups: BTreeMap<&SeedReason, Vec<(u32, f64)>> = BTreeMap::new();
        for seed in &recalled.seeds {
            let group = groups.entry(&seed.reason).or_default();
            group.push((seed.node, seed.weight));
        }
        let restarts = groups
            .values()
            .map(|group| Restart::new(graph.nodes(), group.iter().copied()))
            .collect::<Result<Vec<_>, _>>()?;
        let options = SolveOptions::new(recalled.alpha);
        let solutions = solve_batch(graph.walk(), &restarts, &options)?;
        let groups = groups.into_iter().zip(solutions);
        Ok(Self {
            groups: groups
                .map(|((reason, seeds), solution)| Group {
                    reason,
                    seeds,
                    scores: solution.scores,
                })
                .collect(),
            total: recalled.seeds.iter().map(|seed| seed.weight).sum(),
        })
    }
}

/// A node in the order of the search: the cheapest first, then the lowest number.
#[derive(Debug, PartialEq)]
struct Reach {
    cost: f64,
    node: u32,
}

impl Eq for Reach {}

impl PartialOrd for Reach {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Reach {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_cost = other.cost.total_cmp(&self.cost);
        by_cost.then_with(|| other.node.cmp(&self.node))
    }
}
