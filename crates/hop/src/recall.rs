//! From a question to passages, by a walk.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use cornu_core::Ranking;
use cornu_extract::key_words;
use cornu_graph_ppr::{Restart, SolveOptions, solve};

use crate::error::HopError;
use crate::graph::{Fact, HopGraph};
use crate::names::{Found, Name, find};
use crate::relation::stems;
use crate::scale::min_max;

/// The parameters of [`HopGraph::recall`].
///
/// The defaults were chosen on development questions only (METHODS.md says which).
///
/// ```
/// assert_eq!(cornu_hop::RecallOptions::default().alpha, 0.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecallOptions {
    /// The probability to follow an edge, in [0, 1).
    pub alpha: f64,
    /// How much the facts that a question asks for weigh beside the name they are about.
    pub fact_weight: f64,
    /// How much the passages between two names of the question weigh beside these names, where one
    /// passage each has them and none is about them.
    pub between_weight: f64,
    /// How much the passage that is nearest in meaning weighs; a name of one passage weighs 1.
    pub dense_weight: f64,
}

impl Default for RecallOptions {
    fn default() -> Self {
        Self {
            alpha: 0.5,
            fact_weight: 0.5,
            between_weight: 1.0,
            dense_weight: 0.005,
        }
    }
}

impl RecallOptions {
    fn check(&self) -> Result<(), HopError> {
        let weights = [
            ("fact_weight", self.fact_weight),
            ("between_weight", self.between_weight),
            ("dense_weight", self.dense_weight),
        ];
        for (name, value) in weights {
            if !(value.is_finite() && value >= 0.0) {
                let range = "[0, ∞)";
                return Err(HopError::Option { name, value, range });
            }
        }
        Ok(())
    }
}

/// Why a node is a seed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SeedReason {
    /// The question names it.
    Named {
        /// The name, as it is written in the visible passages.
        name: String,
    },
    /// A fact about a name of the question, which shares words with it, speaks of it.
    Fact {
        /// The name of the question.
        name: String,
        /// The fact.
        text: String,
    },
    /// A fact of the passage joins two names of the question.
    Joined {
        /// The fact.
        text: String,
    },
    /// The walks from two names of the question meet there.
    Between {
        /// The names, as they are written in the visible passages.
        names: [String; 2],
    },
    /// It is near the question in meaning.
    Dense,
}

/// A seed of the walk.
///
/// ```
/// use cornu_hop::{Seed, SeedReason};
/// let seed = Seed { node: 3, weight: 0.5, reason: SeedReason::Dense };
/// assert!(seed.weight > 0.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Seed {
    /// The node of [`HopGraph::adjacency`].
    pub node: u32,
    /// Its weight, before all are scaled to a sum of 1.
    pub weight: f64,
    /// Why it is a seed.
    pub reason: SeedReason,
}

/// What a walk found.
///
/// ```
/// use cornu_core::{Extraction, Ranking};
/// use cornu_hop::{HopGraph, Passage, RecallOptions};
///
/// let rome = Passage::new(1, "Rome\nRome is old.", Extraction::default());
/// let pope = Passage::new(2, "Pope\nThe Pope lives in Rome.", Extraction::default());
/// let graph = HopGraph::build([&rome, &pope])?;
/// let found = graph.recall("Where does the Pope live?", None, &RecallOptions::default())?;
/// assert_eq!(found.ranking.ids().collect::<Vec<_>>(), [&2, &1]);
/// // Nothing named, nothing near: no seeds, no passages.
/// let lost = graph.recall("why?", None, &RecallOptions::default())?;
/// assert!(lost.ranking.is_empty() && lost.seeds.is_empty());
/// # Ok::<(), cornu_hop::HopError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Recalled<I> {
    /// Passages by the probability that the walk stands there; those it cannot reach are left out.
    pub ranking: Ranking<I>,
    /// The names of the question that the graph knows, as they are written there.
    pub names: Vec<String>,
    /// The seeds, in the order they were found. Empty when there was nothing to start from.
    pub seeds: Vec<Seed>,
    /// Steps of the solver.
    pub iterations: usize,
    /// Whether it came within 1e-10 of the solution.
    pub converged: bool,
    pub(crate) alpha: f64,
}

