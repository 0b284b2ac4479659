//! The forward pass over libtorch, in f32.
//!
//! Texts are not padded. The tokens of several texts are rows of one matrix (a *pack*): the linear
//! layers, the norms and the activation work on all rows at once, attention works within a text.
//! So no time goes into padding, and attention needs no mask.
//!
//! A text's vector has the same bits whatever else is in its pack. Attention is called with one
//! text's length, so its shapes depend on that text alone. The row-wise operations must give a row
//! the same bits whatever the number of rows: a matrix product with the weights stored as
//! (in, out) does so on MKL, while with (out, in) it changes its order of summation below 16 rows.
//! That is a property of a library's kernels, not of its interface, so it is measured when a model
//! is opened ([`Encoder::rows_are_independent`]); where it does not hold each text is a pack of
//! its own, which needs no property at all.

pub(crate) mod change;
pub(crate) mod joint;
mod layers;
mod table;
mod weights;

use tch::{Kind, TchError, Tensor};

use super::config::BertConfig;
use super::error::ModelError;
use super::tokenizer::Tokens;
use change::LayerChange;
use joint::{HeadParts, Pair};
use layers::{Layer, Norm};
pub(crate) use layers::{Shared, torch};
use table::Table;
pub(crate) use weights::Weights;

/// An encoder whose weights are in memory. Shared by threads, never changed.
pub(crate) struct Encoder {
    config: BertConfig,
    words: Table,
    positions: Table,
    types: Table,
    norm: Norm,
    layers: Vec<Layer>,
}

