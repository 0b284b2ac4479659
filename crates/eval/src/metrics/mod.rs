//! Retrieval metrics as trec_eval defines them, per query and averaged.
//!
//! # Rules
//! - **Run order is authoritative.** A ranked list is scored in the order the user sees it. Scores
//!   are not looked at, so ties are whatever the system made of them; neither labels nor document
//!   ids can move a document. (trec_eval sorts a run by score again and breaks ties by document id,
//!   so renaming documents changes its figures.)
//! - **A list holds a document once.** A duplicate is an error, never counted twice.
//! - **Unjudged documents are not relevant.** A grade of 0 says the same after a look.
//! - **Recall is plain**: its denominator is every relevant document. The variant with the
//!   denominator capped at k has another name, `r_cap@k`.
//! - **A query without a relevant document has no recall, nDCG or reciprocal rank.** It is left
//!   out of every mean and counted apart (see [`Counts`]).
//! - **A query without results scores 0** and stays in the mean.
//! - `k = 0` looks at nothing, so the value is 0; a metric's *name* cannot carry it.

mod evaluation;
mod judged;
mod metric;
mod sets;

pub use evaluation::{Counts, Evaluation, evaluate};
pub use judged::{Gain, Judged};
pub use metric::{Metric, ParseMetricError};
pub use sets::{Judgments, Qrels, Run, RunError};
