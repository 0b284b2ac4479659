//! Everything that touches the SQLite engine itself: the extension, connections, the schema.

pub(crate) mod checkpoint;
pub(crate) mod connection;
pub(crate) mod create;
mod extension;
pub(crate) mod place;
pub(crate) mod schema;
