//! What stands between two names of a question.

use std::fmt::Debug;

use cornu_graph_ppr::{Restart, SolveOptions, solve_batch};

use crate::error::HopError;
use crate::graph::HopGraph;
use crate::names::Name;
use crate::recall::{Seed, SeedReason};

/// So many names of a question are taken in pairs, the rarest first.
const MOST_NAMES: usize = 4;
/// A passage with less of a pair's meeting than this is no seed.
const LEAST_SHARE: f64 = 0.01;
/// Of the walks from one name; what they are used for needs no more.
const TOLERANCE: f64 = 1e-6;

/// A name to walk from.
struct Start<'a> {
    name: &'a Name,
    node: u32,
    weight: f64,
}

impl<I: Ord + Clone + Debug> HopGraph<I> {
    /// Seeds the passages where the walks from two names of the question meet, of names that no
    /// passage is about: what is known of such a name is what it has to do with others. A name with
    /// a passage of its own is asked for what that passage says; seeding what lies between two of
    /// these lost 1.8 points of recall@5 on the development questions of 2wiki-500, whose names are
    /// compared and not related.
    ///
    /// For a pair that no passage holds together, a passage that holds neither is met by the lesser
    /// of the probabilities of the two walks; the pair's weight, `weight` times the lesser of the
    /// names' weights, is shared out by the squares of these, so that one bridge gets nearly all of
    /// it, and a thousand passages that hold a common name get next to nothing each.
    pub(crate) fn seed_meetings<'a>(
        &'a self,
        names: impl Iterator<Item = &'a Name>,
        weight: f64,
        alpha: f64,
        seeds: &mut Vec<Seed>,
    ) -> Result<(), HopError> {
        if weight <= 0.0 {
            return Ok(());
        }
        let mut starts: Vec<Start<'_>> = names
            .filter(|name| name.titled.is_empty())
            .filter_map(|name| {
                let node = name.node.or(name.passages.first().copied())?;
                let weight = 1.0 / name.passages.len().max(1) as f64;
                Some(Start { name, node, weight })
            })
            .collect();
        starts.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.node.cmp(&b.node)));
        starts.truncate(MOST_NAMES);
        let pairs: Vec<(usize, usize)> = (0..starts.len())
            .flat_map(|a| (0..a).map(move |b| (b, a)))
            .filter(|&(a, b)| apart(starts.get(a), starts.get(b)))
            .collect();
        if pairs.is_empty() {
            return Ok(());
        }
        let restarts = starts
            .iter()
            .map(|start| Restart::new(self.nodes(), [(start.node, 1.0)]))
            .collect::<Result<Vec<_>, _>>()?;
        let options = SolveOptions {
            tolerance: TOLERANCE,
            ..SolveOptions::new(alpha)
        };
        let walks = solve_batch(self.walk(), &restarts, &options)?;
        for (a, b) in pairs {
            let (Some(one), Some(two)) = (starts.get(a), starts.get(b)) else {
                continue;
            };
            let (Some(from_one), Some(from_two)) = (walks.get(a), walks.get(b)) else {
                continue;
            };
            let scores = from_one.scores.iter().zip(&from_two.scores);
            let met: Vec<(u32, f64)> = (0_u32..)
                .zip(scores.take(self.passages().len()))
                .map(|(node, (a, b))| (node, a.min(*b)))
                .filter(|(node, met)| *met > 0.0 && !one.holds(*node) && !two.holds(*node))
                .collect();
            let squares: f64 = met.iter().map(|(_, met)| met * met).sum();
            for (node, met) in met {
                let share = met * met / squares;
                if share >= LEAST_SHARE {
                    seeds.push(Seed {
                        node,
                        weight: weight * one.weight.min(two.weight) * share,
                        reason: SeedReason::Between {
                            names: [one.name.display.clone(), two.name.display.clone()],
                        },
                    });
                }
            }
        }
        Ok(())
    }
}

impl Start<'_> {
    fn holds(&self, passage: u32) -> bool {
        self.name.passages.binary_search(&passage).is_ok()
    }
}

/// Whether no passage holds both names.
fn apart(one: Option<&Start<'_>>, two: Option<&Start<'_>>) -> bool {
    let (Some(one), Some(two)) = (one, two) else {
        return false;
    };
    !one.name.passages.iter().any(|&passage| two.holds(passage))
}
