//! Many clients while somebody writes: one connection, a pool, a pool with a cache.

mod lookup;
mod page;
mod world;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use anyhow::{Context, Result};
use cornu::LiveRagIndex;
use cornu_eval::evidence::{License, Measure, Model, Printed, Row};
use cornu_store::naive::{Habit, hammer};

use self::world::{CACHED, DIMENSION, DOCUMENTS, POOL, SINGLE, Workload, World};
use crate::load::{self, Met};
use crate::run::say;
use crate::table::{Bench, Part, Section, Table};

const CLIENTS: [usize; 3] = [1, 8, 64];
const ROUNDS: usize = 2;
const CLOSED: Duration = Duration::from_millis(300);
const OPEN: Duration = Duration::from_millis(800);
/// Of the rate that the pool reached with eight clients: an open load beyond that has no steady
/// state to measure.
const OPEN_SHARE: f64 = 0.5;
const COMMITS_PER_SECOND: f64 = 5.0;

/// Table `pool`.
pub struct Pool;

impl Table for Pool {
    fn name(&self) -> &'static str {
        "pool"
    }

    fn summary(&self) -> &'static str {
        "one connection, a pool, a pool with a cache, under load"
    }

    fn about(&self) -> &'static str {
        "The same file, opened three times: with one reading connection, with one for each core, and \
         that with a cache. 10,000 chunks of 384 dimensions by the hash embedder. *narrow*: nearest \
         neighbours for 50 askers who see 200 chunks each; *bm25* and *full-scan*: one asker who sees \
         all; *zipf*: hybrid searches of the same, drawn from 1,000 questions by rank (s = 1). Of the \
         other questions 24.8 % come from 16 that are asked again and again, as many as the chapter \
         states, and the rest are new. A cache cannot give more than 1 / (1 − hits). *1*, *8*, *64*: \
         so many clients, each of which asks when it has its answer. *open*: questions arrive at \
         random, at half of the rate that the pool reached with 8 clients and the same for all three, \
         and a latency counts from the moment at which its question was due. *write*: a thread \
         commits five times a second, through the same index, a document that no asker sees; each \
         commit ends the life of what is cached and of every view and its statistics. *lock-errors*: \
         eight threads, each of which reads a row and writes one in a transaction, by three habits and \
         by this store. The chapter's figures are of another machine, model and load."
    }

    fn sections(&self) -> Vec<Section> {
        page::sections()
    }

    fn brief(&self) -> Section {
        page::brief()
    }

    fn printed(&self) -> Vec<Printed> {
        let row = |system: &str, metrics: &[(&str, f64)]| Printed {
            system: system.to_owned(),
            dataset: Some(dataset(Workload::Narrow, true, "8")),
            metrics: metrics
                .iter()
                .map(|(name, value)| ((*name).to_owned(), *value))
                .collect(),
            source: "chapter 14, stage 7".to_owned(),
        };
        let figures = |qps, p50, p99, errors| {
            [
                ("qps", qps),
                ("p50_ms", p50),
                ("p99_ms", p99),
                ("error_rate", errors),
            ]
        };
        let mut cached = figures(385.2, 1.8, 7.4, 0.0).to_vec();
        cached.push(("hit_rate", 0.248));
        vec![
            row(SINGLE, &figures(42.1, 22.4, 186.5, 0.084)),
            row(POOL, &figures(148.5, 6.5, 18.2, 0.0)),
            row(CACHED, &cached),
        ]
    }

    fn measure(&self, bench: &Bench<'_>) -> Result<Vec<Row>> {
        if bench.part == Part::Quick {
            return quick(bench.seed);
        }
        let world = World::build(DOCUMENTS, bench.seed)?;
        say("  10,000 documents are in");
        let memory = lookup::memory_rate(DOCUMENTS * DIMENSION);
        let mut rows = Vec::new();
        for workload in Workload::ALL {
            for writing in [false, true] {
                rows.extend(loads(&world, workload, writing, bench.seed, memory)?);
                let mode = mode(writing);
                say(&format!("  {}, {mode}: measured", workload.name()));
            }
        }
        rows.extend(lookup::rows(&world)?);
        rows.extend(habits()?);
        Ok(rows)
    }

    fn models(&self, _: &Bench<'_>) -> Result<Vec<Model>> {
        Ok(Vec::new())
    }

    fn licenses(&self) -> Vec<License> {
        Vec::new()
    }

    fn known_failures(&self) -> Vec<String> {
        vec![
            "Clients are threads of the process that answers, so they take from the cores that they \
             load."
                .to_owned(),
            "A full scan alone uses all cores, and beside others one: more connections save it the \
             sharing out, no more."
                .to_owned(),
            "Of many clients, those who have a connection may keep it for half a millisecond while \
             others wait: p50 is then that of a search and p99 that of a queue."
                .to_owned(),
        ]
    }
}

