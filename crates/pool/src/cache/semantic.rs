//! The cache.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use crate::cache::counts::{CacheMetrics, Counts};
use crate::cache::flight::{Flight, Landing, Leading, this_thread_leads};
use crate::cache::key::CacheKey;
use crate::cache::options::CacheOptions;
use crate::cache::shard::{Found, Shard};
use crate::cache::similar::Neighbours;
use crate::sync::Mutex;

/// Says how much memory a value takes, what it points to included.
///
/// ```
/// use cornu_pool::Weigh;
/// struct Ids(Vec<u64>);
/// impl Weigh for Ids {
///     fn bytes(&self) -> usize { size_of::<Self>() + self.0.capacity() * size_of::<u64>() }
/// }
/// assert_eq!(Ids(vec![]).bytes(), 24);
/// ```
pub trait Weigh {
    /// In bytes.
    fn bytes(&self) -> usize;
}

/// Results of searches, for as long as nothing that they depend on has changed.
///
/// - **The first level is exact.** A result is given for the same question, [normalised], in the same
///   [`Scope`](crate::Scope): view, epoch, model, k and settings. The hash finds the entry, the
///   whole key decides: a collision is a miss.
/// - **The second level is a judgement** and off by default: see
///   [`SimilarOptions`](crate::SimilarOptions).
/// - **A hit is checked again.** The caller says of each value whether the asker sees all of it;
///   one that he does not is dropped, counted, and computed anew. Values hold ids, so that texts are
///   read under the asker's view whatever stands here.
/// - **One computes, others wait.** Errors are nobody's but the one's who got them: others then
///   compute for themselves, and nothing is kept. A panic counts as an error.
/// - **Bounded in bytes**, by [`Weigh`]; what has not been used lately goes first.
///
/// Cost of a hit: one hash of the key, a lock of one shard for a look-up and a comparison, and the
/// caller's check.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use cornu_core::{Fingerprint, Principal, View};
/// use cornu_pool::{CacheKey, CacheOptions, Scope, SemanticVectorCache, Weigh};
///
/// struct Ids(Vec<u32>);
/// impl Weigh for Ids {
///     fn bytes(&self) -> usize { size_of::<Self>() + self.0.len() * 4 }
/// }
///
/// let cache = SemanticVectorCache::new(&CacheOptions::default());
/// let view = View::resolve(&Principal::public(), 1, []);
/// let name = Arc::new(Fingerprint::new("example"));
/// let key = CacheKey::new(Scope::new(&view, &name, 2, &name), "How are gradients cleared?");
/// let ask = || {
///     let seen = |ids: &Ids| ids.0.iter().all(|&id| id < 10);
///     cache.get_or_compute(&key, Duration::from_secs(1), seen, || Ok::<_, String>(Ids(vec![3, 4])))
/// };
/// assert_eq!(ask()?.0, [3, 4]);
/// assert_eq!(ask()?.0, [3, 4]);
/// assert_eq!((cache.metrics().misses, cache.metrics().hits), (1, 1));
/// # Ok::<(), String>(())
/// ```
///
/// [normalised]: crate::normalised
pub struct SemanticVectorCache<V, S = RandomState> {
    hasher: S,
    options: CacheOptions,
    shards: Vec<Part<V>>,
    neighbours: Mutex<Neighbours>,
}

/// The most parts of a cache; threads that meet in one of so many are few.
const MAX_SHARDS: usize = 1024;

struct Part<V> {
    shard: Mutex<Shard<V>>,
    counts: Counts,
}

impl<V: Weigh> SemanticVectorCache<V> {
    /// An empty cache.
    #[must_use]
    pub fn new(options: &CacheOptions) -> Self {
        Self::with_hasher(options, RandomState::new())
    }
}

