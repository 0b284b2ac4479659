//! The randomness of the bootstrap: PCG64 (XSL-RR), a published generator with reference vectors,
//! so that a seed keeps its numbers.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng as _;

pub(crate) struct Draws(Pcg64);

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Pcg64::new(u128::from(seed), 0xcafe_f00d_d15e_a5e5))
    }

    /// An integer in 0..n, exactly uniform (Lemire 2019); 0 when n is 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let n = n as u64;
        if n == 0 {
            return 0;
        }
        let reject_under = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(n);
            if product as u64 >= reject_under {
                return (product >> 64) as usize;
            }
        }
    }
}