fn mode(writing: bool) -> &'static str {
    if writing { "write" } else { "read" }
}

fn dataset(workload: Workload, writing: bool, load: &str) -> String {
    format!("{}-{}-{load}", workload.name(), mode(writing))
}

/// One load over the three systems in turns; for each, what all its rounds met, the rates of the
/// rounds and the cache's hits.
struct Turns {
    met: Met,
    rates: Vec<f64>,
    hits: Option<f64>,
}

fn turns(
    world: &World,
    writing: bool,
    load: impl Fn(&LiveRagIndex) -> Met,
) -> Result<BTreeMap<&'static str, Turns>> {
    let mut out = BTreeMap::new();
    let before: Vec<_> = world
        .systems
        .iter()
        .map(|(_, index)| counts(index))
        .collect();
    for _ in 0..ROUNDS {
        for (name, index) in &world.systems {
            let met = if writing {
                let commit = |n| world.commit(index, n);
                load::beside(COMMITS_PER_SECOND, &commit, || load(index))?
            } else {
                load(index)
            };
            let turns = out.entry(*name).or_insert_with(|| Turns {
                met: Met::default(),
                rates: Vec::new(),
                hits: None,
            });
            turns.rates.push(met.rate());
            turns.met.add(met);
        }
    }
    for ((name, index), before) in world.systems.iter().zip(before) {
        if let (Some(turns), Some((hits, all))) = (out.get_mut(name), counts(index)) {
            let (hits_before, all_before) = before.unwrap_or_default();
            turns.hits = Some((hits - hits_before) as f64 / (all - all_before).max(1) as f64);
        }
    }
    Ok(out)
}

/// Results that were not computed, and all.
fn counts(index: &LiveRagIndex) -> Option<(u64, u64)> {
    let (dense, sparse) = index.cache_metrics()?;
    let found = [dense, sparse].map(|one| one.hits + one.joined);
    let missed = [dense, sparse].map(|one| one.misses);
    let found: u64 = found.iter().sum();
    Some((found, found + missed.iter().sum::<u64>()))
}

fn loads(
    world: &World,
    workload: Workload,
    writing: bool,
    seed: u64,
    memory: f64,
) -> Result<Vec<Row>> {
    let next = AtomicU64::new(0);
    let mut rows = Vec::new();
    let (mut idle, mut pool_at_eight) = (BTreeMap::new(), 0.0);
    for clients in CLIENTS {
        let met = turns(world, writing, |index| {
            load::closed(clients, CLOSED, &next, &|n| world.ask(index, workload, n))
        })?;
        for (name, turns) in &met {
            if clients == 1 {
                idle.insert(*name, turns.met.quantile(0.5));
            }
            if clients == 8 && *name == POOL {
                pool_at_eight = turns.met.rate();
            }
        }
        let load = dataset(workload, writing, &clients.to_string());
        rows.extend(shown(&load, &met, &idle)?);
    }
    let rate = pool_at_eight * OPEN_SHARE;
    let met = turns(world, writing, |index| {
        load::open(64, rate, OPEN, seed, &next, &|n| {
            world.ask(index, workload, n)
        })
    })?;
    rows.extend(shown(&dataset(workload, writing, "open"), &met, &idle)?);
    if workload == Workload::Full {
        let bytes = (DOCUMENTS * DIMENSION * size_of::<f32>()) as f64;
        for row in rows.iter_mut().filter(|row| row.system != CACHED) {
            let rate = row.metrics.get("qps").map_or(0.0, |qps| qps.value * bytes);
            let share = Measure::exact(rate / memory, "fraction", 1);
            row.metrics.insert("of_memory".to_owned(), share);
        }
    }
    Ok(rows)
}

fn shown(
    dataset: &str,
    met: &BTreeMap<&'static str, Turns>,
    idle: &BTreeMap<&'static str, f64>,
) -> Result<Vec<Row>> {
    let rate = |name: &str| met.get(name).map_or(0.0, |turns| turns.met.rate());
    [SINGLE, POOL, CACHED]
        .into_iter()
        .map(|name| {
            let turns = met.get(name).context("a system was not measured")?;
            let mut row = row_of(dataset, name, &turns.met);
            let mut put = |metric: &str, value: f64, unit: &str| {
                let measure = Measure::exact(value, unit, turns.met.latencies.len() as u64);
                row.metrics.insert(metric.to_owned(), measure);
            };
            if let Some(idle) = idle.get(name).filter(|idle| **idle > 0.0) {
                put("p99_to_idle", turns.met.quantile(0.99) / idle, "ratio");
            }
            if name != SINGLE {
                put("to_one", turns.met.rate() / rate(SINGLE), "ratio");
            }
            if let Some(hits) = turns.hits {
                put("hit_rate", hits, "fraction");
                put("to_pool", turns.met.rate() / rate(POOL), "ratio");
                if hits < 1.0 {
                    put("bound", 1.0 / (1.0 - hits), "ratio");
                }
            }
            if let Some(qps) = row.metrics.get_mut("qps") {
                qps.lo = turns.rates.iter().copied().reduce(f64::min);
                qps.hi = turns.rates.iter().copied().reduce(f64::max);
            }
            Ok(row)
        })
        .collect()
}

