//! The second level: a question in other words.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use crate::cache::key::CacheKey;

/// When a similar question's result may be taken.
///
/// This is a judgement, not a proof. Two questions can be as near as any and ask for opposite
/// things, so a threshold alone is not enough: the guard has to agree as well, and what the two
/// together let through has to be measured on pairs that were made to deceive them. With this level
/// on, a result depends on what was asked before in the same scope.
///
/// ```
/// use cornu_pool::SimilarOptions;
/// let same_digits = |asked: &str, kept: &str| {
///     let digits = |text: &str| text.matches(|c: char| c.is_ascii_digit()).collect::<String>();
///     digits(asked) == digits(kept)
/// };
/// let options = SimilarOptions::new(0.95, same_digits);
/// assert_eq!(options.threshold, 0.95);
/// ```
#[derive(Clone)]
pub struct SimilarOptions {
    /// The least cosine of the two questions' vectors.
    pub threshold: f64,
    /// What else has to agree.
    pub guard: Arc<dyn SimilarityGuard>,
    /// The most that the kept vectors take. Default 4 MiB.
    pub bytes: usize,
}

impl SimilarOptions {
    /// A threshold and a guard; there is no default for either.
    pub fn new(threshold: f64, guard: impl SimilarityGuard + 'static) -> Self {
        Self {
            threshold,
            guard: Arc::new(guard),
            bytes: 4 << 20,
        }
    }
}

impl fmt::Debug for SimilarOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimilarOptions")
            .field("threshold", &self.threshold)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

/// Says whether two questions ask the same as far as words show: the same negations, numbers and
/// names. Closures are guards, too.
///
/// ```
/// use cornu_pool::SimilarityGuard;
/// let never = |_: &str, _: &str| false;
/// assert!(!never.agree("How to start?", "How to begin?"));
/// ```
pub trait SimilarityGuard: Send + Sync {
    /// Whether the result kept for one question may be given for the other.
    fn agree(&self, asked: &str, kept: &str) -> bool;
}

impl<F: Fn(&str, &str) -> bool + Send + Sync> SimilarityGuard for F {
    fn agree(&self, asked: &str, kept: &str) -> bool {
        self(asked, kept)
    }
}

/// Vectors of questions whose results are kept, newest last.
pub(crate) struct Neighbours {
    known: VecDeque<Neighbour>,
    bytes: usize,
    limit: usize,
}

struct Neighbour {
    key: Arc<CacheKey>,
    vector: Box<[f32]>,
}

impl Neighbour {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.key.bytes() + size_of_val::<[f32]>(&self.vector)
    }
}

impl Neighbours {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            known: VecDeque::new(),
            bytes: 0,
            limit,
        }
    }

    /// The kept questions of the key's scope that are near enough, nearest first; none for what is
    /// no unit vector. O(bytes held).
    pub(crate) fn near(
        &self,
        key: &CacheKey,
        vector: &[f32],
        threshold: f64,
    ) -> Vec<Arc<CacheKey>> {
        if !is_unit(vector) {
            return Vec::new();
        }
        let mut near: Vec<(f64, &Arc<CacheKey>)> = self
            .known
            .iter()
            .filter(|one| one.key.scope() == key.scope() && one.vector.len() == vector.len())
            .map(|one| (dot(&one.vector, vector), &one.key))
            .filter(|(similarity, _)| *similarity >= threshold)
            .collect();
        near.sort_by(|(a, one), (b, other)| {
            b.total_cmp(a)
                .then_with(|| one.question().cmp(other.question()))
        });
        near.into_iter().map(|(_, key)| Arc::clone(key)).collect()
    }

    pub(crate) fn put(&mut self, key: CacheKey, vector: &[f32]) {
        let one = Neighbour {
            key: Arc::new(key),
            vector: vector.into(),
        };
        if !is_unit(vector)
            || one.bytes() > self.limit
            || self.known.iter().any(|known| known.key == one.key)
        {
            return;
        }
        self.bytes += one.bytes();
        self.known.push_back(one);
        while self.bytes > self.limit
            && let Some(oldest) = self.known.pop_front()
        {
            self.bytes -= oldest.bytes();
        }
    }

    pub(crate) fn forget(&mut self, key: &CacheKey) {
        if let Some(at) = self.known.iter().position(|known| *known.key == *key)
            && let Some(gone) = self.known.remove(at)
        {
            self.bytes -= gone.bytes();
        }
    }

    pub(crate) fn clear(&mut self) {
        self.known.clear();
        self.bytes = 0;
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Whether a product with it is a cosine: of any other vector, one with an infinity among them, it may
/// be as large as one likes.
fn is_unit(vector: &[f32]) -> bool {
    const TOLERANCE: f64 = 1e-3;
    (dot(vector, vector) - 1.0).abs() <= TOLERANCE
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| f64::from(*a) * f64::from(*b))
        .sum()
}
