//! Strategies and conformance suites (feature `proptest`).
