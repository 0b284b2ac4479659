//! The integration tests of cornu-hop, one binary.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cases;
mod chapter;
mod gate;
mod growing;
mod histories;
mod hoprag;
mod paper;
mod prop;
mod recall;
mod world;