impl<V: Weigh, S: BuildHasher> SemanticVectorCache<V, S> {
    /// An empty cache with a hash function of the caller's choice; keys hold text from outside, so
    /// it ought to be one that nobody can aim at.
    pub fn with_hasher(options: &CacheOptions, hasher: S) -> Self {
        let count = options.shards.clamp(1, MAX_SHARDS);
        let part = |_| Part {
            shard: Mutex::new(Shard::new(options.bytes / count)),
            counts: Counts::default(),
        };
        let similar = options.similar.as_ref();
        Self {
            hasher,
            shards: (0..count).map(part).collect(),
            neighbours: Mutex::new(Neighbours::new(similar.map_or(0, |similar| similar.bytes))),
            options: options.clone(),
        }
    }

    /// What is kept for the key, or what `compute` gives, which is kept then.
    ///
    /// `seen` says whether the asker sees all that a kept value names. When another thread computes
    /// for the same key its result is waited for, for at most `patience`; with
    /// [`Duration::ZERO`], or when this thread is itself in the middle of such a computation, it is
    /// not. **Do not wait on a thread that others need in order to compute**, such as one of a thread
    /// pool on which `compute` runs.
    ///
    /// # Errors
    /// Those of `compute`.
    pub fn get_or_compute<E>(
        &self,
        key: &CacheKey,
        patience: Duration,
        seen: impl Fn(&V) -> bool,
        compute: impl FnOnce() -> Result<V, E>,
    ) -> Result<Arc<V>, E> {
        let hash = self.hasher.hash_one(key);
        let part = self.part(hash);
        let flight = {
            let mut shard = part.shard.lock();
            match self.look(part, &mut shard, hash, key) {
                Some(value) => {
                    drop(shard);
                    if seen(&value) {
                        part.counts.hits.one_more();
                        return Ok(value);
                    }
                    part.counts.refused_hidden.one_more();
                    part.shard.lock().remove(hash, key);
                    Course::Alone
                }
                None => match shard.flight(key) {
                    Some(_) if patience.is_zero() || this_thread_leads() => Course::Alone,
                    Some(flight) => Course::Follow(flight),
                    None => Course::Lead(shard.take_off(key.clone())),
                },
            }
        };
        match flight {
            Course::Lead(flight) => {
                part.counts.misses.one_more();
                let mut landing = Lander {
                    cache: self,
                    hash,
                    key,
                    flight,
                    value: None,
                    _leading: Leading::begin(),
                };
                let value = Arc::new(compute()?);
                landing.value = Some(Arc::clone(&value));
                return Ok(value);
            }
            Course::Follow(flight) => {
                if let Landing::Value(value) = flight.wait(patience)
                    && seen(&value)
                {
                    part.counts.joined.one_more();
                    return Ok(value);
                }
            }
            Course::Alone => {}
        }
        part.counts.misses.one_more();
        let value = Arc::new(compute()?);
        self.keep(&mut part.shard.lock(), hash, key, &value);
        Ok(value)
    }

    /// What is kept for the key, if it is and the asker sees all of it.
    pub fn get(&self, key: &CacheKey, seen: impl Fn(&V) -> bool) -> Option<Arc<V>> {
        let hash = self.hasher.hash_one(key);
        let part = self.part(hash);
        let value = self.look(part, &mut part.shard.lock(), hash, key)?;
        if seen(&value) {
            part.counts.hits.one_more();
            return Some(value);
        }
        part.counts.refused_hidden.one_more();
        part.shard.lock().remove(hash, key);
        None
    }

    /// What is kept for a similar question of the same scope: the nearest that reaches the
    /// threshold, that the guard takes, and of which the asker sees all. `None` where
    /// [`CacheOptions::similar`] is, and for a `vector` that is not of norm 1.
    ///
    /// Costs one product with each vector held in the scope. Only questions that were
    /// [introduced](Self::introduce) are found.
    pub fn similar(
        &self,
        key: &CacheKey,
        vector: &[f32],
        seen: impl Fn(&V) -> bool,
    ) -> Option<Arc<V>> {
        let similar = self.options.similar.as_ref()?;
        let near = self.neighbours.lock().near(key, vector, similar.threshold);
        for kept in near {
            let hash = self.hasher.hash_one(&*kept);
            let part = self.part(hash);
            let found = self.look(part, &mut part.shard.lock(), hash, &kept);
            let Some(value) = found else {
                self.neighbours.lock().forget(&kept);
                continue;
            };
            if !similar.guard.agree(key.question(), kept.question()) {
                part.counts.refused_similar.one_more();
            } else if !seen(&value) {
                part.counts.refused_hidden.one_more();
            } else {
                part.counts.similar_hits.one_more();
                return Some(value);
            }
        }
        None
    }

