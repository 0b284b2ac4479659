//! Training of a projection of token vectors to fewer dimensions, for late interaction.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use cornu_core::{ProviderError, Side};
use rayon::prelude::*;
use tch::{Kind, TchError, Tensor};

use super::super::adapter::{Adapter, AdapterBase, AdapterKind, AdapterManifest, write_adapter};
use super::super::encoder::joint::unit;
use super::super::encoder::{ForwardError, Shared, rows_of, torch};
use super::super::error::ModelError;
use super::super::provider::{BertEmbeddingProvider, Inner};
use super::super::safetensors::SafeTensors;
use super::adam::{Moments, norm};
use super::loss::Loss;
use super::network::leaf_of;
use super::trainer::{Group, States, failed, write_state};

/// Longest gradient of a step.
const CLIP: f64 = 1.0;

/// How a projection is trained.
///
/// ```
/// use cornu_embed::bert::ProjectionOptions;
/// assert_eq!(ProjectionOptions::default().dimension, 128);
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ProjectionOptions {
    /// Length of a projected vector.
    pub dimension: usize,
    /// The loss.
    pub loss: Loss,
    /// The mean of a query's largest cosines is divided by it in the loss.
    pub temperature: f64,
    /// Learning rate: falls to a twentieth in a line.
    pub rate: f64,
    /// Steps that the rate is planned for.
    pub steps: u32,
}

impl Default for ProjectionOptions {
    fn default() -> Self {
        Self {
            dimension: 128,
            loss: Loss::default(),
            temperature: 0.02,
            rate: 1e-3,
            steps: 300,
        }
    }
}

/// Trains a linear map of a model's token vectors; the model stays as it is.
///
/// A query's score for a document is the mean over its tokens of the largest cosine with a token of
/// the document (Khattab and Zaharia, 2020, with a mean for their sum), after the map.
pub struct ProjectionTrainer {
    inner: Arc<Inner>,
    weight: Shared,
    moments: Moments,
    options: ProjectionOptions,
    done: u32,
}

impl ProjectionTrainer {
    /// Starts from the principal axes of `sample`'s token vectors: the map to so few dimensions
    /// that changes their scalar products least. O(tokens · hidden²).
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn new(
        provider: &BertEmbeddingProvider,
        sample: &[&States],
        options: ProjectionOptions,
    ) -> Result<Self, ModelError> {
        let inner = Arc::clone(&provider.inner);
        let hidden = inner.runtime.encoder.config().hidden;
        if options.dimension == 0 || options.dimension > hidden {
            return Err(ModelError::malformed(
                "ProjectionOptions",
                format!("{} dimensions of {hidden}", options.dimension),
            ));
        }
        let axes = principal_axes(sample, hidden, options.dimension);
        let weight = axes
            .and_then(|axes| leaf_of(&axes))
            .map_err(|e| torch(&e))?;
        let moments = Moments::zeros(&weight.get().detach()).map_err(|error| torch(&error))?;
        Ok(Self {
            inner,
            weight,
            moments,
            options,
            done: 0,
        })
    }

    /// The token states of texts, as the provider reads them.
    ///
    /// # Errors
    /// [`ProviderError`].
    pub fn states(
        provider: &BertEmbeddingProvider,
        texts: &[&str],
        side: Side,
    ) -> Result<Vec<States>, ProviderError> {
        let inner = &provider.inner;
        let tokens = inner.tokenize(texts, side)?;
        inner
            .runtime
            .encode(&tokens, |tokens, rows| States::of(rows, tokens.len()))
    }

