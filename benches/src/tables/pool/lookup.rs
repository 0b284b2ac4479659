//! What one hit takes, and how fast memory is read.

use std::hint::black_box;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use cornu::{ChunkId, Fingerprint};
use cornu_eval::evidence::Row;
use cornu_pool::{CacheKey, CacheOptions, Scope, SemanticVectorCache, Weigh};

use super::row_of;
use super::world::{CACHED, POOL, World};
use crate::load::Met;

const TIMES: usize = 3000;

/// What the index keeps for a question: the ids and scores of 100 candidates, and the ordinals of
/// their documents.
struct Kept {
    found: Vec<(ChunkId, f64)>,
    documents: Vec<u32>,
}

impl Weigh for Kept {
    fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.found.capacity() * size_of::<(ChunkId, f64)>()
            + self.documents.capacity() * size_of::<u32>()
    }
}

/// A look-up in a full cache by itself, and whole searches whose result is kept or not.
pub(super) fn rows(world: &World) -> Result<Vec<Row>> {
    let dataset = "one-by-one";
    let index = |name: &str| {
        let found = world.systems.iter().find(|(system, _)| *system == name);
        found.map(|(_, index)| index).context("a system is missing")
    };
    let (pool, cached) = (index(POOL)?, index(CACHED)?);
    let who = world.everybody();
    let question = "which of them is asked again and again";
    let search = |index: &cornu::LiveRagIndex| {
        timed(|| {
            black_box(index.search_dense(who, question, 10)?);
            Ok(())
        })
    };
    let snapshot = pool.store().snapshot(who)?;
    let view = snapshot.view();
    let cache = SemanticVectorCache::new(&CacheOptions::default());
    let name = Arc::new(Fingerprint::new("example").with("index.chunker", "sentences"));
    let documents: Vec<u32> = view.ordinals().step_by(97).take(100).collect();
    let key = |question: &str| CacheKey::new(Scope::new(view, &name, 100, &name), question);
    for at in 0..5000 {
        let kept = Kept {
            found: vec![(ChunkId::from_bytes([7; 32]), 0.5); 100],
            documents: documents.clone(),
        };
        cache.get_or_compute(
            &key(&format!("{question} {at}")),
            Duration::ZERO,
            |_| true,
            || Ok::<_, anyhow::Error>(kept),
        )?;
    }
    let mut at = 0;
    let alone = timed(|| {
        at = (at + 613) % 5000;
        let asked = key(&format!("{question} {at}"));
        let seen = |kept: &Kept| kept.documents.iter().all(|&one| view.contains(one));
        let found = cache.get(&asked, seen).context("it was kept")?;
        black_box(found.found.clone());
        Ok(())
    })?;
    Ok(vec![
        row_of(dataset, "cache-hit-alone", &[&alone]),
        row_of(dataset, "dense-kept", &[&search(cached)?]),
        row_of(dataset, "dense-not-kept", &[&search(pool)?]),
    ])
}

fn timed(mut work: impl FnMut() -> Result<()>) -> Result<Met> {
    let mut met = Met::default();
    let start = Instant::now();
    for _ in 0..TIMES {
        let begun = Instant::now();
        work()?;
        met.latencies.push(begun.elapsed().as_secs_f64());
        met.answers += 1;
        if start.elapsed() > Duration::from_secs(3) {
            break;
        }
    }
    met.seconds = start.elapsed().as_secs_f64();
    Ok(met)
}

/// Bytes a second at which all cores read that many f32 again and again: the best of several
/// rounds.
pub(super) fn memory_rate(values: usize) -> f64 {
    let data: Vec<f32> = (0..values).map(|at| (at % 7) as f32).collect();
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let once = || {
        let start = Instant::now();
        thread::scope(|scope| {
            for part in data.chunks(values.div_ceil(cores)) {
                scope.spawn(move || {
                    for _ in 0..8 {
                        // Eight sums, so that reading and not adding is what takes the time.
                        let mut sums = [0.0_f32; 8];
                        for eight in black_box(part).as_chunks::<8>().0 {
                            for (sum, value) in sums.iter_mut().zip(eight) {
                                *sum += value;
                            }
                        }
                        black_box(sums);
                    }
                });
            }
        });
        (8 * values * size_of::<f32>()) as f64 / start.elapsed().as_secs_f64()
    };
    (0..40).map(|_| once()).fold(0.0, f64::max)
}
