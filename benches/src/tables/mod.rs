//! The tables, one module each.

mod cells;
mod chunking;
mod embedding;
mod eval;
mod fusion;
mod hnsw;
mod hoprag;
mod multihop;
mod pool;
mod rerank;
mod segments;
mod store;

pub use cells::Tables;
pub use chunking::Chunking;
pub use embedding::Embedding;
pub use eval::Eval;
pub use fusion::Fusion;
pub use hnsw::HnswTable;
pub use hoprag::HopRagTable;
pub use multihop::Multihop;
pub use pool::Pool;
pub use rerank::Rerank;
pub use segments::Segments;
pub use store::Store;

use crate::table::Table;

/// All tables, in the order in which they are measured.
pub const TABLES: [&dyn Table; 12] = [
    &Chunking,
    &Embedding,
    &Fusion,
    &Eval,
    &Pool,
    &Store,
    &HnswTable,
    &Multihop,
    &HopRagTable,
    &Tables,
    &Segments,
    &Rerank,
];

use cornu_eval::significance::{Bootstrap, Interval, Scale, StatError};

/// The interval of a mean of values in [0, 1].
fn rate(bootstrap: &Bootstrap, values: &[f64]) -> Result<Interval, StatError> {
    Bootstrap {
        scale: Scale::Rate,
        ..*bootstrap
    }
    .mean(values)
}
