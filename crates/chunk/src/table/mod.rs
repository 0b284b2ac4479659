//! Tables with two payloads: rows in words to match, the whole Markdown to show.

mod chunker;
mod row;
mod view;

pub use chunker::{TableRows, TableRowsOptions};
pub use view::{CellPlace, RowPlace, TableView};
