//! The one source of randomness of this crate; see the module above for why this one.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng as _;

/// What the numbers are for: two uses of one seed draw from two streams of the generator.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    Resample = 1,
    Signs = 2,
}

pub(super) struct Draws {
    generator: Pcg64,
}

impl Draws {
    pub(super) fn new(seed: u64, purpose: Purpose) -> Self {
        // Neighbouring seeds must not give neighbouring states: SplitMix64 spreads them.
        let mut mixer = seed;
        let high = split_mix(&mut mixer);
        let low = split_mix(&mut mixer);
        let state = (u128::from(high) << 64) | u128::from(low);
        Self {
            generator: Pcg64::new(state, purpose as u128),
        }
    }

    pub(super) fn word(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// An integer in 0..n, exactly uniform (Lemire 2019). `n` must not be 0.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        let reject_under = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.word()) * u128::from(n);
            if product as u64 >= reject_under {
                return (product >> 64) as u64;
            }
        }
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same words as numpy's PCG64 in the same state (tests/data/make_oracles.py).
    #[test]
    fn words_are_those_of_pcg64() {
        let oracle: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/data/significance.json"))
                .expect("oracle");
        let random = &oracle["random"];
        let seed = random["seed"].as_u64().expect("seed");
        for (purpose, key) in [(Purpose::Resample, "resample"), (Purpose::Signs, "signs")] {
            let mut draws = Draws::new(seed, purpose);
            for word in random[key].as_array().expect("words") {
                assert_eq!(draws.word(), word.as_u64().expect("word"));
            }
        }
    }

    /// Without rejection, every third of 3·2^62 integers would come twice as often as the others.
    #[test]
    fn below_has_no_favourites() {
        let mut draws = Draws::new(1, Purpose::Resample);
        let thirds = (0..3_000)
            .filter(|_| draws.below(3 << 62).is_multiple_of(3))
            .count();
        // 1,000 expected, standard deviation 26; 1,500 without rejection.
        assert!(thirds.abs_diff(1_000) < 130, "{thirds}");
    }

    #[test]
    fn below_is_uniform_enough() {
        let mut draws = Draws::new(1, Purpose::Resample);
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[usize::try_from(draws.below(7)).expect("small")] += 1;
        }
        // 10,000 expected in each, standard deviation 93.
        assert!(
            counts.iter().all(|&count| count.abs_diff(10_000) < 450),
            "{counts:?}"
        );
    }
}
