//! How far a sweep goes: ω, and how it is found.

use crate::real::Real;
use crate::walk::Walk;

/// A guess of the second largest eigenvalue of P: that of a large random graph with as many edges a
/// node, which comes near to the spectral radius of a walk on the infinite tree (Kesten 1959), less the
/// part of steps that stay where they are. Not more than 2/3: a larger one has to show itself, since
/// sweeps tell when ω is too small for them, and not when it is too large.
pub(crate) fn guessed_radius<T: Real>(walk: &Walk<T>) -> f64 {
    let nodes = walk.alone.max(1) as f64;
    let stays: f64 = walk
        .loops
        .iter()
        .filter(|own| (own.0 as usize) < walk.alone)
        .map(|own| own.1)
        .sum();
    let degree = ((walk.entries() - walk.loops.len()) as f64 / nodes).max(2.0);
    let tree = 2.0 * (degree - 1.0).sqrt() / degree;
    tree.min(2.0 / 3.0) * (1.0 - stays / nodes).max(0.0)
}

/// A lane's ω, from what its sweeps show.
///
/// It begins with what a graph without structure wants, [`guessed_radius`]. Once sweeps have
/// settled, the factor λ by which they move less and less gives the largest eigenvalue μ of α P
/// (without those of the components) by Young's relation (λ + ω − 1)² = λ ω² μ², exact where two
/// colours are enough, and the best ω for it is
/// 2 / (1 + √(1 − μ²)) (Hageman and Young 1981, chapter 9). It only grows, as far as α, the bound of
/// μ, allows; any ω below 2 converges.
#[derive(Clone, Copy)]
pub(crate) struct Omega {
    pub(crate) value: f64,
    alpha: f64,
    /// Sweeps with this value, and how far the last one moved.
    age: u32,
    last: f64,
}

impl Omega {
    /// Sweeps with one value before it is judged.
    const PATIENCE: u32 = 3;
    /// Less than this part of the way to 2 is not worth a change.
    const WORTH: f64 = 0.01;

    /// For the eigenvalues that a graph without structure would have.
    pub(crate) fn new(alpha: f64, radius: f64) -> Self {
        Self {
            value: Self::best((alpha * radius).powi(2)),
            alpha,
            age: 0,
            last: f64::INFINITY,
        }
    }

    fn best(square: f64) -> f64 {
        2.0 / (1.0 + (1.0 - square).sqrt())
    }

    pub(crate) fn next(&mut self, moved: f64) {
        let (factor, excess) = (moved / self.last, self.value - 1.0);
        self.age += 1;
        self.last = moved;
        if self.age < Self::PATIENCE || !(factor < 1.0 && factor > excess) {
            return;
        }
        let square = (factor + excess).powi(2) / (factor * self.value * self.value);
        let best = Self::best(square.min(self.alpha * self.alpha));
        if best > self.value + Self::WORTH * (2.0 - self.value) {
            self.value = best;
            self.age = 0;
        }
    }
}
