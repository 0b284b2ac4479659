//! Many clients while somebody writes: one connection, a pool, a pool with a cache.

mod control;
mod lookup;
mod page;
mod stalls;
mod world;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use anyhow::{Context, Result};
use cornu::LiveRagIndex;
use cornu_eval::evidence::{License, Measure, Model, Printed, Row};
use cornu_store::naive::{Habit, hammer};

use self::control::{Control, Pace};
use self::stalls::Stalls;
use self::world::{CACHED, CONTROL, DIMENSION, DOCUMENTS, POOL, SINGLE, Workload, World};
use crate::load::{self, Ask, Met};
use crate::run::say;
use crate::table::{Bench, Part, Section, Table};
use crate::timing::median;

/// One, who finds everything idle; as many as this machine has cores; and more than it can serve at
/// once.
const CLIENTS: [usize; 4] = [1, SATURATING, 8, 64];
/// Clients are threads of the process that answers: one for each core leaves none of them idle.
const SATURATING: usize = 2;
const ROUNDS: usize = 3;
const LASTS: Lasts = Lasts {
    closed: Duration::from_millis(250),
    open: Duration::from_millis(500),
};
/// Open loads, in percent of the rate that the pool reached with one client for each core: beyond it
/// there is no steady state to measure, and for short searches not even at the last. The first mostly
/// finds everything idle.
/// By name, percent, and whether those who wait for questions look at the clock instead of sleeping.
const OPEN: [(&str, u32, bool); 5] = [
    ("open5", CALM_PERCENT, false),
    ("open50", 50, false),
    ("open80", 80, false),
    ("polled50", 50, true),
    ("polled80", 80, true),
];
const CALM_PERCENT: u32 = 5;
/// Threads that ask in an open load: more than wait at the same time where the pool keeps up.
const OPEN_CLIENTS: usize = 64;
const COMMITS_PER_SECOND: f64 = 5.0;
/// For how long the machine is watched before the loads of a workload.
const WATCHED: Duration = Duration::from_secs(1);

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
        "The same file, opened three times: with one reading connection, with twice as many as there are cores, and \
         that with a cache. 10,000 chunks of 384 dimensions by the hash embedder; all that were found once stay in memory \
         (11 MB of the 32 MiB that a store keeps). *narrow*: nearest \
         neighbours for 50 askers who see 200 chunks each; *bm25* and *full-scan*: one asker who sees \
         all; *zipf*: hybrid searches of the same, drawn from 1,000 questions by rank (s = 1). Of the \
         other questions 24.8 % come from 16 that are asked again and again, as many as the chapter \
         states, and the rest are new. A cache cannot give more than 1 / (1 − hits). *control*: the \
         same load upon a counter in place of the search: it counts on one core for as long as the \
         idle pool's p50, behind a strict queue of as many places as the pool has. What its p99 \
         has above its p50 is of the queue, the system and the load generator. *1*, *2*, *8*, *64*: \
         so many clients, each of which asks when it has its answer. Two, one for each core, are this \
         machine's saturation: from there on more clients wait longer and are not answered faster. \
         *open5*, *open50*, *open80*: questions arrive at random, at 5, 50 and 80 % of the rate that \
         the pool reached with 2 clients and the same for all, and a latency counts from the moment \
         at which its question was due; sixty-four threads sleep until they are called. *polled50*, \
         *polled80*: arrivals at the same rates, met by two threads that never sleep, but look at the \
         clock until the next question is due: nobody has to be woken. *idle p50* is that of one client who asks again at once and \
         finds its caches warm, *calm p50* that of *open5*, where a question mostly finds nobody \
         before it, and cores that sleep. QPS, p50 and p99 of loads are medians of three rounds, QPS \
         and p99 with the least and the largest; ratios are of medians. *to one connection*: beside what one connection answers with as many \
         clients or with one, whichever is more. *write*: a thread commits five times a second, through the same index, \
         a document that no asker sees; each commit ends the life of what is cached, while views, \
         vectors, statistics and chunks in memory outlive it. *lock-errors*: eight threads, each of which reads a row and writes one in \
         a transaction, by three habits and by this store. The chapter's figures are of another \
         machine, model and load."
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
        let machine = Machine {
            pace: Pace::measure(),
            memory: lookup::memory_rate(DOCUMENTS * DIMENSION),
        };
        let (mut rows, mut stalls) = (Vec::new(), Stalls::default());
        for workload in Workload::ALL {
            for writing in [false, true] {
                stalls.watch(WATCHED);
                rows.extend(loads(
                    &world, workload, writing, bench.seed, machine, LASTS,
                )?);
                let mode = mode(writing);
                say(&format!("  {}, {mode}: measured", workload.name()));
            }
        }
        rows.push(stalls.row());
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
            "With more clients than cores a latency is that of a queue: of n clients on two cores each \
             waits for n / 2 searches, the control's as well."
                .to_owned(),
            "In an open load each question costs a sleep and a wake besides, and finds caches that \
             others have used: a short search takes a third to six tenths more of a core than in the \
             closed loop, so 80 % of that loop's rate is mostly more than these cores can do. The control has \
             nothing in caches, and pays for the wake alone."
                .to_owned(),
            "Where something else has the cores for about a hundredth of the time (*the machine itself*), \
             a p99 of short searches in an open load is that of who was asked meanwhile, and of the queue \
             that came of it."
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

