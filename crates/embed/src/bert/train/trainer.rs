//! Steps, checkpoints and export of a split cross-encoder.

use std::collections::BTreeMap;
use std::path::Path;

use cornu_core::{ProviderError, Side};
use half::f16;
use rayon::prelude::*;
use tch::Tensor;

use super::super::adapter::{
    Adapter, AdapterBase, AdapterKind, AdapterManifest, Named, write_adapter,
};
use super::super::encoder::{ForwardError, Shared, rows_of, torch};
use super::super::error::ModelError;
use super::super::files::ModelFiles;
use super::super::options::BertOptions;
use super::super::runtime::Runtime;
use super::super::safetensors::{Precision, SafeTensors, to_bytes};
use super::super::split::read;
use super::adam::{Moments, norm};
use super::loss::Loss;
use super::network::{Network, leaf_of};

/// Largest norm of a step's gradient; a longer one is shortened to it.
const CLIP: f64 = 1.0;

/// How an adapter is trained.
///
/// ```
/// use cornu_embed::bert::{Loss, TrainOptions};
/// let options = TrainOptions { steps: 100, ..TrainOptions::default() };
/// assert_eq!((options.loss, options.rank), (Loss::Listwise, 16));
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TrainOptions {
    /// Layers that read query and document apart; the others are trained.
    pub split: usize,
    /// Rank of the changes.
    pub rank: usize,
    /// The most tokens of a document.
    pub document_tokens: usize,
    /// What attention between the sides begins with: far below zero is closed.
    pub gate: f32,
    /// What both similarities are weighted with at first. Where a model's cosines lie close
    /// together, as e5's do, it has to be larger, or the loss sees no difference.
    pub mix: f32,
    /// The loss.
    pub loss: Loss,
    /// Scores are divided by it in the loss.
    pub temperature: f64,
    /// The highest learning rate, reached after `warmup` steps; it falls to a twentieth in a line.
    pub rate: f64,
    /// Steps in which the rate rises.
    pub warmup: u32,
    /// Steps in all: what the rate is planned for.
    pub steps: u32,
    /// Weight decay.
    pub decay: f64,
    /// Seed of the first values.
    pub seed: u64,
}

impl Default for TrainOptions {
    fn default() -> Self {
        Self {
            split: 4,
            rank: 16,
            document_tokens: 128,
            gate: -3.0,
            mix: 1.0,
            loss: Loss::default(),
            temperature: 2.0,
            rate: 1e-3,
            warmup: 20,
            steps: 300,
            decay: 0.01,
            seed: 1,
        }
    }
}

/// A text's states after the lower layers, (tokens, hidden), kept in f16.
#[derive(Clone, Debug, PartialEq)]
pub struct States {
    rows: Vec<f16>,
    tokens: usize,
}

impl States {
    pub(super) fn of(rows: &[f32], tokens: usize) -> Self {
        Self {
            rows: rows.iter().map(|&value| f16::from_f32(value)).collect(),
            tokens,
        }
    }

    /// (tokens, hidden).
    pub(super) fn tensor(&self) -> Result<Tensor, tch::TchError> {
        let rows: Vec<f32> = self.rows.iter().map(|value| value.to_f32()).collect();
        Tensor::f_from_slice(&rows)?.f_view([self.tokens as i64, -1])
    }

    /// Tokens of the text, special tokens and prefix included.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.tokens
    }
}

/// A query with its documents, and a target for each: a grade, or a teacher's score.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// The query.
    pub query: &'a States,
    /// Its documents.
    pub documents: Vec<&'a States>,
    /// One for each document.
    pub targets: Vec<f32>,
}

/// Trains a split cross-encoder on an embedding model.
///
/// Memory: the model, and for each thread some 20 matrices of (tokens of a group, intermediate
/// size) f32 a trained layer.
pub struct PairTrainer {
    runtime: Runtime,
    network: Network,
    moments: Vec<Moments>,
    options: TrainOptions,
    query_prefix: String,
    document_prefix: String,
    done: u32,
}

