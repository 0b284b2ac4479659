//! Integration tests of `cornu-embed`, in one binary.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bert;
mod providers;
