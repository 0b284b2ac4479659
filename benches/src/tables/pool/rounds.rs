//! The loads of a workload, round by round, and what compares one with another.
//!
//! A machine that others use, too, is half as fast in one minute as in the next. So all that is divided
//! by each other comes from one round, within half a minute, and the rate of an open load from just
//! before it; the median is of the rounds' ratios.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use anyhow::{Context, Result};
use cornu::LiveRagIndex;
use cornu_eval::evidence::Measure;

use super::control::{Control, Pace};
use super::world::{CONTROL, POOL, SINGLE, Workload, World};
use crate::load::{self, Ask, Met};
use crate::timing::median;

/// Clients are threads of the process that answers: one for each core leaves none of them idle.
const SATURATING: usize = 2;
/// Threads that ask in an open load: more than wait at the same time where the pool keeps up.
const OPEN_CLIENTS: usize = 64;
const COMMITS_PER_SECOND: f64 = 5.0;

/// A load: its name, and who asks.
pub(super) struct Load {
    pub(super) name: &'static str,
    asks: Asks,
}

#[derive(Clone, Copy)]
enum Asks {
    /// So many clients, each as soon as it has its answer.
    Closed(usize),
    /// Questions arrive, at so many percent of the rate that the pool reached just before with one
    /// client for each core: beyond it there is no steady state to measure, and for short searches not
    /// even at 80.
    Open { percent: u32, waits: Waits },
}

/// What those do who wait for a question.
#[derive(Clone, Copy)]
enum Waits {
    Asleep,
    LookingAtTheClock,
}

/// One client, who finds everything idle; as many as this machine has cores; more than it can serve at
/// once; and open loads, of which the first mostly finds nobody before it.
pub(super) const LOADS: [Load; 9] = {
    use Waits::{Asleep, LookingAtTheClock};
    const fn closed(name: &'static str, clients: usize) -> Load {
        let asks = Asks::Closed(clients);
        Load { name, asks }
    }
    const fn open(name: &'static str, percent: u32, waits: Waits) -> Load {
        let asks = Asks::Open { percent, waits };
        Load { name, asks }
    }
    [
        closed(IDLE, 1),
        closed("2", SATURATING),
        closed("8", 8),
        closed("64", 64),
        open(CALM, 5, Asleep),
        open("open50", 50, Asleep),
        open("open80", 80, Asleep),
        open("polled50", 50, LookingAtTheClock),
        open("polled80", 80, LookingAtTheClock),
    ]
};
pub(super) const IDLE: &str = "1";
pub(super) const CALM: &str = "open5";

impl Load {
    pub(super) fn is_open(&self) -> bool {
        matches!(self.asks, Asks::Open { .. })
    }
}

/// How long a load lasts, and how often.
#[derive(Clone, Copy)]
pub(super) struct Lasts {
    pub(super) closed: Duration,
    pub(super) open: Duration,
    pub(super) rounds: u64,
}

/// Who is asked.
struct System<'w> {
    name: &'static str,
    /// Where the writer writes meanwhile.
    index: &'w LiveRagIndex,
    ask: Box<Ask<'w>>,
}

/// What all systems met in one round: by load and system.
pub(super) type Round = BTreeMap<(&'static str, &'static str), Met>;

/// What all rounds met.
#[derive(Default)]
pub(super) struct Rounds {
    rounds: Vec<Round>,
    /// By load and system with a cache: results that were not computed, and all.
    looked_up: BTreeMap<(&'static str, &'static str), (u64, u64)>,
}

/// What is done to a world.
#[derive(Clone, Copy)]
pub(super) struct Work<'w> {
    pub(super) world: &'w World,
    pub(super) workload: Workload,
    /// Whether somebody commits meanwhile.
    pub(super) writing: bool,
    pub(super) seed: u64,
    pub(super) lasts: Lasts,
}