impl PairTrainer {
    /// Opens the base model, by a preset's name or its folder's path.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn new(model: &str, bert: &BertOptions, options: TrainOptions) -> Result<Self, ModelError> {
        let files = ModelFiles::open(&bert.folder(model)?)?;
        if options.split >= files.config().layers || options.rank == 0 {
            return Err(ModelError::malformed(
                "TrainOptions",
                format!("split {} or rank {}", options.split, options.rank),
            ));
        }
        let prefix = |said: &Option<String>| said.clone().unwrap_or_default();
        let query_prefix = prefix(&files.sentence().query_prefix);
        let document_prefix = prefix(&files.sentence().document_prefix);
        let (runtime, ()) = Runtime::load(files, bert, None, |_| Ok(()))?;
        let network = Network::new(runtime.encoder.config(), &options).map_err(|e| torch(&e))?;
        let moments = network
            .parameters()
            .iter()
            .map(|(_, parameter)| Moments::zeros(&parameter.get().detach()))
            .collect::<Result<_, _>>()
            .map_err(|error| torch(&error))?;
        Ok(Self {
            runtime,
            network,
            moments,
            options,
            query_prefix,
            document_prefix,
            done: 0,
        })
    }

    /// The states of texts after the lower layers. Documents lose what is beyond
    /// [`TrainOptions::document_tokens`].
    ///
    /// # Errors
    /// [`ProviderError`].
    pub fn states<T: AsRef<str> + Sync>(
        &self,
        texts: &[T],
        side: Side,
    ) -> Result<Vec<States>, ProviderError> {
        let (prefix, limit) = match side {
            Side::Query => (
                &self.query_prefix,
                self.runtime.encoder.config().max_tokens(),
            ),
            Side::Document => (&self.document_prefix, self.options.document_tokens),
        };
        let tokens = read(&self.runtime, texts, prefix, limit, side)?;
        self.runtime
            .encode_through(&tokens, self.options.split, |tokens, rows| {
                States::of(rows, tokens.len())
            })
    }

    /// One step down the mean gradient of the groups. Gives their mean loss before it.
    ///
    /// # Errors
    /// [`ModelError::Torch`]; then nothing has changed.
    pub fn step(&mut self, groups: &[Group<'_>]) -> Result<f64, ModelError> {
        let this = &*self;
        let found = this
            .runtime
            .install(|| {
                groups
                    .par_iter()
                    .map(|group| this.gradient(group))
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
        self.apply(
            found.into_iter().map(|(_, gradient)| gradient).collect(),
            count,
        )
        .map_err(|error| torch(&error))?;
        Ok(loss)
    }

    /// The scores of a query's documents by the network as it stands.
    ///
    /// # Errors
    /// [`ModelError::Torch`].
    pub fn scores(&self, query: &States, documents: &[&States]) -> Result<Vec<f32>, ModelError> {
        let lengths: Vec<usize> = documents
            .iter()
            .map(|document| document.tokens + query.tokens)
            .collect();
        self.runtime
            .over_packs(&lengths, |pack| {
                let _guard = tch::no_grad_guard();
                let own: Vec<&States> = pack
                    .iter()
                    .filter_map(|&at| documents.get(at).copied())
                    .collect();
                let scores = self.forward(query, &own)?;
                rows_of(&Tensor::f_stack(&scores, 0)?)
            })
            .map_err(|error| ModelError::Torch {
                what: error.to_string(),
            })
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
        write_state(file, &self.state().map_err(|error| failed(&error))?)
    }

    /// Goes on from a checkpoint that was saved with the same options.
    ///
    /// # Errors
    /// [`ModelError`]; then nothing has changed.
    pub fn resume(&mut self, file: &Path) -> Result<(), ModelError> {
        let mut reader = SafeTensors::open(file)?;
        let mut values = Vec::new();
        let mut moments = Vec::new();
        for (name, parameter) in self.network.parameters() {
            let shape = parameter.get().size();
            let mut tensor = |kind: &str| {
                let values = reader.read(&format!("{kind}.{name}"))?;
                let made = Tensor::f_from_slice(&values).and_then(|flat| flat.f_reshape(&shape));
                made.map_err(|error| torch(&error))
            };
            values.push(tensor("value")?);
            moments.push(Moments {
                first: Shared::of(tensor("first")?),
                second: Shared::of(tensor("second")?),
            });
        }
        let done = reader.read("done")?.first().copied().unwrap_or(0.0);
        for (parameter, value) in self.network.parameters_mut().into_iter().zip(&values) {
            *parameter = leaf_of(value).map_err(|error| torch(&error))?;
        }
        self.moments = moments;
        self.done = done as u32;
        Ok(())
    }

    /// Takes the values of an adapter that was trained on the same base with the same options, as
    /// its file holds them; to measure it, not to go on with it.
    ///
    /// # Errors
    /// [`ModelError`]; then nothing has changed.
    pub fn adopt(&mut self, adapter: &Adapter) -> Result<(), ModelError> {
        adapter.check_kind(AdapterKind::Pair)?;
        adapter.check_base(&self.runtime.weights_sha256)?;
        let mut values = Vec::new();
        for (name, parameter) in self.network.parameters() {
            let mut shape = parameter.get().size();
            let turned = name.starts_with("lora.");
            if turned {
                shape.reverse();
            }
            let sizes: Vec<usize> = shape.iter().map(|&size| size as usize).collect();
            let flat = Tensor::f_from_slice(adapter.tensor(&name, &sizes)?);
            let value = flat
                .and_then(|flat| flat.f_reshape(&shape))
                .and_then(|value| {
                    if turned {
                        value.f_transpose(0, 1)?.f_contiguous()
                    } else {
                        Ok(value)
                    }
                });
            values.push(value.map_err(|error| torch(&error))?);
        }
        for (parameter, value) in self.network.parameters_mut().into_iter().zip(&values) {
            *parameter = leaf_of(value).map_err(|error| torch(&error))?;
        }
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
        let tensors = self.network.tensors().map_err(|error| failed(&error))?;
        let manifest = AdapterManifest {
            format: String::new(),
            kind: AdapterKind::Pair,
            name: name.to_owned(),
            base: AdapterBase {
                name: self.runtime.name.clone(),
                weights_sha256: self.runtime.weights_sha256.clone(),
            },
            tensors_sha256: String::new(),
            split: self.options.split,
            document_tokens: self.options.document_tokens,
            training,
        };
        write_adapter(folder, manifest, &tensors)
    }

    fn gradient(&self, group: &Group<'_>) -> Result<(f64, Vec<Tensor>), ForwardError> {
        let scores = Tensor::f_stack(&self.forward(group.query, &group.documents)?, 0)?;
        let loss = self
            .options
            .loss
            .of(&scores, &group.targets, self.options.temperature)?;
        let parameters = self.network.parameters();
        let leaves: Vec<&Tensor> = parameters.iter().map(|(_, leaf)| leaf.get()).collect();
        let gradients = Tensor::f_run_backward(&[&loss], &leaves, false, false)?;
        Ok((f64::try_from(&loss)?, gradients))
    }

    fn forward(&self, query: &States, documents: &[&States]) -> Result<Vec<Tensor>, ForwardError> {
        let mut rows: Vec<f32> = Vec::new();
        let mut pairs = Vec::with_capacity(documents.len());
        for document in documents {
            let both = query.rows.iter().chain(&document.rows);
            rows.extend(both.map(|value| value.to_f32()));
            pairs.push((query.tokens, document.tokens));
        }
        let width = self.runtime.encoder.config().hidden as i64;
        let states = Tensor::f_from_slice(&rows)?.f_view([-1, width])?;
        let parts = self.network.parts();
        Ok(self
            .runtime
            .encoder
            .scores(self.options.split, &states, &pairs, &parts)?)
    }

    fn apply(&mut self, found: Vec<Vec<Tensor>>, count: f64) -> Result<(), tch::TchError> {
        let _guard = tch::no_grad_guard();
        let mut sums: Option<Vec<Tensor>> = None;
        for gradients in found {
            sums = Some(match sums {
                None => gradients,
                Some(sums) => sums
                    .iter()
                    .zip(&gradients)
                    .map(|(sum, gradient)| sum.f_add(gradient))
                    .collect::<Result<_, _>>()?,
            });
        }
        let Some(sums) = sums else { return Ok(()) };
        let scale = 1.0 / count;
        let scale = scale * (CLIP / (norm(&sums)? * scale).max(CLIP));
        let step = self.done + 1;
        let rate = self.rate(step);
        let mut values = Vec::with_capacity(sums.len());
        for (((_, parameter), moments), sum) in self
            .network
            .parameters()
            .iter()
            .zip(&mut self.moments)
            .zip(&sums)
        {
            let gradient = sum.f_mul_scalar(scale)?;
            let value = parameter.get();
            values.push(moments.update(value, &gradient, step, rate, self.options.decay)?);
        }
        for (parameter, value) in self.network.parameters_mut().into_iter().zip(&values) {
            *parameter = leaf_of(value)?;
        }
        self.done = step;
        Ok(())
    }

    /// Up in a line, then down in a line to a twentieth.
    fn rate(&self, step: u32) -> f64 {
        let rising = f64::from(step) / f64::from(self.options.warmup.max(1));
        let left = 1.0 - f64::from(step) / f64::from(self.options.steps.max(1));
        self.options.rate * rising.min(left.max(0.05)).min(1.0)
    }

    fn state(&self) -> Result<BTreeMap<String, Named>, ForwardError> {
        let mut all = BTreeMap::new();
        for ((name, parameter), moments) in self.network.parameters().iter().zip(&self.moments) {
            let parts = [
                ("value", &parameter.get().f_detach()?),
                ("first", moments.first.get()),
                ("second", moments.second.get()),
            ];
            for (kind, tensor) in parts {
                let shape = tensor.size().iter().map(|&size| size as usize).collect();
                all.insert(format!("{kind}.{name}"), (shape, rows_of(tensor)?));
            }
        }
        all.insert("done".to_owned(), (vec![1], vec![self.done as f32]));
        Ok(all)
    }
}

/// Writes a checkpoint under another name first, so that it is there whole or not at all.
pub(super) fn write_state(
    file: &Path,
    tensors: &BTreeMap<String, (Vec<usize>, Vec<f32>)>,
) -> Result<(), ModelError> {
    let io = |source| ModelError::Io {
        file: file.display().to_string(),
        source,
    };
    let part = file.with_extension("part");
    std::fs::write(&part, to_bytes(tensors, Precision::Single)).map_err(io)?;
    std::fs::rename(&part, file).map_err(io)
}

pub(super) fn failed(error: &ForwardError) -> ModelError {
    ModelError::Torch {
        what: error.to_string(),
    }
}
