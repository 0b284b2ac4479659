//! Numbers that regenerate: retrieval metrics, how sure they are, and the record behind a table.
//!
//! - [`metrics`]: recall, hit, precision, MRR, nDCG, average precision as trec_eval defines them,
//!   per query and averaged, over ranked lists in the order the user sees.
//! - [`questions`]: question sets whose relevance is a phrase in the text, whatever the chunking.
//! - [`beir`]: readers of corpora, queries and judgments in the BEIR layout.
//! - [`significance`]: BCa bootstrap intervals, paired randomisation tests, Holm's correction, and
//!   the smallest difference that a set can show.
//! - [`evidence`]: the record `cornu.evidence.v1`, its file, and its comparison with a measurement.
//! - [`report`]: records to Markdown tables, and tables into documents.
//!
//! This crate depends on no other of the workspace, runs no model and opens no socket.
//!
//! # Example
//! Two systems on two queries, from ranked lists to a table:
//!
//! ```
//! use cornu_eval::evidence::{Environment, Measure, Record, Row, Versions};
//! use cornu_eval::metrics::{Metric, Qrels, Run, evaluate};
//! use cornu_eval::report::{Column, Format, TableSpec, render};
//! use cornu_eval::significance::{Bootstrap, Randomization};
//!
//! let mut qrels = Qrels::new();
//! let (mut dense, mut hybrid) = (Run::new(), Run::new());
//! for (query, relevant) in [("q1", "a"), ("q2", "b")] {
//!     qrels.insert(query, relevant, 1);
//!     dense.insert(query, vec!["a", "c"])?;
//!     hybrid.insert(query, vec!["b", "a"])?;
//! }
//! let recall = Metric::Recall(2);
//! let dense = evaluate(&qrels, &dense, &[recall]);
//! let hybrid = evaluate(&qrels, &hybrid, &[recall]);
//! assert_eq!((dense.mean(recall), hybrid.mean(recall)), (Some(0.5), Some(1.0)));
//!
//! let (a, b) = hybrid.paired_with(&dense, recall)?;
//! assert_eq!(Randomization::default().test(&a, &b)?.p, 1.0); // two queries show nothing
//!
//! let mut record = Record::measured("example", Environment::detect(&Versions::default()));
//! record.measured_tree = "0".repeat(40);
//! for (system, evaluation) in [("dense", &dense), ("hybrid", &hybrid)] {
//!     let interval = evaluation.interval(recall, &Bootstrap::default())?;
//!     let mut row = Row::measured("two-queries", system);
//!     row.metrics.insert(recall.to_string(), Measure::of_interval(&interval, "fraction"));
//!     record.rows.push(row);
//! }
//! let spec = TableSpec::new([Column::new("recall@2", "recall@2", Format::Fixed(2)).with_interval()]);
//! assert_eq!(
//!     render(&[record], &spec)?,
//!     "| data set | system | recall@2 |\n\
//!      |---|---|---:|\n\
//!      | two-queries | dense | 0.50 [0.00, 1.00] |\n\
//!      | two-queries | hybrid | 1.00 [0.16, 1.00] |\n"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod beir;
pub mod evidence;
pub mod metrics;
pub mod questions;
pub mod report;
pub mod significance;

mod read;

pub use read::ReadError;

/// The examples of README.md, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