impl Work<'_> {
    pub(super) fn measure(&self, pace: Pace) -> Result<Rounds> {
        let next = AtomicU64::new(0);
        let mut all = Rounds::default();
        for round in 0..self.lasts.rounds {
            let mut met = Round::new();
            let mut systems = self.systems();
            let (_, index) = self.world.systems.get(1).context("there is no pool")?;
            for load in &LOADS {
                self.turn(load, &systems, (round, &next), &mut met, &mut all)?;
                if load.name == IDLE {
                    // Counts for as long as the pool searched just now.
                    let idle = met.get(&(IDLE, POOL)).map_or(0.0, |met| met.quantile(0.5));
                    let places = index.options().store.readers;
                    let control = Control::new(places, Duration::from_secs_f64(idle), pace);
                    systems.push(System {
                        name: CONTROL,
                        index,
                        ask: Box::new(move |_| {
                            control.serve();
                            Ok(())
                        }),
                    });
                    let control = systems.last().map(std::slice::from_ref).unwrap_or_default();
                    self.turn(load, control, (round, &next), &mut met, &mut all)?;
                }
            }
            all.rounds.push(met);
        }
        Ok(all)
    }

    fn systems(&self) -> Vec<System<'_>> {
        let systems = self.world.systems.iter().map(|(name, index)| System {
            name,
            index,
            ask: Box::new(move |n| self.world.ask(index, self.workload, n)),
        });
        systems.collect()
    }

    /// One load over the systems, one after the other.
    fn turn(
        &self,
        load: &Load,
        systems: &[System<'_>],
        (round, next): (u64, &AtomicU64),
        met: &mut Round,
        all: &mut Rounds,
    ) -> Result<()> {
        let lasts = self.lasts;
        let closed = |clients: usize, system: &System<'_>| {
            self.beside(system, || {
                load::closed(clients, lasts.closed, next, &*system.ask)
            })
        };
        let saturated = match (load.asks, systems.iter().find(|one| one.name == POOL)) {
            (Asks::Open { .. }, Some(pool)) => closed(SATURATING, pool)?.rate(),
            _ => 0.0,
        };
        for system in systems {
            let before = looked_up(system.index);
            let found = match load.asks {
                Asks::Closed(clients) => closed(clients, system)?,
                Asks::Open { percent, waits } => {
                    let rate = saturated * f64::from(percent) / 100.0;
                    let (lasts, seed, ask) = (lasts.open, self.seed + round, &*system.ask);
                    self.beside(system, || match waits {
                        Waits::Asleep => load::open(OPEN_CLIENTS, rate, lasts, seed, next, ask),
                        Waits::LookingAtTheClock => {
                            load::polled(SATURATING, rate, lasts, seed, next, ask)
                        }
                    })?
                }
            };
            let key = (load.name, system.name);
            if let (Some(before), Some(after)) = (before, looked_up(system.index))
                && system.name != CONTROL
            {
                let of = all.looked_up.entry(key).or_default();
                of.0 += after.0 - before.0;
                of.1 += after.1 - before.1;
            }
            met.insert(key, found);
        }
        Ok(())
    }

    fn beside(&self, system: &System<'_>, load: impl FnOnce() -> Met) -> Result<Met> {
        if !self.writing {
            return Ok(load());
        }
        let commit = |n| self.world.commit(system.index, n);
        load::beside(COMMITS_PER_SECOND, &commit, load)
    }
}

/// Results that a cache gave without computing them, and all that it was asked for; `None` without one.
pub(super) fn looked_up(index: &LiveRagIndex) -> Option<(u64, u64)> {
    let (dense, sparse) = index.cache_metrics()?;
    let found = [dense, sparse].map(|one| one.hits + one.joined);
    let missed = [dense, sparse].map(|one| one.misses);
    let found: u64 = found.iter().sum();
    Some((found, found + missed.iter().sum::<u64>()))
}

impl Rounds {
    /// What a system met in a load, by round.
    pub(super) fn met(&self, load: &'static str, system: &'static str) -> Vec<&Met> {
        let one = |round: &'_ Round| round.contains_key(&(load, system));
        let found = self.rounds.iter().filter(|round| one(round));
        found
            .filter_map(|round| round.get(&(load, system)))
            .collect()
    }

    /// The median of a figure that each round gives, with the least and the largest: a round in which
    /// something else wanted the machine does not decide. `None` where a round lacks it.
    pub(super) fn typical(
        &self,
        unit: &str,
        n: u64,
        figure: impl Fn(&Round) -> Option<f64>,
    ) -> Option<Measure> {
        let figures: Vec<f64> = self.rounds.iter().map(figure).collect::<Option<_>>()?;
        let figures = Some(figures).filter(|figures| !figures.is_empty())?;
        Some(Measure {
            n,
            ..median(&figures, unit, |figure| figure)
        })
    }

    /// What part of a cache's look-ups were hits.
    pub(super) fn hits(&self, load: &'static str, system: &'static str) -> Option<f64> {
        let (hits, all) = self.looked_up.get(&(load, system))?;
        Some(*hits as f64 / (*all).max(1) as f64)
    }
}

/// A system's rate in a load of a round.
pub(super) fn rate(round: &Round, load: &'static str, system: &'static str) -> Option<f64> {
    Some(round.get(&(load, system))?.rate())
}

/// A quantile of its latencies, in seconds.
pub(super) fn quantile(
    round: &Round,
    load: &'static str,
    system: &'static str,
    part: f64,
) -> Option<f64> {
    Some(round.get(&(load, system))?.quantile(part))
}

/// What one connection answers in a second with the load's clients or with one, whichever is more: it
/// may answer more when it is never handed over.
pub(super) fn one_connection(round: &Round, load: &'static str) -> Option<f64> {
    let alone = rate(round, IDLE, SINGLE)?;
    Some(rate(round, load, SINGLE)?.max(alone))
}
