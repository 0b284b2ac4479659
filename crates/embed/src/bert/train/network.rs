//! What is trained of a split cross-encoder.

use std::collections::BTreeMap;

use tch::{TchError, Tensor};

use super::super::adapter::Named;
use super::super::config::BertConfig;
use super::super::encoder::change::{LayerChange, LowRank, Part};
use super::super::encoder::joint::HeadParts;
use super::super::encoder::{ForwardError, JointParts, Shared, rows_of};
use super::super::split::INNER;
use super::trainer::TrainOptions;

/// The trained tensors, as leaves of the graph.
pub(super) struct Network {
    split: usize,
    sides: Shared,
    gates: Vec<Shared>,
    changes: Vec<LayerChange>,
    mix: Shared,
    inner: Shared,
    inner_bias: Shared,
    outer: Shared,
}

impl Network {
    pub(super) fn new(config: &BertConfig, options: &TrainOptions) -> Result<Self, TchError> {
        let mut random = SplitMix64(options.seed);
        let hidden = config.hidden;
        let leaf = |values: &[f32], shape: [usize; 2]| {
            Shared::leaf(values, &[shape[0] as i64, shape[1] as i64])
        };
        let mut changes = Vec::new();
        let mut gates = Vec::new();
        for _ in options.split..config.layers {
            let mut one = |part: Part| {
                let (inputs, outputs) = part.shape(hidden, config.intermediate);
                let rank = options.rank;
                Ok::<_, TchError>(LowRank {
                    a: leaf(&random.uniform(inputs * rank, inputs), [inputs, rank])?,
                    // Zero, so that training starts from the base model.
                    b: leaf(&vec![0.0; rank * outputs], [rank, outputs])?,
                })
            };
            let [query, key, value, attention, inner, outer] = Part::ALL;
            changes.push(LayerChange([
                one(query)?,
                one(key)?,
                one(value)?,
                one(attention)?,
                one(inner)?,
                one(outer)?,
            ]));
            let closed = vec![options.gate; config.heads * 2];
            gates.push(leaf(&closed, [config.heads, 2])?);
        }
        let features = 3 * hidden;
        Ok(Self {
            split: options.split,
            sides: leaf(&vec![0.0; 2 * hidden], [2, hidden])?,
            gates,
            changes,
            mix: Shared::leaf(&[options.mix; 2], &[2])?,
            inner: leaf(
                &random.uniform(features * INNER, features),
                [features, INNER],
            )?,
            inner_bias: Shared::leaf(&[0.0; INNER], &[INNER as i64])?,
            outer: leaf(&[0.0; INNER], [INNER, 1])?,
        })
    }

    pub(super) fn parts(&self) -> JointParts<'_> {
        JointParts {
            sides: self.sides.get(),
            gates: self.gates.iter().map(Shared::get).collect(),
            changes: self.changes.iter().map(Some).collect(),
            head: HeadParts {
                mix: self.mix.get(),
                inner: self.inner.get(),
                inner_bias: self.inner_bias.get(),
                outer: self.outer.get(),
            },
        }
    }

    /// All parameters under the names they have in a checkpoint, in one order.
    pub(super) fn parameters(&self) -> Vec<(String, &Shared)> {
        let mut all = vec![("sides".to_owned(), &self.sides)];
        for (at, (gates, change)) in self.gates.iter().zip(&self.changes).enumerate() {
            let layer = self.split + at;
            all.push((format!("gates.{layer}"), gates));
            for (part, low_rank) in Part::ALL.into_iter().zip(&change.0) {
                all.push((format!("lora.{}.a", part.name(layer)), &low_rank.a));
                all.push((format!("lora.{}.b", part.name(layer)), &low_rank.b));
            }
        }
        all.push(("head.mix".to_owned(), &self.mix));
        all.push(("head.inner".to_owned(), &self.inner));
        all.push(("head.inner_bias".to_owned(), &self.inner_bias));
        all.push(("head.outer".to_owned(), &self.outer));
        all
    }

    /// The same, to be written to.
    pub(super) fn parameters_mut(&mut self) -> Vec<&mut Shared> {
        let mut all = vec![&mut self.sides];
        for (gates, change) in self.gates.iter_mut().zip(&mut self.changes) {
            all.push(gates);
            for low_rank in &mut change.0 {
                all.push(&mut low_rank.a);
                all.push(&mut low_rank.b);
            }
        }
        all.push(&mut self.mix);
        all.push(&mut self.inner);
        all.push(&mut self.inner_bias);
        all.push(&mut self.outer);
        all
    }

    /// As an adapter holds them: low-rank parts the other way round, (rank, in) and (out, rank).
    pub(super) fn tensors(&self) -> Result<BTreeMap<String, Named>, ForwardError> {
        let mut all = BTreeMap::new();
        for (name, parameter) in self.parameters() {
            let tensor = if name.starts_with("lora.") {
                parameter.get().f_transpose(0, 1)?
            } else {
                parameter.get().shallow_clone()
            };
            let shape = tensor.size().iter().map(|&size| size as usize).collect();
            all.insert(name, (shape, rows_of(&tensor.f_detach()?)?));
        }
        Ok(all)
    }
}

impl Shared {
    /// A tensor that gradients are computed for.
    fn leaf(values: &[f32], shape: &[i64]) -> Result<Self, TchError> {
        Self::new(values, shape).map(|tensor| Self::of(tensor.get().set_requires_grad(true)))
    }
}

/// A gradient's leaf made of new values.
pub(super) fn leaf_of(values: &Tensor) -> Result<Shared, TchError> {
    Ok(Shared::of(values.f_detach()?.set_requires_grad(true)))
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform with mean 0 and variance 1 / `inputs`.
    fn uniform(&mut self, count: usize, inputs: usize) -> Vec<f32> {
        let bound = (3.0 / inputs as f64).sqrt();
        let draw = |bits: u64| (bits >> 11) as f64 / (1_u64 << 53) as f64;
        (0..count)
            .map(|_| ((2.0 * draw(self.next()) - 1.0) * bound) as f32)
            .collect()
    }
}
