//! Speed of the solvers; see `peers.py` beside it.
#![allow(missing_docs)]
fn main() {}
