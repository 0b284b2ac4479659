//! Low-rank changes of a layer's weights (Hu et al., 2022): y = x · W + b + (x · A) · B.

use tch::{TchError, Tensor};

use super::layers::{Shared, with_enough_rows};

/// The linear parts of a layer that can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Query,
    Key,
    Value,
    AttentionOutput,
    Inner,
    Outer,
}

impl Part {
    pub(crate) const ALL: [Self; 6] = [
        Self::Query,
        Self::Key,
        Self::Value,
        Self::AttentionOutput,
        Self::Inner,
        Self::Outer,
    ];

    /// The name that checkpoints give it.
    pub(crate) fn name(self, layer: usize) -> String {
        let part = match self {
            Self::Query => "attention.self.query",
            Self::Key => "attention.self.key",
            Self::Value => "attention.self.value",
            Self::AttentionOutput => "attention.output.dense",
            Self::Inner => "intermediate.dense",
            Self::Outer => "output.dense",
        };
        format!("encoder.layer.{layer}.{part}")
    }

    /// (inputs, outputs).
    pub(crate) fn shape(self, hidden: usize, intermediate: usize) -> (usize, usize) {
        match self {
            Self::Inner => (hidden, intermediate),
            Self::Outer => (intermediate, hidden),
            _ => (hidden, hidden),
        }
    }
}

/// One change: A is (inputs, rank), B is (rank, outputs).
pub(crate) struct LowRank {
    pub(crate) a: Shared,
    pub(crate) b: Shared,
}

impl LowRank {
    pub(super) fn forward(&self, rows: &Tensor) -> Result<Tensor, TchError> {
        with_enough_rows(rows, |rows| {
            rows.f_matmul(self.a.get())?.f_matmul(self.b.get())
        })
    }
}

/// The changes of a layer, in the order of [`Part::ALL`].
pub(crate) struct LayerChange(pub(crate) [LowRank; 6]);

impl LayerChange {
    pub(super) fn part(&self, part: Part) -> &LowRank {
        let [query, key, value, attention_output, inner, outer] = &self.0;
        match part {
            Part::Query => query,
            Part::Key => key,
            Part::Value => value,
            Part::AttentionOutput => attention_output,
            Part::Inner => inner,
            Part::Outer => outer,
        }
    }

    /// Those of queries, keys and values side by side.
    pub(super) fn projections(&self, rows: &Tensor) -> Result<Tensor, TchError> {
        let parts = [Part::Query, Part::Key, Part::Value];
        let changes = parts
            .into_iter()
            .map(|part| self.part(part).forward(rows))
            .collect::<Result<Vec<_>, _>>()?;
        Tensor::f_cat(&changes, 1)
    }
}
