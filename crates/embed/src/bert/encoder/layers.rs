//! A transformer layer: multi-head attention and a feed-forward part, each with a residual and a
//! layer norm after it (Vaswani et al., 2017, section 3; Devlin et al., 2019).

use tch::{TchError, Tensor};

use super::super::config::{Activation, BertConfig};
use super::super::error::ModelError;
use super::Weights;
use super::change::{LayerChange, LowRank, Part};
use super::joint::{self, Pair};

/// A tensor that is only read.
pub(crate) struct Shared(Tensor);

#[expect(
    unsafe_code,
    reason = "tch leaves Sync out because a tensor can be changed in place"
)]
// SAFETY: the tensor is private, is handed out by shared reference only, and no code here calls an
// operation on it that writes (their names end in `_`, or they take it as `out`). Reading a tensor
// from several threads is safe in libtorch: its reference count is atomic, and under no_grad a
// read leaves no trace in it. A leaf of a training is read with gradients on: what libtorch then
// notes in it (its place in the graph) it notes under a lock, and gradients are asked for by
// `run_backward`, which leaves them out of the leaf.
unsafe impl Sync for Shared {}

impl Shared {
    /// A copy of `values` that nobody else holds.
    pub(crate) fn new(values: &[f32], shape: &[i64]) -> Result<Self, TchError> {
        Tensor::f_from_slice(values)?.f_reshape(shape).map(Self)
    }

    /// A tensor that the caller gives up.
    pub(crate) fn of(tensor: Tensor) -> Self {
        Self(tensor)
    }

    pub(crate) fn get(&self) -> &Tensor {
        &self.0
    }
}

/// y = x · W + b, with W stored as (in, out).
pub(crate) struct Linear {
    weight: Shared,
    bias: Shared,
}

impl Linear {
    /// `weight` as checkpoints hold it: (out, in), row-major.
    pub(crate) fn new(
        weight: &[f32],
        bias: &[f32],
        inputs: usize,
        outputs: usize,
    ) -> Result<Self, TchError> {
        let mut transposed = vec![0.0; weight.len()];
        for (out, row) in weight.chunks_exact(inputs).enumerate() {
            for (column, value) in transposed.chunks_exact_mut(outputs).zip(row) {
                if let Some(cell) = column.get_mut(out) {
                    *cell = *value;
                }
            }
        }
        Ok(Self {
            weight: Shared::new(&transposed, &[inputs as i64, outputs as i64])?,
            bias: Shared::new(bias, &[outputs as i64])?,
        })
    }

    pub(crate) fn load(
        weights: &mut Weights,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Self, ModelError> {
        let weight = weights.matrix(&format!("{name}.weight"), outputs, inputs)?;
        let bias = weights.vector(&format!("{name}.bias"), outputs)?;
        Self::new(&weight, &bias, inputs, outputs).map_err(|error| torch(&error))
    }

    pub(crate) fn forward(&self, rows: &Tensor) -> Result<Tensor, TchError> {
        with_enough_rows(rows, |rows| {
            self.bias.get().f_addmm(rows, self.weight.get())
        })
    }

    fn changed(&self, rows: &Tensor, change: Option<&LowRank>) -> Result<Tensor, TchError> {
        let plain = self.forward(rows)?;
        match change {
            Some(change) => plain.f_add(&change.forward(rows)?),
            None => Ok(plain),
        }
    }
}

/// The fewest rows of a product with weights. MKL sums a row of a product of up to three rows in
/// another order than that of more (seen on AMD Zen 3), so a text of two tokens would have other
/// bits alone than in a pack.
const FEWEST_ROWS: i64 = 8;

/// `product` of `rows`, with rows of zeros after them where they are too few; what comes of those is
/// cut off again.
pub(super) fn with_enough_rows(
    rows: &Tensor,
    product: impl FnOnce(&Tensor) -> Result<Tensor, TchError>,
) -> Result<Tensor, TchError> {
    let count = rows.size().first().copied().unwrap_or(0);
    if count >= FEWEST_ROWS {
        return product(rows);
    }
    let filled = rows.f_constant_pad_nd([0, 0, 0, FEWEST_ROWS - count])?;
    product(&filled)?.f_narrow(0, 0, count)
}

/// Layer norm over a row (Ba et al., 2016).
pub(crate) struct Norm {
    gain: Shared,
    bias: Shared,
    epsilon: f64,
}

impl Norm {
    pub(crate) fn load(
        config: &BertConfig,
        weights: &mut Weights,
        name: &str,
    ) -> Result<Self, ModelError> {
        let width = config.hidden;
        let gain = weights.vector(&format!("{name}.weight"), width)?;
        let bias = weights.vector(&format!("{name}.bias"), width)?;
        Ok(Self {
            gain: Shared::new(&gain, &[width as i64]).map_err(|error| torch(&error))?,
            bias: Shared::new(&bias, &[width as i64]).map_err(|error| torch(&error))?,
            epsilon: config.epsilon,
        })
    }

