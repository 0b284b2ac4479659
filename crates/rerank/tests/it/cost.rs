//! Calibration of what a pair costs.

use std::sync::Arc;
use std::time::Duration;

use cornu_core::{Fingerprint, PairScorer, ProviderError};
use cornu_rerank::{Clock, ManualClock, PairCost, RerankError};

/// Takes a time a pair and a time a byte.
struct Slow {
    fingerprint: Fingerprint,
    clock: Arc<ManualClock>,
    pair: Duration,
    byte: Duration,
}

impl PairScorer for Slow {
    fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    fn score(&self, query: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
        for document in documents {
            let bytes = u32::try_from(query.len() + document.len()).unwrap();
            self.clock.advance(self.pair + self.byte * bytes);
        }
        Ok(vec![0.0; documents.len()])
    }
}

fn slow(pair: u64, byte: u64) -> Slow {
    Slow {
        fingerprint: Fingerprint::new("slow"),
        clock: Arc::default(),
        pair: Duration::from_micros(pair),
        byte: Duration::from_micros(byte),
    }
}

#[test]
fn a_calibration_finds_what_pairs_and_bytes_cost() {
    let scorer = slow(2000, 3);
    let documents = [100, 400, 900, 2000].map(|length| "x".repeat(length));
    let documents = documents.each_ref().map(String::as_str);
    let cost = PairCost::calibrate(&scorer, "query", &documents, 3, &*scorer.clock).unwrap();
    for bytes in [0, 500, 3000] {
        let expected = Duration::from_micros(2000 + 3 * bytes as u64);
        let off = cost.predict(bytes).abs_diff(expected);
        assert!(off < Duration::from_micros(2), "{bytes}: {off:?}");
    }
}

#[test]
fn one_length_gives_a_constant_and_no_part_is_negative() {
    let scorer = slow(2000, 0);
    let cost = PairCost::calibrate(&scorer, "q", &["same", "size"], 1, &*scorer.clock).unwrap();
    assert_eq!(
        cost,
        PairCost {
            pair: Duration::from_micros(2000),
            kib: Duration::ZERO
        }
    );

    /// Longer texts are quicker than linear: a line through them would begin below zero.
    struct Square(Fingerprint, ManualClock);
    impl PairScorer for Square {
        fn fingerprint(&self) -> &Fingerprint {
            &self.0
        }
        fn score(&self, _: &str, documents: &[&str]) -> Result<Vec<f32>, ProviderError> {
            let bytes = documents[0].len() as u64;
            self.1.advance(Duration::from_micros(bytes * bytes));
            Ok(vec![0.0])
        }
    }
    let square = Square(Fingerprint::new("square"), ManualClock::default());
    let documents = [10, 100, 1000].map(|length| "x".repeat(length));
    let documents = documents.each_ref().map(String::as_str);
    let cost = PairCost::calibrate(&square, "", &documents, 1, &square.1).unwrap();
    assert_eq!(cost.pair, Duration::ZERO);
    assert!(cost.kib > Duration::ZERO);
}

#[test]
fn a_calibration_needs_something_to_measure() {
    let scorer = slow(1, 1);
    for (documents, rounds) in [(&[][..], 3), (&["x"][..], 0)] {
        let cost = PairCost::calibrate(&scorer, "q", documents, rounds, &*scorer.clock);
        assert!(matches!(cost, Err(RerankError::Options { .. })));
    }
    assert_eq!(scorer.clock.now(), Duration::ZERO);
}
