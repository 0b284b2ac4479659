//! Records as Markdown: the same bytes from the same records, whoever renders them.
//!
//! Nothing here measures or rounds twice: a cell is one figure of a record in one format, and a row
//! that could not be measured says so in words, never in figures.

mod render;
mod spec;
mod splice;

pub use render::{provenance, render};
pub use spec::{Best, Column, Format, TableSpec};
pub use splice::{SpliceError, splice};
