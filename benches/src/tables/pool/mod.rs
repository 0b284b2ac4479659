//! Many clients while somebody writes: one connection, a pool, a pool with a cache.

mod control;
mod lookup;
mod page;
mod rounds;
mod stalls;
mod world;

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cornu_eval::evidence::{License, Measure, Model, Printed, Row};
use cornu_store::naive::{Habit, hammer};

use self::control::Pace;
use self::rounds::{
    CALM, IDLE, LOADS, Lasts, Load, Round, Rounds, Work, looked_up, one_connection, quantile, rate,
};
use self::stalls::Stalls;
use self::world::{CACHED, CONTROL, DIMENSION, DOCUMENTS, POOL, SINGLE, Workload, World};
use crate::load::{self, Met};
use crate::run::say;
use crate::table::{Bench, Part, Section, Table};
use crate::timing::median;

const LASTS: Lasts = Lasts {
    closed: Duration::from_millis(250),
    open: Duration::from_millis(500),
    rounds: 5,
};
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
        "The same file, opened three times: with one reading connection, with twice as many as there are \
         cores, and that with a cache. 10,000 chunks of 384 dimensions by the hash embedder; all that \
         were found once stay in memory (11 MB of the 32 MiB that a store keeps). *narrow*: nearest \
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
         the pool reached with 2 clients just before and the same for all, and a latency counts from \
         the moment at which its question was due; sixty-four threads sleep until they are called. \
         *polled50*, *polled80*: arrivals at the same rates, met by two threads that never sleep, but \
         look at the clock until the next question is due: nobody has to be woken. *idle p50* is that \
         of one client who asks again at once and finds its caches warm, *calm p50* that of *open5*, \
         where a question mostly finds nobody before it, and cores that sleep. All figures of loads \
         are medians of five rounds, with the least and the largest, but for errors and hits, which \
         are of all rounds together. What is divided by each other comes from one round, since the \
         machine is not as fast in one minute as in the next, and a ratio is the median of the rounds' \
         ratios. *to one connection*: beside what one connection answers with as many \
         clients or with one, whichever is more. *write*: a thread commits five times a second, \
         through the same index, a document that no asker sees; each commit ends the life of what is \
         cached, while views, vectors, statistics and chunks in memory outlive it. *lock-errors*: \
         eight threads, each of which reads a row and writes one in a transaction, by three habits \
         and by this store. The chapter's figures are of another machine, model and load."
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
                let work = Work {
                    world: &world,
                    workload,
                    writing,
                    seed: bench.seed,
                    lasts: LASTS,
                };
                rows.extend(loads(work, machine)?);
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

/// What the machine does by itself.
#[derive(Clone, Copy)]
struct Machine {
    pace: Pace,
    /// Bytes of memory read in a second.
    memory: f64,
}

fn loads(work: Work<'_>, machine: Machine) -> Result<Vec<Row>> {
    let rounds = work.measure(machine.pace)?;
    let mut rows = Vec::new();
    for load in &LOADS {
        for system in [SINGLE, POOL, CACHED, CONTROL] {
            let name = dataset(work.workload, work.writing, load.name);
            rows.push(row(&name, load, system, &rounds)?);
        }
    }
    if work.workload == Workload::Full {
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

/// What a system met in a load, and beside what others met in the same rounds.
fn row(dataset: &str, load: &Load, system: &'static str, rounds: &Rounds) -> Result<Row> {
    let name = load.name;
    let met = rounds.met(name, system);
    ensure!(!met.is_empty(), "{system} was not measured in {dataset}");
    let mut row = row_of(dataset, system, &met);
    let n = counted(&met);
    let p99 = |round: &Round, system| quantile(round, name, system, 0.99);
    let mut put = |metric: &str, figure: &dyn Fn(&Round) -> Option<f64>| {
        if let Some(measure) = rounds.typical("ratio", n, figure) {
            row.metrics.insert(metric.to_owned(), measure);
        }
    };
    put("p99_to_idle", &|round| {
        ratio(p99(round, system), quantile(round, IDLE, system, 0.5))
    });
    if load.is_open() {
        put("p99_to_calm", &|round| {
            ratio(p99(round, system), quantile(round, CALM, system, 0.5))
        });
    }
    if system != CONTROL {
        put("p99_to_control", &|round| {
            ratio(p99(round, system), p99(round, CONTROL))
        });
    }
    if !load.is_open() && [POOL, CACHED].contains(&system) {
        put("to_one", &|round| {
            ratio(rate(round, name, system), one_connection(round, name))
        });
    }
    if let Some(hits) = rounds.hits(name, system) {
        put("to_pool", &|round| {
            ratio(rate(round, name, system), rate(round, name, POOL))
        });
        let mut put = |metric: &str, value: f64, unit: &str| {
            let measure = Measure::exact(value, unit, n);
            row.metrics.insert(metric.to_owned(), measure);
        };
        put("hit_rate", hits, "fraction");
        if hits < 1.0 {
            put("bound", 1.0 / (1.0 - hits), "ratio");
        }
    }
    Ok(row)
}

fn ratio(of: Option<f64>, to: Option<f64>) -> Option<f64> {
    Some(of? / to.filter(|to| *to > 0.0)?)
}

/// Answers whose latencies are counted.
fn counted(rounds: &[&Met]) -> u64 {
    rounds.iter().map(|met| met.latencies.len() as u64).sum()
}

fn row_of(dataset: &str, system: &str, rounds: &[&Met]) -> Row {
    let mut row = Row::measured(dataset, system);
    let typical = |unit: &str, figure: &dyn Fn(&Met) -> f64| {
        let figures: Vec<f64> = rounds.iter().map(|met| figure(met)).collect();
        Measure {
            n: counted(rounds),
            ..median(&figures, unit, |figure| figure)
        }
    };
    let errors: u64 = rounds.iter().map(|met| met.errors).sum();
    let n = counted(rounds) + errors;
    let errors = Measure::exact(errors as f64 / n.max(1) as f64, "fraction", n);
    for (metric, measure) in [
        ("qps", typical("per_s", &Met::rate)),
        ("p50_ms", typical("ms", &|met| met.quantile(0.5) * 1e3)),
        ("p99_ms", typical("ms", &|met| met.quantile(0.99) * 1e3)),
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
    rows.push(row_of(dataset, "store", &[&met]));
    Ok(rows)
}

/// 20 questions, each asked of all three, one after another: the same bytes, and as many hits as
/// there are repetitions.
fn quick(seed: u64) -> Result<Vec<Row>> {
    let world = World::build(200, seed)?;
    let mut same = 0_u64;
    const ASKED: u64 = 20;
    let before = world.systems.iter().find_map(|(_, index)| looked_up(index));
    for n in 0..ASKED {
        let (who, question) = world.nth(Workload::Zipf, n % 15);
        let found = world
            .systems
            .iter()
            .map(|(_, index)| Ok(index.search_hybrid(who, &question, 5)?.to_json()))
            .collect::<Result<Vec<_>>>()?;
        same += u64::from(found.windows(2).all(|pair| pair.first() == pair.last()));
    }
    let after = world.systems.iter().find_map(|(_, index)| looked_up(index));
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
                for load in &LOADS {
                    let name = dataset(workload, writing, load.name);
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
            rounds: 2,
        };
        let work = Work {
            world: &world,
            workload: Workload::Narrow,
            writing: true,
            seed: 9,
            lasts,
        };
        let rows = loads(work, machine).unwrap();
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