fn row_of(dataset: &str, system: &str, met: &Met) -> Row {
    let mut row = Row::measured(dataset, system);
    let n = met.latencies.len() as u64;
    for (metric, value, unit) in [
        ("qps", met.rate(), "per_s"),
        ("p50_ms", met.quantile(0.5) * 1e3, "ms"),
        ("p99_ms", met.quantile(0.99) * 1e3, "ms"),
        ("error_rate", met.error_rate(), "fraction"),
    ] {
        let measure = Measure::exact(value, unit, n);
        row.metrics.insert(metric.to_owned(), measure);
    }
    row
}

/// What the habits meet, and what the store meets in their place.
fn habits() -> Result<Vec<Row>> {
    const THREADS: usize = 8;
    const EACH: usize = 100;
    let dataset = "lock-errors";
    let folder = tempfile::tempdir()?;
    let mut rows = Vec::new();
    for (at, habit) in Habit::ALL.into_iter().enumerate() {
        let start = std::time::Instant::now();
        let outcome = hammer(
            &folder.path().join(format!("{at}.db")),
            habit,
            THREADS,
            EACH,
        )?;
        let mut row = Row::measured(dataset, habit.name());
        let n = (THREADS * EACH) as u64;
        let qps = outcome.committed as f64 / start.elapsed().as_secs_f64();
        let rate = Measure::exact(outcome.error_rate(), "fraction", n);
        row.metrics.insert("error_rate".to_owned(), rate);
        row.metrics
            .insert("qps".to_owned(), Measure::exact(qps, "per_s", n));
        rows.push(row);
    }
    let world = World::build(THREADS, 1)?;
    let (_, index) = world.systems.get(1).context("there is no pool")?;
    let next = AtomicU64::new(0);
    let met = load::closed(THREADS, CLOSED, &next, &|n| {
        world.ask(index, Workload::Full, n)?;
        world.commit(index, n)
    });
    rows.push(row_of(dataset, "store", &met));
    Ok(rows)
}

/// 20 questions, each asked of all three, one after another: the same bytes, and as many hits as
/// there are repetitions.
fn quick(seed: u64) -> Result<Vec<Row>> {
    let world = World::build(200, seed)?;
    let mut same = 0_u64;
    const ASKED: u64 = 20;
    let before = world.systems.iter().find_map(|(_, index)| counts(index));
    for n in 0..ASKED {
        let (who, question) = world.nth(Workload::Zipf, n % 15);
        let found = world
            .systems
            .iter()
            .map(|(_, index)| Ok(index.search_hybrid(who, &question, 5)?.to_json()))
            .collect::<Result<Vec<_>>>()?;
        same += u64::from(found.windows(2).all(|pair| pair.first() == pair.last()));
    }
    let after = world.systems.iter().find_map(|(_, index)| counts(index));
    let (Some((before, _)), Some((after, _))) = (before, after) else {
        anyhow::bail!("none of the systems has a cache");
    };
    let mut row = Row::measured(dataset(Workload::Zipf, false, "1"), CACHED);
    let mut put = |name: &str, value: u64| {
        let part = value as f64 / ASKED as f64;
        let measure = Measure::exact(part, "fraction", ASKED);
        row.metrics.insert(name.to_owned(), measure);
    };
    put("same_bytes", same);
    put("hit_rate", (after - before) / 2);
    put("error_rate", ASKED - same);
    Ok(vec![row])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_load_stands_in_one_section() {
        let sections = Pool.sections();
        for workload in Workload::ALL {
            for writing in [false, true] {
                for load in ["1", "8", "64", "open"] {
                    let name = dataset(workload, writing, load);
                    let held = sections.iter().filter(|one| one.holds(&name)).count();
                    assert_eq!(held, 1, "{name}");
                }
            }
        }
    }

    /// A small world through the whole measurement: rows for every load and system, no error.
    #[test]
    fn a_small_world_is_measured_whole() {
        let world = World::build(60, 9).unwrap();
        let rows = loads(&world, Workload::Narrow, true, 9, 1.0).unwrap();
        assert_eq!(rows.len(), 12);
        for row in &rows {
            assert_eq!(row.metrics["error_rate"].value, 0.0, "{row:?}");
            assert!(row.metrics["qps"].value > 0.0, "{row:?}");
        }
        let alone = lookup::rows(&world).unwrap();
        assert_eq!(alone.len(), 3);
        let (one, other) = (world.nth(Workload::Zipf, 3), world.nth(Workload::Zipf, 3));
        assert_eq!(one, other);
    }
}