impl Encoder {
    pub(crate) fn load(config: BertConfig, weights: &mut Weights) -> Result<Self, ModelError> {
        let hidden = config.hidden;
        let layers = (0..config.layers)
            .map(|at| Layer::load(&config, weights, at))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            words: weights.table("embeddings.word_embeddings", config.vocabulary, hidden)?,
            positions: weights.table("embeddings.position_embeddings", config.positions, hidden)?,
            types: weights.table("embeddings.token_type_embeddings", config.types, hidden)?,
            norm: Norm::load(&config, weights, "embeddings.LayerNorm")?,
            layers,
            config,
        })
    }

    pub(crate) fn config(&self) -> &BertConfig {
        &self.config
    }

    /// The last hidden states of a pack, one row a token, text after text: (tokens, hidden).
    ///
    /// Texts of equal length should stand side by side; they share attention calls. The longest
    /// temporary is (tokens, max(3 · hidden, intermediate)) f32, a few of that size live at once.
    pub(crate) fn forward(&self, pack: &[&Tokens]) -> Result<Tensor, ForwardError> {
        self.forward_through(pack, self.layers.len())
    }

    /// The states after the first `layers` layers.
    pub(crate) fn forward_through(
        &self,
        pack: &[&Tokens],
        layers: usize,
    ) -> Result<Tensor, ForwardError> {
        let _guard = tch::no_grad_guard();
        let lengths = runs(pack);
        let mut states = self.embed(pack)?;
        for layer in self.layers.iter().take(layers) {
            states = layer.forward(&self.config, &states, &lengths)?;
        }
        Ok(states)
    }

    /// The scores of pairs from the states of their sides after the first `split` layers, rows
    /// (query, document) of each pair one after another.
    pub(crate) fn scores(
        &self,
        split: usize,
        states: &Tensor,
        pairs: &[Pair],
        parts: &JointParts<'_>,
    ) -> Result<Vec<Tensor>, TchError> {
        let mut states = joint::mark(states, pairs, parts.sides)?;
        let layers = self.layers.iter().skip(split);
        for ((layer, gates), change) in layers.zip(&parts.gates).zip(&parts.changes) {
            states = layer.forward_joint(&self.config, &states, pairs, gates, *change)?;
        }
        let mut start = 0;
        pairs
            .iter()
            .map(|&pair| {
                let rows = (pair.0 + pair.1) as i64;
                let own = states.f_narrow(0, start, rows)?;
                start += rows;
                joint::score(&own, pair, &parts.head)
            })
            .collect()
    }

    /// Sums word, type and position vectors (Devlin et al., 2019, figure 2), and normalises.
    fn embed(&self, pack: &[&Tokens]) -> Result<Tensor, ForwardError> {
        let hidden = self.config.hidden;
        let rows: usize = pack.iter().map(|tokens| tokens.len()).sum();
        let mut sums = vec![0.0_f32; rows * hidden];
        let mut out = sums.chunks_exact_mut(hidden);
        for tokens in pack {
            let inputs = tokens
                .ids
                .iter()
                .zip(&tokens.types)
                .zip(self.config.first_position..);
            for ((&id, &kind), position) in inputs {
                let row = out.next().ok_or(ForwardError::Tokens)?;
                let known = self.words.write(id as usize, row)
                    && self.types.add(kind as usize, row)
                    && self.positions.add(position, row);
                if !known {
                    return Err(ForwardError::Tokens);
                }
            }
        }
        let shape = [rows as i64, hidden as i64];
        let sums = Tensor::f_from_slice(&sums)?.f_reshape(shape)?;
        Ok(self.norm.forward(&sums)?)
    }

    /// Whether each row's bits are the same whatever the pack, on this machine with its libtorch:
    /// texts of several lengths, each alone and packed in two orders. About 20 ms for 6 layers of
    /// 384.
    pub(crate) fn rows_are_independent(&self) -> Result<bool, ForwardError> {
        let longest = self.config.max_tokens();
        let probes: Vec<Tokens> = [1, 2, 3, 5, 17, 17, 33, 70]
            .into_iter()
            .map(|length| Tokens::probe(length.min(longest), self.config.vocabulary))
            .collect();
        let alone = probes
            .iter()
            .map(|probe| rows_of(&self.forward(&[probe])?))
            .collect::<Result<Vec<_>, _>>()?;
        let forwards: Vec<&Tokens> = probes.iter().collect();
        let backwards: Vec<&Tokens> = probes.iter().rev().collect();
        let packed = rows_of(&self.forward(&forwards)?)?;
        let reversed = rows_of(&self.forward(&backwards)?)?;
        let same = |parts: Vec<&Vec<f32>>, whole: &[f32]| {
            let parts = parts.into_iter().flatten().map(|value| value.to_bits());
            parts.eq(whole.iter().map(|value| value.to_bits()))
        };
        Ok(same(alone.iter().collect(), &packed) && same(alone.iter().rev().collect(), &reversed))
    }
}

/// What stands above the lower layers of a split cross-encoder.
pub(crate) struct JointParts<'a> {
    /// (2, hidden): added to the rows of each side.
    pub(crate) sides: &'a Tensor,
    /// (heads, 2) for each upper layer.
    pub(crate) gates: Vec<&'a Tensor>,
    /// For each upper layer, what is not merged into its weights.
    pub(crate) changes: Vec<Option<&'a LayerChange>>,
    /// The head.
    pub(crate) head: HeadParts<'a>,
}

/// A tensor's values, row-major.
pub(crate) fn rows_of(tensor: &Tensor) -> Result<Vec<f32>, ForwardError> {
    let tensor = tensor.f_contiguous()?.f_to_kind(Kind::Float)?;
    let mut values = vec![0.0; tensor.numel()];
    tensor.f_copy_data(&mut values, tensor.numel())?;
    Ok(values)
}

/// Runs of texts of equal length: (texts, length).
fn runs(pack: &[&Tokens]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for tokens in pack {
        match runs.last_mut() {
            Some((texts, length)) if *length == tokens.len() => *texts += 1,
            _ => runs.push((1, tokens.len())),
        }
    }
    runs
}

/// Why a forward pass failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ForwardError {
    /// The tokenizer and the weights are of different models.
    #[error(
        "a token's id, type or position has no row in the weights; the tokenizer and the weights \
         are of different models"
    )]
    Tokens,
    /// libtorch failed.
    #[error(transparent)]
    Torch(#[from] tch::TchError),
}
