#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cases;
mod metric_oracles;
mod metric_properties;
mod reading;
mod records;
mod reports;
mod significance_oracles;
mod significance_properties;