    pub(crate) fn forward(&self, rows: &Tensor) -> Result<Tensor, TchError> {
        rows.f_layer_norm(
            self.gain.get().size(),
            Some(self.gain.get()),
            Some(self.bias.get()),
            self.epsilon,
            false,
        )
    }
}

pub(crate) struct Layer {
    /// Queries, keys and values in one product: (hidden, 3 · hidden).
    projections: Linear,
    attention_output: Linear,
    attention_norm: Norm,
    inner: Linear,
    outer: Linear,
    output_norm: Norm,
}

impl Layer {
    pub(crate) fn load(
        config: &BertConfig,
        weights: &mut Weights,
        at: usize,
    ) -> Result<Self, ModelError> {
        let (hidden, wide) = (config.hidden, config.intermediate);
        let name = |part: &str| format!("encoder.layer.{at}.{part}");
        let (mut weight, mut bias) = (Vec::new(), Vec::new());
        for part in ["query", "key", "value"] {
            let part = name(&format!("attention.self.{part}"));
            weight.extend(weights.matrix(&format!("{part}.weight"), hidden, hidden)?);
            bias.extend(weights.vector(&format!("{part}.bias"), hidden)?);
        }
        Ok(Self {
            projections: Linear::new(&weight, &bias, hidden, 3 * hidden)
                .map_err(|error| torch(&error))?,
            attention_output: Linear::load(
                weights,
                &name("attention.output.dense"),
                hidden,
                hidden,
            )?,
            attention_norm: Norm::load(config, weights, &name("attention.output.LayerNorm"))?,
            inner: Linear::load(weights, &name("intermediate.dense"), hidden, wide)?,
            outer: Linear::load(weights, &name("output.dense"), wide, hidden)?,
            output_norm: Norm::load(config, weights, &name("output.LayerNorm"))?,
        })
    }

    /// (tokens, hidden) to (tokens, hidden); `runs` are (texts, length).
    pub(crate) fn forward(
        &self,
        config: &BertConfig,
        states: &Tensor,
        runs: &[(usize, usize)],
    ) -> Result<Tensor, TchError> {
        let projected = self.projections.forward(states)?;
        let context = attention(config, &projected, runs)?;
        self.finish(config, states, &context, None)
    }

    /// As [`forward`](Self::forward), each text a pair whose sides see each other through `gates`,
    /// with `change` in the linear layers where it is not merged into them.
    pub(crate) fn forward_joint(
        &self,
        config: &BertConfig,
        states: &Tensor,
        pairs: &[Pair],
        gates: &Tensor,
        change: Option<&LayerChange>,
    ) -> Result<Tensor, TchError> {
        let mut projected = self.projections.forward(states)?;
        if let Some(change) = change {
            projected = projected.f_add(&change.projections(states)?)?;
        }
        let context = joint::attention(config.heads as i64, &projected, pairs, gates)?;
        self.finish(config, states, &context, change)
    }

    /// What follows attention.
    fn finish(
        &self,
        config: &BertConfig,
        states: &Tensor,
        context: &Tensor,
        change: Option<&LayerChange>,
    ) -> Result<Tensor, TchError> {
        let low_rank = |part: Part| change.map(|change| change.part(part));
        let mut attended = self
            .attention_output
            .changed(context, low_rank(Part::AttentionOutput))?;
        let attended = self.attention_norm.forward(&attended.f_add_(states)?)?;
        let inner = self.inner.changed(&attended, low_rank(Part::Inner))?;
        let inner = match config.activation {
            Activation::Gelu => inner.f_gelu("none")?,
            Activation::GeluTanh => inner.f_gelu("tanh")?,
            Activation::Relu => inner.f_relu()?,
        };
        let mut outer = self.outer.changed(&inner, low_rank(Part::Outer))?;
        self.output_norm.forward(&outer.f_add_(&attended)?)
    }
}

/// softmax(Q · Kᵀ / √d) · V within each text, from rows of (Q, K, V).
fn attention(
    config: &BertConfig,
    projected: &Tensor,
    runs: &[(usize, usize)],
) -> Result<Tensor, TchError> {
    let heads = config.heads as i64;
    let hidden = config.hidden as i64;
    let size = hidden / heads;
    let mut parts = Vec::with_capacity(runs.len());
    let mut start = 0;
    for &(texts, length) in runs {
        let (texts, length) = (texts as i64, length as i64);
        let part = projected
            .f_narrow(0, start, texts * length)?
            .f_view([texts, length, 3, heads, size])?
            .f_permute([2, 0, 3, 1, 4])?;
        let context = Tensor::f_scaled_dot_product_attention(
            &part.f_select(0, 0)?,
            &part.f_select(0, 1)?,
            &part.f_select(0, 2)?,
            None::<Tensor>,
            0.0,
            false,
            None,
            false,
        )?;
        parts.push(
            context
                .f_transpose(1, 2)?
                .f_reshape([texts * length, hidden])?,
        );
        start += texts * length;
    }
    match parts.len() {
        1 => parts
            .pop()
            .ok_or_else(|| TchError::Shape("no text in a pack".to_owned())),
        _ => Tensor::f_cat(&parts, 0),
    }
}

pub(crate) fn torch(error: &TchError) -> ModelError {
    ModelError::Torch {
        what: error.to_string(),
    }
}
