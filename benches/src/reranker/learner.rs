//! One face for the two trainers.

use std::path::Path;

use anyhow::{Context, Result};
use cornu_core::Side;
use cornu_embed::bert::{
    Adapter, BertEmbeddingProvider, BertOptions, Group, PairTrainer, ProjectionTrainer, States,
    Truncation,
};

use super::recipe::{Kind, Recipe};
use super::sets::Set;

/// Passages of each training set that a projection's first axes come from.
const SAMPLE: usize = 300;

/// What is trained.
pub enum Learner {
    /// A cross-encoder.
    Pair(Box<PairTrainer>),
    /// A projection of a provider's token vectors.
    Tokens(Box<BertEmbeddingProvider>, Box<ProjectionTrainer>),
}

impl Learner {
    /// Opens the base of a recipe.
    ///
    /// # Errors
    /// A model that is not there.
    pub fn new(recipe: &Recipe, sets: &[Set]) -> Result<Self> {
        match &recipe.kind {
            Kind::Pair(options) => {
                let trainer =
                    PairTrainer::new(&recipe.base, &BertOptions::default(), options.clone())?;
                Ok(Self::Pair(Box::new(trainer)))
            }
            Kind::Tokens(options) => {
                let bert = BertOptions {
                    truncation: Truncation::Right,
                    ..BertOptions::default()
                };
                let provider = BertEmbeddingProvider::open(&recipe.base, &bert)?;
                let trained = sets.iter().filter(|set| recipe.trains_on(&set.name));
                let texts: Vec<&str> = trained
                    .flat_map(|set| set.passages.iter().take(SAMPLE))
                    .map(|passage| passage.text.as_str())
                    .collect();
                let sample = ProjectionTrainer::states(&provider, &texts, Side::Document)?;
                let sample: Vec<&States> = sample.iter().collect();
                let trainer = ProjectionTrainer::new(&provider, &sample, options.clone())?;
                Ok(Self::Tokens(Box::new(provider), Box::new(trainer)))
            }
        }
    }

    /// What no gradient reaches of texts.
    ///
    /// # Errors
    /// A model that fails.
    pub fn states(&self, texts: &[&str], side: Side) -> Result<Vec<States>> {
        Ok(match self {
            Self::Pair(trainer) => trainer.states(texts, side)?,
            Self::Tokens(provider, _) => ProjectionTrainer::states(provider, texts, side)?,
        })
    }

    /// One step; gives the loss before it.
    ///
    /// # Errors
    /// A model that fails.
    pub fn step(&mut self, groups: &[Group<'_>]) -> Result<f64> {
        Ok(match self {
            Self::Pair(trainer) => trainer.step(groups)?,
            Self::Tokens(_, trainer) => trainer.step(groups)?,
        })
    }

    /// Scores as they are trained.
    ///
    /// # Errors
    /// A model that fails.
    pub fn scores(&self, query: &States, documents: &[&States]) -> Result<Vec<f32>> {
        Ok(match self {
            Self::Pair(trainer) => trainer.scores(query, documents)?,
            Self::Tokens(_, trainer) => trainer.scores(query, documents)?,
        })
    }

    /// Scores without what is trained, where there are such: late interaction in all dimensions.
    ///
    /// # Errors
    /// A model that fails; a cross-encoder.
    pub fn plain_scores(&self, query: &States, documents: &[&States]) -> Result<Vec<f32>> {
        match self {
            Self::Pair(_) => None.context("a cross-encoder has no scores without its adapter"),
            Self::Tokens(_, trainer) => Ok(trainer.plain_scores(query, documents)?),
        }
    }

    /// Steps taken.
    #[must_use]
    pub fn steps_done(&self) -> u32 {
        match self {
            Self::Pair(trainer) => trainer.steps_done(),
            Self::Tokens(_, trainer) => trainer.steps_done(),
        }
    }

    /// Writes a checkpoint.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn save(&self, file: &Path) -> Result<()> {
        match self {
            Self::Pair(trainer) => trainer.save(file)?,
            Self::Tokens(_, trainer) => trainer.save(file)?,
        }
        Ok(())
    }

    /// Goes on from a checkpoint.
    ///
    /// # Errors
    /// A file that is not one of this recipe.
    pub fn resume(&mut self, file: &Path) -> Result<()> {
        match self {
            Self::Pair(trainer) => trainer.resume(file)?,
            Self::Tokens(_, trainer) => trainer.resume(file)?,
        }
        Ok(())
    }

    /// Takes the values of an adapter.
    ///
    /// # Errors
    /// An adapter of another base or kind.
    pub fn adopt(&mut self, adapter: &Adapter) -> Result<()> {
        match self {
            Self::Pair(trainer) => trainer.adopt(adapter)?,
            Self::Tokens(_, trainer) => trainer.adopt(adapter)?,
        }
        Ok(())
    }

    /// Writes the adapter.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn export(
        &self,
        folder: &Path,
        name: &str,
        training: serde_json::Value,
    ) -> Result<Adapter> {
        Ok(match self {
            Self::Pair(trainer) => trainer.export(folder, name, training)?,
            Self::Tokens(_, trainer) => trainer.export(folder, name, training)?,
        })
    }
}
