//! Made-up vectors, one after another; `benches/peers` includes this file by its path.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng as _;

/// D of the small embedding models.
pub(crate) const DIMENSION: usize = 384;
/// Directions in which the rows of one cluster differ most.
const INNER: usize = 32;
/// Rows of a cluster, in the mean.
const CLUSTER: usize = 100;

/// How the vectors lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Structure {
    /// All to one side, in clusters, each of which is flat: as the vectors of embedding models.
    Clustered,
    /// In every direction alike.
    None,
}

impl Structure {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Clustered => "clustered",
            Self::None => "unstructured",
        }
    }
}

/// Vectors, one after another.
pub(crate) struct Source {
    structure: Structure,
    random: Pcg64,
    aside: Vec<f32>,
    centres: Vec<Vec<f32>>,
    /// `INNER` directions.
    inner: Vec<Vec<f32>>,
}

impl Source {
    /// For about so many rows in all: there is a cluster for each `CLUSTER` of them.
    pub(crate) fn new(structure: Structure, rows: usize, seed: u64) -> Self {
        let clusters = rows.div_ceil(CLUSTER);
        let mut random = Pcg64::new(seed.into(), 21);
        let mut unit = || unit(&normal(&mut random, DIMENSION));
        Self {
            structure,
            aside: unit(),
            centres: (0..clusters.max(1)).map(|_| unit()).collect(),
            inner: (0..INNER).map(|_| unit()).collect(),
            random: Pcg64::new(seed.into(), 22),
        }
    }

    /// The weights give cosines of about 0.77 between clusters and 0.89 within one.
    pub(crate) fn next(&mut self) -> Vec<f32> {
        let noise = unit(&normal(&mut self.random, DIMENSION));
        if self.structure == Structure::None {
            return noise;
        }
        let cluster = (self.random.next_u64() % self.centres.len() as u64) as usize;
        let weights = unit(&normal(&mut self.random, INNER));
        let mut sum: Vec<f32> = noise.iter().map(|x| 0.25 * x).collect();
        let mut add = |vector: &[f32], weight: f32| {
            for (sum, x) in sum.iter_mut().zip(vector) {
                *sum += weight * x;
            }
        };
        add(&self.aside, 1.5);
        if let Some(centre) = self.centres.get(cluster) {
            add(centre, 0.6);
        }
        for (direction, weight) in self.inner.iter().zip(weights) {
            add(direction, 0.5 * weight);
        }
        unit(&sum)
    }
}

/// Nearly normal numbers: sums of four that are uniform. Nothing but additions, so the same bits
/// everywhere.
fn normal(random: &mut Pcg64, count: usize) -> Vec<f32> {
    let one = |bits: u64| {
        let parts = [bits, bits >> 16, bits >> 32, bits >> 48].map(|part| (part & 0xffff) as f32);
        parts.iter().sum::<f32>() / 65_536.0 - 2.0
    };
    (0..count).map(|_| one(random.next_u64())).collect()
}

fn unit(vector: &[f32]) -> Vec<f32> {
    let square: f64 = vector.iter().map(|x| f64::from(*x).powi(2)).sum();
    let norm = square.sqrt();
    vector
        .iter()
        .map(|x| (f64::from(*x) / norm) as f32)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_near_and_all_vectors_lie_to_one_side() {
        let mut source = Source::new(Structure::Clustered, CLUSTER, 1);
        let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let (a, b) = (source.next(), source.next());
        assert!(
            (0.85..0.95).contains(&product(&a, &b)),
            "{}",
            product(&a, &b)
        );
        let mut source = Source::new(Structure::Clustered, 1000 * CLUSTER, 1);
        let (a, b) = (source.next(), source.next());
        assert!(
            (0.7..0.85).contains(&product(&a, &b)),
            "{}",
            product(&a, &b)
        );
        let mut source = Source::new(Structure::None, 1, 1);
        assert!(product(&source.next(), &source.next()).abs() < 0.3);
    }
}