impl<I: Ord + Clone + Debug> HopGraph<I> {
    /// Finds passages by Personalized PageRank over the graph. No model is called.
    ///
    /// Seeds are
    /// - the names in the question (the longest runs of its words that are names of the graph),
    ///   each by 1 / number of passages that have it; a name of one passage seeds that passage;
    /// - the other ends of facts about such a name that share words with the rest of the question
    ///   ("director" meets "directed by"), together [`fact_weight`](RecallOptions::fact_weight) of
    ///   the name's weight, each by the square of what the words shared weigh. Facts about a name
    ///   are those of the passages it is the title of, else those whose subject it is;
    /// - the passages of facts that join two names of the question, by `fact_weight` times the larger
    ///   weight of the two: a passage that lists names says less than one that relates them;
    /// - the passages between two names that one passage each has and none is about: where the walks
    ///   from the one and from the other meet, together
    ///   [`between_weight`](RecallOptions::between_weight);
    /// - the passages of `dense`, by [`dense_weight`](RecallOptions::dense_weight) times their
    ///   score, scaled to between 0 and 1 over those that are in the graph.
    ///
    /// `dense` is a ranking under the view of this graph; ids that the graph does not hold are
    /// passed over. O(nodes + edges) a step, about 20 steps; as many again for each of up to four
    /// names of one passage, where there are two of these.
    ///
    /// # Errors
    /// [`HopError::Option`], and [`HopError::Walk`] for an α outside [0, 1).
    pub fn recall(
        &self,
        question: &str,
        dense: Option<&Ranking<I>>,
        options: &RecallOptions,
    ) -> Result<Recalled<I>, HopError> {
        options.check()?;
        let asked = Asked::read(self, question);
        let mut seeds = Vec::new();
        for name in &asked.names {
            self.seed_name(name, &asked, options, &mut seeds);
        }
        self.seed_joined(&asked, options.fact_weight, &mut seeds);
        let names = asked
            .names
            .iter()
            .filter_map(|found| self.known(&found.key));
        self.seed_meetings(names, options.between_weight, options.alpha, &mut seeds)?;
        if let Some(dense) = dense {
            self.seed_dense(dense, options.dense_weight, &mut seeds);
        }
        let solve_options = SolveOptions::new(options.alpha);
        let mut recalled = Recalled {
            ranking: Ranking::empty(),
            names: asked
                .names
                .iter()
                .map(|found| self.display(&found.key).to_owned())
                .collect(),
            seeds,
            iterations: 0,
            converged: true,
            alpha: options.alpha,
        };
        if recalled.seeds.is_empty() {
            return Ok(recalled);
        }
        let weights = recalled.seeds.iter().map(|seed| (seed.node, seed.weight));
        let restart = Restart::new(self.nodes(), weights)?;
        let solution = solve(self.walk(), &restart, &solve_options)?;
        recalled.ranking = self.rank(&solution.scores);
        recalled.iterations = solution.iterations;
        recalled.converged = solution.converged;
        Ok(recalled)
    }

    fn rank(&self, scores: &[f64]) -> Ranking<I> {
        let scored = self
            .passages()
            .zip(scores)
            .filter(|(_, score)| **score > 0.0)
            .map(|(id, score)| (id.clone(), *score));
        // Ids differ and probabilities are finite.
        Ranking::new(scored).unwrap_or_else(|_| Ranking::empty())
    }

    fn seed_name(
        &self,
        found: &Found,
        asked: &Asked,
        options: &RecallOptions,
        seeds: &mut Vec<Seed>,
    ) {
        let Some(name) = self.known(&found.key) else {
            return;
        };
        let weight = 1.0 / name.passages.len().max(1) as f64;
        let reason = SeedReason::Named {
            name: name.display.to_string(),
        };
        match (name.node, name.passages.first()) {
            (Some(node), _) | (None, Some(&node)) => seeds.push(Seed {
                node,
                weight,
                reason,
            }),
            (None, None) => return,
        }
        let facts: Vec<&Fact> = self
            .facts_about(&found.key, name)
            .filter(|fact| fact.nodes.iter().any(|node| !asked.nodes.contains(node)))
            .collect();
        let shared: Vec<f64> = facts.iter().map(|fact| self.shared(fact, asked)).collect();
        let squares: f64 = shared.iter().map(|shared| shared * shared).sum();
        if squares <= 0.0 || options.fact_weight <= 0.0 {
            return;
        }
        for (fact, shared) in facts.into_iter().zip(shared) {
            if shared <= 0.0 {
                continue;
            }
            let ends = fact.nodes.iter().filter(|node| !asked.nodes.contains(node));
            let ends: Vec<u32> = ends.copied().collect();
            let share = shared * shared / squares / ends.len() as f64;
            seeds.extend(ends.into_iter().map(|node| Seed {
                node,
                weight: options.fact_weight * weight * share,
                reason: SeedReason::Fact {
                    name: name.display.to_string(),
                    text: fact.text.to_string(),
                },
            }));
        }
    }

