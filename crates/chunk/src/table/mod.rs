//! Tables with two payloads: rows in words to match, the whole Markdown to show.

mod adjectives;
mod answer;
mod chunker;
mod column;
mod decimal;
mod grid;
mod labels;
mod phrases;
mod quantity;
mod question;
mod row;
mod totals;
mod view;

pub use answer::{LeftOut, TableAnswer, TableOperation};
pub use chunker::{TableRows, TableRowsOptions};
pub use view::{CellPlace, ColumnPlace, RowPlace, TableView};