    /// One step down the mean gradient of the groups. Gives their mean loss before it.
    ///
    /// # Errors
    /// [`ModelError::Torch`]; then nothing has changed.
    pub fn step(&mut self, groups: &[Group<'_>]) -> Result<f64, ModelError> {
        let (inner, weight, options) = (&self.inner, &self.weight, &self.options);
        let found = inner
            .runtime
            .install(|| {
                groups
                    .par_iter()
                    .map(|group| gradient(weight, options, group))
                    .collect::<Result<Vec<_>, _>>()
            })
            .map_err(|error| failed(&error))?;
        let count = found.len().max(1) as f64;
        let loss = found.iter().map(|(loss, _)| loss).sum::<f64>() / count;
        if !loss.is_finite() {
            return Err(ModelError::Torch {
                what: format!("the loss of step {} is {loss}", self.done + 1),
            });
        }
        self.apply(&found, count).map_err(|error| torch(&error))?;
        Ok(loss)
    }

    /// The scores of a query's documents through the map.
    ///
    /// # Errors
    /// [`ModelError::Torch`].
    pub fn scores(&self, query: &States, documents: &[&States]) -> Result<Vec<f32>, ModelError> {
        self.all_scores(query, documents, Some(&self.weight))
    }

    /// The scores without the map, in the model's own dimensions.
    ///
    /// # Errors
    /// [`ModelError::Torch`].
    pub fn plain_scores(
        &self,
        query: &States,
        documents: &[&States],
    ) -> Result<Vec<f32>, ModelError> {
        self.all_scores(query, documents, None)
    }

    /// Steps taken.
    #[must_use]
    pub fn steps_done(&self) -> u32 {
        self.done
    }

    /// Writes all that going on needs, in f32, in place of what is there.
    ///
    /// # Errors
    /// [`ModelError::Io`].
    pub fn save(&self, file: &Path) -> Result<(), ModelError> {
        let parts = [
            ("value", &self.weight),
            ("first", &self.moments.first),
            ("second", &self.moments.second),
        ];
        let mut tensors = BTreeMap::from([("done".to_owned(), (vec![1], vec![self.done as f32]))]);
        for (name, tensor) in parts {
            let detached = tensor.get().f_detach().map_err(|error| torch(&error))?;
            let shape = detached.size().iter().map(|&size| size as usize).collect();
            let values = rows_of(&detached).map_err(|error| failed(&error))?;
            tensors.insert(name.to_owned(), (shape, values));
        }
        write_state(file, &tensors)
    }

    /// Goes on from a checkpoint that was saved with the same options.
    ///
    /// # Errors
    /// [`ModelError`]; then nothing has changed.
    pub fn resume(&mut self, file: &Path) -> Result<(), ModelError> {
        let mut reader = SafeTensors::open(file)?;
        let shape = self.weight.get().size();
        let mut tensor = |name: &str| {
            let flat = Tensor::f_from_slice(&reader.read(name)?);
            flat.and_then(|flat| flat.f_reshape(&shape))
                .map_err(|error| torch(&error))
        };
        let (value, first, second) = (tensor("value")?, tensor("first")?, tensor("second")?);
        let done = reader.read("done")?.first().copied().unwrap_or(0.0);
        self.weight = leaf_of(&value).map_err(|error| torch(&error))?;
        self.moments = Moments {
            first: Shared::of(first),
            second: Shared::of(second),
        };
        self.done = done as u32;
        Ok(())
    }

    /// Takes the map of an adapter of the same base and dimension, as its file holds it; to measure
    /// it, not to go on with it.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn adopt(&mut self, adapter: &Adapter) -> Result<(), ModelError> {
        adapter.check_kind(AdapterKind::Tokens)?;
        adapter.check_base(&self.inner.runtime.weights_sha256)?;
        let hidden = self.inner.runtime.encoder.config().hidden;
        let shape = [self.options.dimension, hidden];
        let flat = Tensor::f_from_slice(adapter.tensor("projection", &shape)?);
        let turned = flat
            .and_then(|flat| flat.f_view([shape[0] as i64, shape[1] as i64]))
            .and_then(|rows| rows.f_transpose(0, 1)?.f_contiguous())
            .and_then(|columns| leaf_of(&columns));
        self.weight = turned.map_err(|error| torch(&error))?;
        Ok(())
    }

