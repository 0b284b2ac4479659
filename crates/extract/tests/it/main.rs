//! The integration tests of cornu-extract, one binary.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod chat;
mod chinese;
mod english;
mod import;
mod keys;
mod properties;
mod published;
