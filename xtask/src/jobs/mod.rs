//! `test`, `bench-tables`, `train-reranker` and `with-torch`: cargo in the one environment in which
//! everything that needs torch is built, so that torch-sys is compiled once.

pub mod bench_tables;
pub mod environment;
pub mod steps;
pub mod test;
pub mod train_reranker;
pub mod with_torch;