/// Who is asked.
struct System<'w> {
    name: &'static str,
    /// Where the writer writes meanwhile.
    index: &'w LiveRagIndex,
    ask: Box<Ask<'w>>,
}

/// What one load met in one system, round by round; and the cache's hits.
#[derive(Default)]
struct Turns {
    rounds: Vec<Met>,
    hits: Option<f64>,
}

impl Turns {
    fn rate(&self) -> f64 {
        typical(&self.rounds, "per_s", Met::rate).value
    }

    fn quantile(&self, part: f64) -> f64 {
        typical(&self.rounds, "s", |met| met.quantile(part)).value
    }

    fn answers(&self) -> u64 {
        counted(&self.rounds)
    }
}

/// The median of the rounds, with the least and the largest: one in which something else wanted the
/// machine does not decide.
fn typical(rounds: &[Met], unit: &str, figure: impl Fn(&Met) -> f64) -> Measure {
    let figures: Vec<f64> = rounds.iter().map(figure).collect();
    Measure {
        n: counted(rounds),
        ..median(&figures, unit, |figure| figure)
    }
}

/// Answers whose latencies are counted.
fn counted(rounds: &[Met]) -> u64 {
    rounds.iter().map(|met| met.latencies.len() as u64).sum()
}

/// One load over some systems in turns.
fn turns(
    world: &World,
    systems: &[System<'_>],
    writing: bool,
    load: impl Fn(&Ask<'_>, u64) -> Met,
) -> Result<BTreeMap<&'static str, Turns>> {
    let mut out: BTreeMap<&'static str, Turns> = BTreeMap::new();
    let before: Vec<_> = systems.iter().map(|one| counts(one.index)).collect();
    for round in 0..ROUNDS as u64 {
        for System { name, index, ask } in systems {
            let met = if writing {
                let commit = |n| world.commit(index, n);
                load::beside(COMMITS_PER_SECOND, &commit, || load(ask, round))?
            } else {
                load(ask, round)
            };
            out.entry(*name).or_default().rounds.push(met);
        }
    }
    for (System { name, index, .. }, before) in systems.iter().zip(before) {
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

/// How long one round of a load lasts.
#[derive(Clone, Copy)]
struct Lasts {
    closed: Duration,
    open: Duration,
}

/// What the machine does by itself.
#[derive(Clone, Copy)]
struct Machine {
    pace: Pace,
    /// Bytes of memory read in a second.
    memory: f64,
}

fn loads(
    world: &World,
    workload: Workload,
    writing: bool,
    seed: u64,
    machine: Machine,
    lasts: Lasts,
) -> Result<Vec<Row>> {
    let next = AtomicU64::new(0);
    let mut systems: Vec<System<'_>> = world
        .systems
        .iter()
        .map(|(name, index)| System {
            name,
            index,
            ask: Box::new(move |n| world.ask(index, workload, n)),
        })
        .collect();
    let closed = |systems: &[System<'_>], clients| {
        turns(world, systems, writing, |ask, _| {
            load::closed(clients, lasts.closed, &next, ask)
        })
    };
    let mut alone = closed(&systems, 1)?;
    let idle = alone.get(POOL).map_or(0.0, |one| one.quantile(0.5));
    let (_, index) = world.systems.get(1).context("there is no pool")?;
    let places = index.options().store.readers;
    let control = Control::new(places, Duration::from_secs_f64(idle), machine.pace);
    systems.push(System {
        name: CONTROL,
        index,
        ask: Box::new(move |_| {
            control.serve();
            Ok(())
        }),
    });
    let control = systems.last().map(std::slice::from_ref);
    alone.append(&mut closed(control.unwrap_or_default(), 1)?);
    // One connection may answer more when it is never handed over.
    let one_alone = alone.get(SINGLE).map_or(0.0, Turns::rate);
    let mut saturated = 0.0;
    let medians = |met: &BTreeMap<&'static str, Turns>| -> BTreeMap<_, _> {
        let median = |(name, turns): (&&'static str, &Turns)| (*name, turns.quantile(0.5));
        met.iter().map(median).collect()
    };
    let idle = medians(&alone);
    let mut calm = BTreeMap::new();
    let mut rows = Vec::new();
    for clients in CLIENTS {
        let met = match clients {
            1 => std::mem::take(&mut alone),
            _ => closed(&systems, clients)?,
        };
        if clients == SATURATING {
            saturated = met.get(POOL).map_or(0.0, Turns::rate);
        }
        let load = dataset(workload, writing, &clients.to_string());
        rows.extend(shown(&load, &met, &idle, None, Some(one_alone))?);
    }
    for (name, percent, polls) in OPEN {
        let rate = saturated * f64::from(percent) / 100.0;
        let met = turns(world, &systems, writing, |ask, round| {
            let (lasts, seed) = (lasts.open, seed + round);
            if polls {
                load::polled(SATURATING, rate, lasts, seed, &next, ask)
            } else {
                load::open(OPEN_CLIENTS, rate, lasts, seed, &next, ask)
            }
        })?;
        if percent == CALM_PERCENT {
            calm = medians(&met);
        }
        let load = dataset(workload, writing, name);
        rows.extend(shown(&load, &met, &idle, Some(&calm), None)?);
    }
    if workload == Workload::Full {
        let bytes = (DOCUMENTS * DIMENSION * size_of::<f32>()) as f64;
        for row in rows
            .iter_mut()
            .filter(|row| [SINGLE, POOL].contains(&row.system.as_str()))
        {
            let rate = row.metrics.get("qps").map_or(0.0, |qps| qps.value * bytes);
            // On a machine with other work the plain read may have had the worse moment.
            let share = Measure::exact(rate / machine.memory, "ratio", 1);
            row.metrics.insert("of_memory".to_owned(), share);
        }
    }
    Ok(rows)
}

fn shown(
    dataset: &str,
    met: &BTreeMap<&'static str, Turns>,
    idle: &BTreeMap<&'static str, f64>,
    calm: Option<&BTreeMap<&'static str, f64>>,
    one_alone: Option<f64>,
) -> Result<Vec<Row>> {
    let rate = |name: &str| met.get(name).map_or(0.0, Turns::rate);
    let p99 = |name: &str| met.get(name).map_or(0.0, |turns| turns.quantile(0.99));
    [SINGLE, POOL, CACHED, CONTROL]
        .into_iter()
        .map(|name| {
            let turns = met.get(name).context("a system was not measured")?;
            let mut row = row_of(dataset, name, &turns.rounds);
            let mut put = |metric: &str, value: f64, unit: &str| {
                let measure = Measure::exact(value, unit, turns.answers());
                row.metrics.insert(metric.to_owned(), measure);
            };
            for (metric, unloaded) in [("p99_to_idle", Some(idle)), ("p99_to_calm", calm)] {
                let unloaded = unloaded
                    .and_then(|of| of.get(name))
                    .filter(|p50| **p50 > 0.0);
                if let Some(unloaded) = unloaded {
                    put(metric, p99(name) / unloaded, "ratio");
                }
            }
            if name != CONTROL {
                put("p99_to_control", p99(name) / p99(CONTROL), "ratio");
            }
            if let Some(alone) = one_alone.filter(|_| [POOL, CACHED].contains(&name)) {
                put("to_one", turns.rate() / rate(SINGLE).max(alone), "ratio");
            }
            if let Some(hits) = turns.hits {
                put("hit_rate", hits, "fraction");
                put("to_pool", turns.rate() / rate(POOL), "ratio");
                if hits < 1.0 {
                    put("bound", 1.0 / (1.0 - hits), "ratio");
                }
            }
            Ok(row)
        })
        .collect()
}

fn row_of(dataset: &str, system: &str, rounds: &[Met]) -> Row {
    let mut row = Row::measured(dataset, system);
    let milliseconds = |part| typical(rounds, "ms", move |met| met.quantile(part) * 1e3);
    let errors: u64 = rounds.iter().map(|met| met.errors).sum();
    let n = counted(rounds) + errors;
    let errors = Measure::exact(errors as f64 / n.max(1) as f64, "fraction", n);
    for (metric, measure) in [
        ("qps", typical(rounds, "per_s", Met::rate)),
        ("p50_ms", milliseconds(0.5)),
        ("p99_ms", milliseconds(0.99)),
        ("error_rate", errors),
    ] {
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
    let met = load::closed(THREADS, LASTS.closed, &next, &|n| {
        world.ask(index, Workload::Full, n)?;
        world.commit(index, n)
    });
    rows.push(row_of(dataset, "store", &[met]));
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
                for load in [
                    "1", "2", "8", "64", "open5", "open50", "open80", "polled50", "polled80",
                ] {
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
        let machine = Machine {
            pace: Pace::measure(),
            memory: 1.0,
        };
        let lasts = Lasts {
            closed: Duration::from_millis(30),
            open: Duration::from_millis(60),
        };
        let rows = loads(&world, Workload::Narrow, true, 9, machine, lasts).unwrap();
        assert_eq!(rows.len(), 36);
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
