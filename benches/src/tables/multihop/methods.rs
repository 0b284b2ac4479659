//! The methods: what each prepares, and how it answers a question.

use std::cell::OnceCell;
use std::rc::Rc;
use std::time::Instant;

use anyhow::{Context, Result};
use cornu_core::{EmbeddingProvider, Ranking};
use cornu_extract::RuleExtractor;
use cornu_hop::hoprag::{BySimilarity, EdgeRules, HopRag, HopRagOptions};
use cornu_hop::paper::{
    FirstHippoRag, FirstOptions, PaperHippoRag, PaperOptions, PaperPassage, WeightMode,
};
use cornu_hop::prop::{PropMode, PropOptions, PropPassage, PropRag};
use cornu_hop::{FirstStage, GraphOptions, HopGate, HopGraph, Passage, RecallOptions};
use ndarray::Array2;

use super::embedded::{Embedded, embed, hybrid};
use super::raised::{Raised, keywords};
use super::set::Set;
use super::words::Words;

/// Passages of each of the two routes that the hybrid search fuses.
const DEPTH: usize = 100;
/// Passages that are counted.
pub(super) const TOP: usize = 5;
/// The damping that the chapter prints for its walk over names.
const CHAPTER_DAMPING: f64 = 0.85;

/// How alike two names are that row `walk-synonyms` takes for spellings of one.
const SPELLINGS: f64 = 0.9;

/// What all others are compared with.
pub(super) const REFERENCE: &str = "hybrid";

/// The product's walk, and its choice between that and the reference.
pub(super) const WALK: &str = "walk";
pub(super) const AUTO: &str = "auto";

const WALKS: [&str; 6] = [
    WALK,
    "walk-seeds-only",
    "walk-no-facts",
    "walk-no-between",
    "walk-no-dense",
    "walk-synonyms",
];

/// The names of the methods, in the order in which they are measured.
pub(super) fn names(more: &[More]) -> Vec<&'static str> {
    let mut names = vec!["dense", "bm25", REFERENCE];
    names.extend(WALKS);
    names.push(AUTO);
    for one in more {
        names.extend(match one {
            More::Hippo => &[
                "hipporag-2-published",
                "hipporag-2-summed",
                "hipporag-1",
                "level-3",
            ][..],
            More::Prop => &["proprag-clean", "proprag-published"],
            More::HopRag => &["hoprag-clean", "hoprag-published"],
        });
    }
    names
}

/// What a method finds for the question at a position.
type Answer<'a> = Box<dyn Fn(usize) -> Result<Reply> + 'a>;

/// What a method found.
pub(super) struct Reply {
    /// The best passages, best first.
    pub(super) best: Vec<usize>,
    /// Whether it walked, where it decides.
    pub(super) hopped: Option<bool>,
}

/// A method, ready to be asked.
pub(super) struct Method<'a> {
    pub(super) name: &'static str,
    /// What it took to prepare, without any embedding.
    pub(super) index_seconds: f64,
    /// Texts it embeds besides passages and questions.
    pub(super) embedded: usize,
    pub(super) answer: Answer<'a>,
}

/// Further methods that a set is measured with: each embeds more than passages and questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum More {
    Hippo,
    Prop,
    HopRag,
}

/// A set in a model's space, for all methods.
pub(super) struct Space<'a> {
    embedded: Embedded<'a>,
    model: &'a dyn EmbeddingProvider,
    /// What the walks over names alone stand on.
    first: OnceCell<PaperHippoRag>,
}

impl<'a> Space<'a> {
    pub(super) fn new(set: &'a Set, model: &'a dyn EmbeddingProvider) -> Result<Self> {
        Ok(Self {
            embedded: Embedded::new(set, model)?,
            model,
            first: OnceCell::new(),
        })
    }

