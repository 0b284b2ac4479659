//! Those that are compared: what each prepares, and what it finds.

use std::collections::BTreeSet;
use std::time::Instant;

use anyhow::{Context, Result};
use cornu_core::{EmbeddingProvider, Ranking};
use cornu_extract::RuleExtractor;
use cornu_hop::hoprag::{BySimilarity, EdgeRules, HopRag, HopRagOptions, HopRagRecalled};
use ndarray::Array2;

use crate::tables::multihop::embedded::{Embedded, embed, hybrid};
use crate::tables::multihop::raised::{Raised, keywords};
use crate::tables::multihop::set::{Facts, Set};
use crate::tables::multihop::words::Words;

/// Passages that HopRAG starts from and keeps, as published.
pub(super) const TOP: usize = 20;
/// The most that are counted, and the depth of both routes of the hybrid search.
pub(super) const DEEPEST: usize = 200;
/// The most hops.
const HOPS: usize = 5;

/// What the others are compared with.
pub(super) const REFERENCE: &str = "dense";

/// The names of all, in the order in which they are measured.
pub(super) fn names() -> Vec<String> {
    let mut names = [REFERENCE, "hybrid", "no-hops"].map(str::to_owned).to_vec();
    for rules in ["clean", "published"] {
        names.extend((1..=HOPS).map(|hops| format!("{rules}-{hops}")));
    }
    names
}

/// One that is compared.
pub(super) struct Entrant<'a> {
    pub(super) name: String,
    pub(super) way: Way<'a>,
    /// What it took to prepare, without any embedding.
    pub(super) index_seconds: f64,
    /// Texts that it embeds besides passages and questions.
    pub(super) embedded: usize,
}

/// How it finds passages.
pub(super) enum Way<'a> {
    Dense,
    Hybrid,
    Hops { index: &'a HopRag, hops: usize },
}

/// What was found for one question.
pub(super) struct Reply {
    /// The best passages, best first.
    pub(super) best: Vec<usize>,
    /// What the hops did, where there were any to make.
    pub(super) hopped: Option<HopRagRecalled>,
}

/// A set in a model's space, with its indexes.
pub(super) struct Space<'a> {
    embedded: Embedded<'a>,
    keywords: Vec<BTreeSet<String>>,
    words: Words,
    words_seconds: f64,
    pending: Array2<f32>,
    /// Clean and published, each with the seconds that it took.
    indexes: [(HopRag, f64); 2],
    /// Texts that are embedded for them.
    texts: usize,
}

impl<'a> Space<'a> {
    pub(super) fn new(set: &'a Set, facts: &Facts, model: &dyn EmbeddingProvider) -> Result<Self> {
        let embedded = Embedded::new(set, model)?;
        let start = Instant::now();
        let words = Words::new(&set.texts)?;
        let words_seconds = start.elapsed().as_secs_f64();
        let raised = Raised::of(&facts.passages);
        let answerable = embed(model, &raised.answerable)?;
        let pending = embed(model, &raised.pending)?;
        let build = |rules: EdgeRules| -> Result<(HopRag, f64)> {
            let start = Instant::now();
            let nodes = raised.passages.clone();
            let index = HopRag::build(nodes, &answerable.view(), &pending.view(), &rules)?;
            Ok((index, facts.seconds + start.elapsed().as_secs_f64()))
        };
        let indexes = [build(EdgeRules::clean())?, build(EdgeRules::published())?];
        let rules = RuleExtractor::new();
        let asked = set.asked.iter();
        let keywords = asked.map(|asked| keywords(&rules.read(&asked.text).entities));
        Ok(Self {
            embedded,
            keywords: keywords.collect(),
            words,
            words_seconds,
            texts: raised.embedded(),
            pending,
            indexes,
        })
    }

    /// All, in the order of [`names`].
    pub(super) fn entrants(&self) -> Vec<Entrant<'_>> {
        let [(clean, clean_seconds), (published, published_seconds)] = &self.indexes;
        let hops = |index, hops| Way::Hops { index, hops };
        let mut ways = vec![
            (Way::Dense, 0.0),
            (Way::Hybrid, self.words_seconds),
            (hops(clean, 0), 0.0),
        ];
        for (index, seconds) in [(clean, clean_seconds), (published, published_seconds)] {
            ways.extend((1..=HOPS).map(|count| (hops(index, count), *seconds)));
        }
        let entrants = names().into_iter().zip(ways);
        entrants
            .map(|(name, (way, index_seconds))| Entrant {
                name,
                embedded: match way {
                    Way::Hops { hops: 1.., .. } => self.texts,
                    _ => 0,
                },
                way,
                index_seconds,
            })
            .collect()
    }

    pub(super) fn set(&self) -> &'a Set {
        self.embedded.set
    }

    pub(super) fn dense(&self, at: usize) -> Result<Ranking<usize>> {
        let (_, vector) = self.embedded.question(at)?;
        self.embedded.ranked(vector)
    }

    /// What one of them finds for a question: the best `top`, of which HopRAG starts from as many.
    pub(super) fn answer(&self, way: &Way<'_>, at: usize, top: usize) -> Result<Reply> {
        let plain = |ranking: &Ranking<usize>| Reply {
            best: ranking.ids().take(top).copied().collect(),
            hopped: None,
        };
        match way {
            Way::Dense => Ok(plain(&self.dense(at)?)),
            Way::Hybrid => {
                let (text, _) = self.embedded.question(at)?;
                let sparse = self.words.search(text, DEEPEST)?;
                Ok(plain(&hybrid(&self.dense(at)?, &sparse, DEEPEST)?))
            }
            Way::Hops { index, hops } => {
                let (_, vector) = self.embedded.question(at)?;
                let found = index.recall(
                    &vector.view(),
                    self.keywords.get(at).context("a question's keywords")?,
                    &self.pending.view(),
                    &self.embedded.scores(vector),
                    &BySimilarity,
                    &HopRagOptions { top, hops: *hops },
                )?;
                Ok(Reply {
                    best: found.ranking.ids().map(|&at| at as usize).collect(),
                    hopped: Some(found),
                })
            }
        }
    }
}
