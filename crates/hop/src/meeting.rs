//! What stands between two names of a question.

use std::fmt::Debug;

use cornu_graph_ppr::{Restart, SolveOptions, solve_batch};

use crate::error::HopError;
use crate::graph::HopGraph;
use crate::names::Name;
use crate::recall::{Seed, SeedReason};

/// So many names of a question are taken in pairs, in the order of their passages.
const MOST_NAMES: usize = 4;
/// A passage with less of a pair's meeting than this is no seed.
const LEAST_SHARE: f64 = 0.01;
/// Of the walks from one name; what they are used for needs no more.
const TOLERANCE: f64 = 1e-6;

/// A name to walk from.
struct Start<'a> {
    name: &'a Name,
    node: u32,
    passage: u32,
}

impl<'a> Start<'a> {
    /// Of a name that one passage has and none is about.
    fn of(name: &'a Name) -> Option<Self> {
        match name.passages.as_slice() {
            &[passage] if name.titled.is_empty() => Some(Self {
                name,
                node: name.node.unwrap_or(passage),
                passage,
            }),
            _ => None,
        }
    }
}

impl<I: Ord + Clone + Debug> HopGraph<I> {
    /// Seeds the passages where the walks from two names of the question meet, of names that one
    /// passage each has, and none is about. Such a passage is all that is known of its name: when
    /// the question names two of them, what it asks for lies between. A passage between is met by
    /// the lesser of the probabilities of the two walks; the pair's weight is shared out by the
    /// squares of these, so that one bridge gets nearly all of it, and a thousand passages that
    /// hold a common name get next to nothing each.
    ///
    /// Other names are left out since the development questions lose by them: a name with a passage
    /// of its own is compared with others rather than related to them, and one of many passages has
    /// to do with everything.
    pub(crate) fn seed_meetings<'a>(
        &'a self,
        names: impl Iterator<Item = &'a Name>,
        weight: f64,
        alpha: f64,
        seeds: &mut Vec<Seed>,
    ) -> Result<(), HopError> {
        let mut starts: Vec<Start<'_>> = names.filter_map(Start::of).collect();
        starts.sort_by_key(|start| (start.passage, start.node));
        starts.truncate(MOST_NAMES);
        let pairs: Vec<(usize, usize)> = (0..starts.len())
            .flat_map(|two| (0..two).map(move |one| (one, two)))
            .filter(|&(one, two)| {
                let passage = |at: usize| starts.get(at).map(|start| start.passage);
                passage(one) != passage(two)
            })
            .collect();
        if pairs.is_empty() || weight <= 0.0 {
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
        let of = |at: usize| starts.get(at).zip(walks.get(at));
        for (one, two) in pairs {
            let (Some((one, from_one)), Some((two, from_two))) = (of(one), of(two)) else {
                continue;
            };
            let scores = from_one.scores.iter().zip(&from_two.scores);
            let met: Vec<(u32, f64)> = (0_u32..)
                .zip(scores.take(self.passages().len()))
                .map(|(passage, (a, b))| (passage, a.min(*b)))
                .filter(|(passage, _)| ![one.passage, two.passage].contains(passage))
                .collect();
            let squares: f64 = met.iter().map(|(_, met)| met * met).sum();
            for (node, met) in met {
                let share = met * met / squares;
                // Not so where they meet nowhere: the share is no number.
                if share >= LEAST_SHARE {
                    seeds.push(Seed {
                        node,
                        weight: weight * share,
                        reason: SeedReason::Between {
                            names: [&one.name.display, &two.name.display].map(ToString::to_string),
                        },
                    });
                }
            }
        }
        Ok(())
    }
}