    /// Vectors alone, words alone, both. The last is the reference.
    pub(super) fn plain(&self) -> Result<Vec<Method<'_>>> {
        let start = Instant::now();
        let words = Rc::new(Words::new(&self.embedded.set.texts)?);
        let index_seconds = start.elapsed().as_secs_f64();
        let other = Rc::clone(&words);
        let dense: Answer<'_> = Box::new(|at| {
            let (_, vector) = self.embedded.question(at)?;
            Ok(top(&self.embedded.ranked(vector)?))
        });
        let sparse: Answer<'_> = Box::new(move |at| {
            let (text, _) = self.embedded.question(at)?;
            Ok(top(&words.search(text, DEPTH)?))
        });
        let both: Answer<'_> = Box::new(move |at| {
            let (text, vector) = self.embedded.question(at)?;
            Ok(top(&hybrid(
                &self.embedded.ranked(vector)?,
                &other.search(text, DEPTH)?,
                DEPTH,
            )?))
        });
        Ok(vec![
            bare("dense", 0.0, dense),
            bare("bm25", index_seconds, sparse),
            bare(REFERENCE, index_seconds, both),
        ])
    }

    /// The product's walk, the same with a part taken away, and with spellings joined. `read` is the
    /// time it took to read the facts.
    pub(super) fn walks(&self, facts: &[Passage<usize>], read: f64) -> Result<Vec<Method<'_>>> {
        let start = Instant::now();
        let graph = Rc::new(HopGraph::build(facts)?);
        let index_seconds = read + start.elapsed().as_secs_f64();
        let start = Instant::now();
        let options = GraphOptions {
            synonyms: Some(SPELLINGS),
            ..GraphOptions::default()
        };
        let spelled = Rc::new(HopGraph::build_with(facts, &options)?);
        let spelled_seconds = read + start.elapsed().as_secs_f64();
        let whole = RecallOptions::default();
        let part = |name: &str| match name {
            "walk-seeds-only" => RecallOptions {
                alpha: 0.0,
                ..whole
            },
            "walk-no-facts" => RecallOptions {
                fact_weight: 0.0,
                ..whole
            },
            "walk-no-between" => RecallOptions {
                between_weight: 0.0,
                ..whole
            },
            _ => whole,
        };
        let method = |name: &'static str| {
            let (graph, index_seconds) = match name {
                "walk-synonyms" => (Rc::clone(&spelled), spelled_seconds),
                _ => (Rc::clone(&graph), index_seconds),
            };
            let (options, with_dense) = (part(name), name != "walk-no-dense");
            let answer: Answer<'_> = Box::new(move |at| {
                let (text, vector) = self.embedded.question(at)?;
                let dense = with_dense
                    .then(|| self.embedded.ranked(vector))
                    .transpose()?;
                Ok(top(&graph.recall(text, dense.as_ref(), &options)?.ranking))
            });
            Method {
                name,
                index_seconds,
                embedded: 0,
                answer,
            }
        };
        let mut methods: Vec<Method<'_>> = WALKS.map(method).into();
        methods.push(self.auto(graph, index_seconds)?);
        Ok(methods)
    }

    /// The hybrid search, or the walk where a name of the question leads somewhere: as the
    /// product's route `auto`.
    fn auto(&self, graph: Rc<HopGraph<usize>>, index_seconds: f64) -> Result<Method<'_>> {
        let start = Instant::now();
        let words = Words::new(&self.embedded.set.texts)?;
        let index_seconds = index_seconds + start.elapsed().as_secs_f64();
        let gate = HopGate::default();
        let answer: Answer<'_> = Box::new(move |at| {
            let (text, vector) = self.embedded.question(at)?;
            let dense = self.embedded.ranked(vector)?;
            let fused = hybrid(&dense, &words.search(text, DEPTH)?, DEPTH)?;
            let best = fused.ids().take(TOP);
            let best = best.filter_map(|&at| self.embedded.set.texts.get(at));
            let first = FirstStage {
                question: text,
                passages: &best.map(String::as_str).collect::<Vec<&str>>(),
            };
            let decision = gate.decide(&graph, &first);
            let reply = if decision.hops {
                let options = RecallOptions::default();
                top(&graph.recall(text, Some(&dense), &options)?.ranking)
            } else {
                top(&fused)
            };
            Ok(Reply {
                hopped: Some(decision.hops),
                ..reply
            })
        });
        Ok(Method {
            name: AUTO,
            index_seconds,
            embedded: 0,
            answer,
        })
    }

    /// The published methods that were asked for, one after another.
    pub(super) fn published(
        &self,
        facts: &[Passage<usize>],
        read: f64,
        more: &[More],
    ) -> Result<Vec<Method<'_>>> {
        let mut methods = Vec::new();
        for one in more {
            methods.extend(match one {
                More::Hippo => self.hippo(facts, read)?,
                More::Prop => self.prop(facts, read)?,
                More::HopRag => self.hoprag(facts, read)?,
            });
        }
        Ok(methods)
    }

    /// HippoRAG 2 and 1, without synonyms and without the language model; the chapter's third level
    /// is version 1 with the chapter's damping.
    fn hippo(&self, facts: &[Passage<usize>], read: f64) -> Result<Vec<Method<'_>>> {
        let passages: Vec<PaperPassage<'_>> = facts
            .iter()
            .map(|passage| PaperPassage {
                triples: &passage.extraction.triples,
            })
            .collect();
        let mut methods = Vec::new();
        let mut of_facts = None;
        for (name, mode) in [
            ("hipporag-2-published", WeightMode::Published),
            ("hipporag-2-summed", WeightMode::Accumulated),
        ] {
            let start = Instant::now();
            let index = PaperHippoRag::build(&passages, mode)?;
            let index_seconds = read + start.elapsed().as_secs_f64();
            let vectors = match &of_facts {
                Some(vectors) => Rc::clone(vectors),
                None => {
                    let texts: Vec<String> = index.fact_texts().collect();
                    Rc::new(embed(self.model, &texts)?)
                }
            };
            of_facts = Some(Rc::clone(&vectors));
            methods.push(Method {
                name,
                index_seconds,
                embedded: vectors.nrows(),
                answer: Box::new(move |at| {
                    let (_, vector) = self.embedded.question(at)?;
                    let dense = self.embedded.scores(vector);
                    let options = PaperOptions::default();
                    let found = index.recall(&vector.view(), &vectors.view(), &dense, &options)?;
                    Ok(numbers(&found.ranking))
                }),
            });
        }
        let rules = RuleExtractor::new();
        let named = self.embedded.set.asked.iter().map(|asked| {
            let names = rules.read(&asked.text).entities;
            embed(self.model, &names)
        });
        let named = Rc::new(named.collect::<Result<Vec<Array2<f32>>>>()?);
        let start = Instant::now();
        let built = PaperHippoRag::build(&passages, WeightMode::Published)?;
        let index = self.first.get_or_init(|| built);
        let walk = Rc::new(FirstHippoRag::new(index)?);
        let index_seconds = read + start.elapsed().as_secs_f64();
        let phrases = Rc::new(embed(self.model, index.phrases())?);
        for (name, damping) in [
            ("hipporag-1", FirstOptions::default().damping),
            ("level-3", CHAPTER_DAMPING),
        ] {
            let (walk, named, phrases) = (walk.clone(), named.clone(), phrases.clone());
            methods.push(Method {
                name,
                index_seconds,
                embedded: phrases.nrows(),
                answer: Box::new(move |at| {
                    let (_, vector) = self.embedded.question(at)?;
                    let names = named.get(at).context("the names of a question")?;
                    let options = FirstOptions {
                        damping,
                        ..FirstOptions::default()
                    };
                    let dense = self.embedded.scores(vector);
                    let found = walk.recall(&names.view(), &phrases.view(), &dense, &options)?;
                    Ok(numbers(&found.ranking))
                }),
            });
        }
        Ok(methods)
    }

    fn prop(&self, facts: &[Passage<usize>], read: f64) -> Result<Vec<Method<'_>>> {
        let passages: Vec<PropPassage<'_>> = facts
            .iter()
            .map(|passage| PropPassage {
                propositions: &passage.extraction.propositions,
            })
            .collect();
        let modes = [
            ("proprag-clean", PropMode::Clean),
            ("proprag-published", PropMode::Published),
        ];
        let method = |(name, mode)| {
            let start = Instant::now();
            let index = PropRag::build(&passages, mode)?;
            let index_seconds = read + start.elapsed().as_secs_f64();
            let texts: Vec<&str> = index.propositions().collect();
            let vectors = embed(self.model, &texts)?;
            Ok(Method {
                name,
                index_seconds,
                embedded: vectors.nrows(),
                answer: Box::new(move |at| {
                    let (_, vector) = self.embedded.question(at)?;
                    let (dense, options) = (self.embedded.scores(vector), PropOptions::default());
                    let (one, all) = (vector.view(), vectors.view());
                    let found = index.recall(&one, &all, &dense, None, &options)?;
                    Ok(numbers(&found.ranking))
                }),
            })
        };
        modes.into_iter().map(method).collect()
    }

    fn hoprag(&self, facts: &[Passage<usize>], read: f64) -> Result<Vec<Method<'_>>> {
        let raised = Raised::of(facts);
        let embedded = raised.embedded();
        let answerable = embed(self.model, &raised.answerable)?;
        let pending = Rc::new(embed(self.model, &raised.pending)?);
        let rules = RuleExtractor::new();
        let method = |(name, edges): (&'static str, EdgeRules)| {
            let start = Instant::now();
            let index = HopRag::build(
                raised.passages.clone(),
                &answerable.view(),
                &pending.view(),
                &edges,
            )?;
            let index_seconds = read + start.elapsed().as_secs_f64();
            let (pending, rules) = (Rc::clone(&pending), rules.clone());
            Ok(Method {
                name,
                index_seconds,
                embedded,
                answer: Box::new(move |at| {
                    let (text, vector) = self.embedded.question(at)?;
                    let words = keywords(&rules.read(text).entities);
                    let found = index.recall(
                        &vector.view(),
                        &words,
                        &pending.view(),
                        &self.embedded.scores(vector),
                        &BySimilarity,
                        &HopRagOptions::default(),
                    )?;
                    Ok(numbers(&found.ranking))
                }),
            })
        };
        [
            ("hoprag-clean", EdgeRules::clean()),
            ("hoprag-published", EdgeRules::published()),
        ]
        .into_iter()
        .map(method)
        .collect()
    }
}

/// A method that embeds nothing further.
fn bare<'a>(name: &'static str, index_seconds: f64, answer: Answer<'a>) -> Method<'a> {
    Method {
        name,
        index_seconds,
        embedded: 0,
        answer,
    }
}

fn top(ranking: &Ranking<usize>) -> Reply {
    Reply {
        best: ranking.ids().take(TOP).copied().collect(),
        hopped: None,
    }
}

fn numbers(ranking: &Ranking<u32>) -> Reply {
    Reply {
        best: ranking.ids().take(TOP).map(|&at| at as usize).collect(),
        hopped: None,
    }
}
