//! What is trained, on what.

use anyhow::{Context, Result};
use cornu_embed::bert::{ProjectionOptions, TrainOptions};
use serde::{Deserialize, Serialize};

/// One adapter: its base, its questions, its options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// Name of the adapter and of its folder.
    pub name: String,
    /// The preset it is trained on.
    pub base: String,
    /// Sets whose training questions and passages it learns from, each with its share of the groups.
    pub train: Vec<(String, f64)>,
    /// Sets whose dev questions choose among its checkpoints.
    pub dev: Vec<String>,
    /// Sets whose test questions it is measured on.
    pub test: Vec<String>,
    /// Questions made of sentences, for each training set.
    pub made: usize,
    /// Groups of a step.
    pub groups: usize,
    /// Negatives of a group.
    pub negatives: usize,
    /// Share of groups whose question is made.
    pub made_share: f64,
    /// Steps between two looks at the dev questions.
    pub look: u32,
    /// Candidates that are scored in such a look.
    pub look_depth: usize,
    /// Seed of what is drawn.
    pub seed: u64,
    /// What is trained, and how.
    pub kind: Kind,
}

/// What a recipe trains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A cross-encoder.
    Pair(TrainOptions),
    /// A projection of token vectors.
    Tokens(ProjectionOptions),
}

impl Recipe {
    /// Whether it learns from a set.
    #[must_use]
    pub fn trains_on(&self, set: &str) -> bool {
        self.train.iter().any(|(name, _)| name == set)
    }

    /// Steps that are planned.
    #[must_use]
    pub fn steps(&self) -> u32 {
        match &self.kind {
            Kind::Pair(options) => options.steps,
            Kind::Tokens(options) => options.steps,
        }
    }

    /// With another number of steps.
    pub fn set_steps(&mut self, steps: u32) {
        match &mut self.kind {
            Kind::Pair(options) => options.steps = steps,
            Kind::Tokens(options) => options.steps = steps,
        }
    }
}

/// The recipe of an adapter.
///
/// # Errors
/// There is none of that name.
pub fn named(name: &str) -> Result<Recipe> {
    let known = all();
    let names: Vec<&str> = known.iter().map(|recipe| recipe.name.as_str()).collect();
    let unknown = format!(
        "there is no recipe {name:?}; there are {}",
        names.join(", ")
    );
    known
        .into_iter()
        .find(|recipe| recipe.name == name)
        .context(unknown)
}

/// All recipes. `cornu-embed` carries the adapters of those that have a folder in its `adapters`.
#[must_use]
pub fn all() -> Vec<Recipe> {
    let list = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    let wiki = [("musique-train-100", 0.5), ("hotpotqa-train-100", 0.5)];
    // The one source of Chinese gets most of the groups.
    let all = [
        ("bench-data", 0.6),
        ("musique-train-100", 0.2),
        ("hotpotqa-train-100", 0.2),
    ];
    let recipe = |name: &str, base: &str, kind: Kind, train: &[(&str, f64)], dev: &str| Recipe {
        name: name.to_owned(),
        base: base.to_owned(),
        train: train
            .iter()
            .map(|&(set, share)| (set.to_owned(), share))
            .collect(),
        dev: list(&[dev]),
        test: list(&[dev]),
        made: 300,
        groups: 4,
        negatives: 7,
        made_share: 0.5,
        look: 50,
        look_depth: 20,
        seed: 9,
        kind,
    };
    let english = TrainOptions {
        split: 4,
        document_tokens: 96,
        rate: 5e-4,
        steps: 400,
        ..TrainOptions::default()
    };
    let both = TrainOptions {
        split: 10,
        mix: 4.0,
        // Chunks of `bench-data` have up to some 400 tokens; what is cut off cannot be judged.
        document_tokens: 400,
        steps: 200,
        ..TrainOptions::default()
    };
    let tokens = || {
        Kind::Tokens(ProjectionOptions {
            steps: 400,
            ..ProjectionOptions::default()
        })
    };
    let (minilm, e5) = ("all-MiniLM-L6-v2", "multilingual-e5-small");
    vec![
        recipe(
            "minilm-en-pair",
            minilm,
            Kind::Pair(english),
            &wiki,
            "2wiki-500",
        ),
        recipe("e5-zh-en-pair", e5, Kind::Pair(both), &all, "bench-data"),
        recipe("minilm-en-tokens", minilm, tokens(), &wiki, "2wiki-500"),
        Recipe {
            // Of `bench-data` only 29 questions are for choices, too few to stop by.
            dev: list(&["bench-data", "2wiki-500"]),
            test: list(&["bench-data", "2wiki-500"]),
            ..recipe("e5-zh-en-tokens", e5, tokens(), &all, "bench-data")
        },
    ]
}