    /// Writes the adapter. `training` is what its manifest says about how it came about.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn export(
        &self,
        folder: &Path,
        name: &str,
        training: serde_json::Value,
    ) -> Result<Adapter, ModelError> {
        let runtime = &self.inner.runtime;
        let hidden = runtime.encoder.config().hidden;
        let turned = self
            .weight
            .get()
            .f_detach()
            .and_then(|w| w.f_transpose(0, 1));
        let values = turned
            .map_err(ForwardError::from)
            .and_then(|turned| rows_of(&turned))
            .map_err(|error| failed(&error))?;
        let tensors = BTreeMap::from([(
            "projection".to_owned(),
            (vec![self.options.dimension, hidden], values),
        )]);
        let manifest = AdapterManifest {
            format: String::new(),
            kind: AdapterKind::Tokens,
            name: name.to_owned(),
            base: AdapterBase {
                name: runtime.name.clone(),
                weights_sha256: runtime.weights_sha256.clone(),
            },
            tensors_sha256: String::new(),
            split: 0,
            document_tokens: self.inner.limit,
            training,
        };
        write_adapter(folder, manifest, &tensors)
    }

    fn all_scores(
        &self,
        query: &States,
        documents: &[&States],
        weight: Option<&Shared>,
    ) -> Result<Vec<f32>, ModelError> {
        self.inner
            .runtime
            .install(|| {
                let _guard = tch::no_grad_guard();
                let score = |document: &&States| {
                    let score = max_sim(query, document, weight)?;
                    Ok(f64::try_from(&score)? as f32)
                };
                documents
                    .iter()
                    .map(score)
                    .collect::<Result<_, ForwardError>>()
            })
            .map_err(|error| failed(&error))
    }

    fn apply(&mut self, found: &[(f64, Tensor)], count: f64) -> Result<(), TchError> {
        let _guard = tch::no_grad_guard();
        let mut sum = self.weight.get().f_detach()?.f_zeros_like()?;
        for (_, gradient) in found {
            sum = sum.f_add(gradient)?;
        }
        let mean = sum.f_mul_scalar(1.0 / count)?;
        let long = norm(std::slice::from_ref(&mean))?;
        let mean = mean.f_mul_scalar(CLIP / long.max(CLIP))?;
        let step = self.done + 1;
        let left = 1.0 - f64::from(step) / f64::from(self.options.steps.max(1));
        let rate = self.options.rate * left.max(0.05);
        let value = self
            .moments
            .update(&self.weight.get().f_detach()?, &mean, step, rate, 0.0)?;
        self.weight = leaf_of(&value)?;
        self.done = step;
        Ok(())
    }
}

fn gradient(
    weight: &Shared,
    options: &ProjectionOptions,
    group: &Group<'_>,
) -> Result<(f64, Tensor), ForwardError> {
    let scores = group
        .documents
        .iter()
        .map(|document| max_sim(group.query, document, Some(weight)))
        .collect::<Result<Vec<_>, _>>()?;
    let scores = Tensor::f_stack(&scores, 0)?;
    let loss = options
        .loss
        .of(&scores, &group.targets, options.temperature)?;
    let mut gradients = Tensor::f_run_backward(&[&loss], &[weight.get()], false, false)?;
    let gradient = gradients.pop().ok_or(ForwardError::Tokens)?;
    Ok((f64::try_from(&loss)?, gradient))
}

fn max_sim(
    query: &States,
    document: &States,
    weight: Option<&Shared>,
) -> Result<Tensor, ForwardError> {
    let rows = |states: &States| {
        let rows = states.tensor()?;
        match weight {
            Some(weight) => unit(&rows.f_matmul(weight.get())?),
            None => unit(&rows),
        }
    };
    let cosines = rows(query)?.f_matmul(&rows(document)?.f_transpose(0, 1)?)?;
    Ok(cosines.f_amax(1, false)?.f_mean(Kind::Float)?)
}

/// (hidden, dimension): eigenvectors of Σ x · xᵀ over unit rows, largest eigenvalues first.
fn principal_axes(sample: &[&States], hidden: usize, dimension: usize) -> Result<Tensor, TchError> {
    let _guard = tch::no_grad_guard();
    let width = hidden as i64;
    let mut sums = Tensor::f_zeros([width, width], (Kind::Double, tch::Device::Cpu))?;
    for states in sample {
        let rows = unit(&states.tensor()?)?.f_to_kind(Kind::Double)?;
        sums = sums.f_add(&rows.f_transpose(0, 1)?.f_matmul(&rows)?)?;
    }
    let (_, vectors) = sums.f_linalg_eigh("L")?;
    let first = width - dimension as i64;
    vectors
        .f_narrow(1, first, dimension as i64)?
        .f_flip([1])?
        .f_to_kind(Kind::Float)
}
