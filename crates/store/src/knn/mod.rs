//! Nearest neighbours over one connection: by `vec0`, or straight from the vectors of record.

mod facts;
mod sql;

pub(crate) use facts::candidates as facts;
pub(crate) use sql::candidates as sql;