    /// Makes a question whose result is kept known to the second level, if that is on and `vector`,
    /// the question's, is of norm 1.
    pub fn introduce(&self, key: &CacheKey, vector: &[f32]) {
        if self.options.similar.is_some() {
            self.neighbours.lock().put(key.clone(), vector);
        }
    }

    /// Forgets everything that is kept.
    pub fn clear(&self) {
        for part in &self.shards {
            part.shard.lock().clear();
        }
        self.neighbours.lock().clear();
    }

    /// Counts since the start.
    #[must_use]
    pub fn metrics(&self) -> CacheMetrics {
        let mut sum = CacheMetrics::default();
        for part in &self.shards {
            part.counts.add_to(&mut sum);
            let shard = part.shard.lock();
            sum.entries += shard.len();
            sum.bytes += shard.bytes();
        }
        sum.bytes += self.neighbours.lock().bytes();
        sum
    }

    /// How the cache was made.
    #[must_use]
    pub fn options(&self) -> &CacheOptions {
        &self.options
    }

    fn part(&self, hash: u64) -> &Part<V> {
        // The upper bits: those below find the place within the shard.
        let at = (hash >> 32) as usize % self.shards.len();
        match self.shards.get(at) {
            Some(part) => part,
            None => unreachable!("a remainder is less than what it was divided by"),
        }
    }

    fn look(
        &self,
        part: &Part<V>,
        shard: &mut Shard<V>,
        hash: u64,
        key: &CacheKey,
    ) -> Option<Arc<V>> {
        let (now, ttl) = match self.options.ttl {
            Some(ttl) => (self.options.clock.now(), Some(ttl)),
            None => (Duration::ZERO, None),
        };
        match shard.get(hash, key, now, ttl) {
            Found::Value(value) => return Some(value),
            Found::Nothing => {}
            Found::Collision => part.counts.collisions.one_more(),
            Found::Expired => part.counts.expired.one_more(),
        }
        None
    }

    fn keep(&self, shard: &mut Shard<V>, hash: u64, key: &CacheKey, value: &Arc<V>) {
        let counts = &self.part(hash).counts;
        let now = match self.options.ttl {
            Some(_) => self.options.clock.now(),
            None => Duration::ZERO,
        };
        match shard.put(hash, key.clone(), Arc::clone(value), value.bytes(), now) {
            Some(gone) => (0..gone).for_each(|_| counts.evictions.one_more()),
            None => counts.too_large.one_more(),
        }
    }
}

impl<V: Weigh, S: BuildHasher> fmt::Debug for SemanticVectorCache<V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SemanticVectorCache")
            .field("options", &self.options)
            .field("metrics", &self.metrics())
            .finish_non_exhaustive()
    }
}

/// How a look-up goes on when nothing is kept.
enum Course<V> {
    Lead(Arc<Flight<V>>),
    Follow(Arc<Flight<V>>),
    Alone,
}

/// Ends a flight however the computation ends, and keeps its value if there is one. Both happen
/// under one lock, so nobody finds neither the flight nor the value.
struct Lander<'a, V: Weigh, S: BuildHasher> {
    cache: &'a SemanticVectorCache<V, S>,
    hash: u64,
    key: &'a CacheKey,
    flight: Arc<Flight<V>>,
    value: Option<Arc<V>>,
    _leading: Leading,
}

impl<V: Weigh, S: BuildHasher> Drop for Lander<'_, V, S> {
    fn drop(&mut self) {
        let value = self.value.take();
        {
            let mut shard = self.cache.part(self.hash).shard.lock();
            if let Some(value) = &value {
                self.cache.keep(&mut shard, self.hash, self.key, value);
            }
            shard.land(&self.flight);
        }
        self.flight.end(value);
    }
}