    /// The facts of the passages that a name is the title of; of a name that is no title, the
    /// facts whose subject it is.
    fn facts_about<'a>(
        &'a self,
        key: &'a str,
        name: &'a Name,
    ) -> impl Iterator<Item = &'a Fact> + 'a {
        let is_title = !name.titled.is_empty();
        let passages = match is_title {
            true => &name.titled,
            false => &name.passages,
        };
        passages
            .iter()
            .filter_map(|&passage| self.passage(passage))
            .filter_map(|passage| self.all_facts().get(passage.facts.clone()))
            .flatten()
            .filter(move |fact| is_title || *fact.subject == *key)
    }

    /// What the words that a fact shares with the question weigh.
    fn shared(&self, fact: &Fact, asked: &Asked) -> f64 {
        let stems = fact.stems.iter().filter(|stem| asked.stems.contains(stem));
        stems.map(|&stem| self.vocabulary().weight(stem)).sum()
    }

    fn seed_joined(&self, asked: &Asked, weight: f64, seeds: &mut Vec<Seed>) {
        if asked.nodes.len() < 2 || weight <= 0.0 {
            return;
        }
        // By passage: the name's weight, and the first fact that joins.
        let mut joined: BTreeMap<u32, (f64, &Fact)> = BTreeMap::new();
        for found in &asked.names {
            let Some(name) = self.known(&found.key).filter(|name| name.node.is_some()) else {
                continue;
            };
            let share = 1.0 / name.passages.len().max(1) as f64;
            for &at in &name.passages {
                let facts = self.passage(at).map(|passage| passage.facts.clone());
                let facts = facts.and_then(|facts| self.all_facts().get(facts));
                let joins = facts.into_iter().flatten().find(|fact| {
                    let asked_ends = fact.nodes.iter().filter(|node| asked.nodes.contains(node));
                    asked_ends.count() >= 2
                });
                if let Some(fact) = joins {
                    let kept = joined.entry(at).or_insert((share, fact));
                    kept.0 = kept.0.max(share);
                }
            }
        }
        seeds.extend(joined.into_iter().map(|(node, (share, fact))| Seed {
            node,
            weight: weight * share,
            reason: SeedReason::Joined {
                text: fact.text.to_string(),
            },
        }));
    }

    fn seed_dense(&self, dense: &Ranking<I>, weight: f64, seeds: &mut Vec<Seed>) {
        let seen: Vec<(u32, f64)> = dense
            .iter()
            .filter_map(|scored| Some((self.position(&scored.id)?, scored.score)))
            .collect();
        let scores: Vec<f64> = seen.iter().map(|(_, score)| *score).collect();
        for ((node, _), scaled) in seen.into_iter().zip(min_max(&scores)) {
            if scaled > 0.0 && weight > 0.0 {
                seeds.push(Seed {
                    node,
                    weight: weight * scaled,
                    reason: SeedReason::Dense,
                });
            }
        }
    }
}

/// A question: its names, and the words around them.
pub(crate) struct Asked {
    /// In the order of their keys.
    pub(crate) names: Vec<Found>,
    /// The nodes of the names.
    nodes: BTreeSet<u32>,
    /// The stems of the other words.
    stems: BTreeSet<u32>,
}

impl Asked {
    pub(crate) fn read<I: Ord + Clone + Debug>(graph: &HopGraph<I>, question: &str) -> Self {
        let words = key_words(question);
        let known = |key: &str| graph.known(key).is_some();
        let mut names: BTreeMap<String, Found> = BTreeMap::new();
        let mut rest = String::new();
        let mut from = 0;
        for found in find(&words, known) {
            let opens_alone = found.words == (0..1);
            let only_passing = graph
                .known(&found.key)
                .is_none_or(|name| name.node.is_none());
            // The capital of a question's first word says nothing.
            if opens_alone && only_passing {
                continue;
            }
            let first = words
                .get(found.words.start)
                .map_or(from, |word| word.span.start);
            let last = words
                .get(found.words.end - 1)
                .map_or(first, |word| word.span.end);
            rest.push_str(question.get(from..first).unwrap_or_default());
            rest.push(' ');
            from = last;
            names.entry(found.key.clone()).or_insert(found);
        }
        rest.push_str(question.get(from..).unwrap_or_default());
        let names: Vec<Found> = names.into_values().collect();
        let nodes = names
            .iter()
            .filter_map(|found| graph.known(&found.key)?.node)
            .collect();
        Self {
            names,
            nodes,
            stems: graph.vocabulary().known(&stems(&rest)),
        }
    }
}
