//! Late interaction: S(q, d) = Σᵢ maxⱼ qᵢ · dⱼ over the tokens of a query and a document (ColBERT,
//! Khattab and Zaharia, SIGIR 2020). The document's side is computed once, at ingest.

mod bytes;
mod kernel;
mod matches;
mod query;
mod rerank;
mod space;
mod tokens;

pub use kernel::{MaxSimScore, max_sims};
pub use matches::TokenMatch;
pub use query::QueryTokens;
pub use rerank::MaxSim;
pub use space::TokenSpace;
pub use tokens::{Precision, TokenMatrix};
