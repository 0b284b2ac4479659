//! What is trained, on what.

use anyhow::{Context, Result};
use cornu_embed::bert::TrainOptions;
use serde::{Deserialize, Serialize};

/// One adapter: its base, its questions, its options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// Name of the adapter and of its folder.
    pub name: String,
    /// The preset it is trained on.
    pub base: String,
    /// Sets whose training questions and passages it learns from.
    pub train: Vec<String>,
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
    /// The rest.
    pub options: TrainOptions,
}

/// The recipe of a shipped adapter.
///
/// # Errors
/// There is none of that name.
pub fn named(name: &str) -> Result<Recipe> {
    let known = all();
    let names: Vec<&str> = known.iter().map(|recipe| recipe.name.as_str()).collect();
    let unknown = format!("there is no recipe {name:?}; there are {}", names.join(", "));
    known
        .into_iter()
        .find(|recipe| recipe.name == name)
        .context(unknown)
}

/// The recipes of the shipped adapters.
#[must_use]
pub fn all() -> Vec<Recipe> {
    let list = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    let wiki = ["musique-train-100", "hotpotqa-train-100"];
    vec![
        Recipe {
            name: "minilm-en-pair".to_owned(),
            base: "all-MiniLM-L6-v2".to_owned(),
            train: list(&wiki),
            dev: list(&["2wiki-500"]),
            test: list(&["2wiki-500"]),
            made: 1000,
            groups: 4,
            negatives: 7,
            made_share: 0.5,
            look: 50,
            look_depth: 20,
            seed: 9,
            options: TrainOptions {
                split: 4,
                document_tokens: 96,
                steps: 400,
                ..TrainOptions::default()
            },
        },
        Recipe {
            name: "e5-zh-en-pair".to_owned(),
            base: "multilingual-e5-small".to_owned(),
            train: list(&["bench-data", wiki[0], wiki[1]]),
            dev: list(&["bench-data"]),
            test: list(&["bench-data", "2wiki-500"]),
            made: 1000,
            groups: 4,
            negatives: 7,
            made_share: 0.5,
            look: 50,
            look_depth: 20,
            seed: 9,
            options: TrainOptions {
                split: 10,
                mix: 4.0,
                document_tokens: 160,
                steps: 400,
                ..TrainOptions::default()
            },
        },
    ]
}
