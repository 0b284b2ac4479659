//! Many clients at once: how many answers a second, and how long each waits.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng as _;

use crate::timing::quantile;

/// Asks the n-th question; `Err` counts as an error.
pub type Ask<'a> = dyn Fn(u64) -> Result<()> + Sync + 'a;

/// What a load met.
#[derive(Debug, Clone, Default)]
pub struct Met {
    /// Seconds that each answered question took, in no order.
    pub latencies: Vec<f64>,
    /// Questions that were answered with an error.
    pub errors: u64,
    /// How long the load lasted, its last answer included.
    pub seconds: f64,
}

impl Met {
    /// Answers a second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.latencies.len() as f64 / self.seconds.max(f64::MIN_POSITIVE)
    }

    /// Errors, as a part of all.
    #[must_use]
    pub fn error_rate(&self) -> f64 {
        let all = self.errors as f64 + self.latencies.len() as f64;
        self.errors as f64 / all.max(1.0)
    }

    /// The latency that a part of the answers does not exceed (nearest rank), in seconds.
    #[must_use]
    pub fn quantile(&self, part: f64) -> f64 {
        quantile(&self.latencies, part)
    }

    /// Both together.
    pub fn add(&mut self, other: Self) {
        self.latencies.extend(other.latencies);
        self.errors += other.errors;
        self.seconds += other.seconds;
    }
}

/// Each client asks again as soon as it has its answer. `next` numbers the questions, so that
/// rounds can go on where others ended.
pub fn closed(clients: usize, lasts: Duration, next: &AtomicU64, ask: &Ask<'_>) -> Met {
    let client = |start: Instant| {
        let mut met = Met::default();
        while start.elapsed() < lasts {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let asked = Instant::now();
            match ask(number) {
                Ok(()) => met.latencies.push(asked.elapsed().as_secs_f64()),
                Err(_) => met.errors += 1,
            }
        }
        met
    };
    together(clients, || first(next, ask), client)
}

/// Questions arrive at `rate` a second, at random moments (Poisson), whether or not earlier ones
/// have been answered. A latency counts from the moment at which the question was to be asked, so a
/// server that stalls is not excused from those who would have come meanwhile.
pub fn open(
    clients: usize,
    rate: f64,
    lasts: Duration,
    seed: u64,
    next: &AtomicU64,
    ask: &Ask<'_>,
) -> Met {
    let mut random = Pcg64::new(seed.into(), 3);
    let mut at = 0.0;
    let arrivals: Vec<f64> = std::iter::repeat_with(|| {
        at -= uniform(&mut random).ln() / rate;
        at
    })
    .take_while(|at| *at < lasts.as_secs_f64())
    .collect();
    let taken = AtomicU64::new(0);
    let client = |start: Instant| {
        let mut met = Met::default();
        sleep_precisely();
        loop {
            let place = taken.fetch_add(1, Ordering::Relaxed);
            let Some(&due) = arrivals.get(place as usize) else {
                return met;
            };
            let early = due - start.elapsed().as_secs_f64();
            if early > 0.0 {
                thread::sleep(Duration::from_secs_f64(early));
            }
            match ask(next.fetch_add(1, Ordering::Relaxed)) {
                Ok(()) => met.latencies.push(start.elapsed().as_secs_f64() - due),
                Err(_) => met.errors += 1,
            }
        }
    };
    together(clients, || first(next, ask), client)
}

/// Does `work` again and again, so many times a second, while `load` runs; gives what the load met,
/// with the failures of the work among its errors.
///
/// # Errors
/// When the working thread panicked.
pub fn beside(per_second: f64, work: &Ask<'_>, load: impl FnOnce() -> Met) -> Result<Met> {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let mut failed = 0;
            for number in 0.. {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                failed += u64::from(work(number).is_err());
                // Woken when the load is over.
                thread::park_timeout(Duration::from_secs_f64(1.0 / per_second));
            }
            failed
        });
        let mut met = load();
        over.store(true, Ordering::Relaxed);
        worker.thread().unpark();
        let failed = worker.join().ok().context("the writer panicked")?;
        met.errors += failed;
        Ok(met)
    })
}

/// Linux may end a sleep 50 µs late to spare itself a wake, half of a short search; not for the
/// thread that calls this. Where that cannot be asked for, sleeps are as they are.
fn sleep_precisely() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_timerslack(1);
}

/// From 0 to 1, never 0.
pub(crate) fn uniform(random: &mut Pcg64) -> f64 {
    ((random.next_u64() >> 11) as f64 + 1.0) / (1_u64 << 53) as f64
}

/// A client's first question, before the clock starts. A thread that is new pays for its stack, its
/// heap and its caches with it, which no later question does.
fn first(next: &AtomicU64, ask: &Ask<'_>) {
    // An error comes again when it counts.
    let _ = ask(next.fetch_add(1, Ordering::Relaxed));
}

/// Lets clients go at the same moment, when all of them are there and ready: sixty-four threads take
/// milliseconds to start, which is no part of a load.
fn together(
    clients: usize,
    get_ready: impl Fn() + Sync,
    client: impl Fn(Instant) -> Met + Sync,
) -> Met {
    let (all_there, begun) = (Barrier::new(clients), OnceLock::new());
    let start = || {
        get_ready();
        all_there.wait();
        *begun.get_or_init(Instant::now)
    };
    let mut all = Met::default();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|_| scope.spawn(|| client(start())))
            .collect();
        for thread in threads {
            match thread.join() {
                Ok(met) => all.add(met),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    all.seconds = begun
        .get()
        .map_or(0.0, |start| start.elapsed().as_secs_f64());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_the_nearest_rank() {
        let met = Met {
            latencies: (1..=100).rev().map(f64::from).collect(),
            errors: 25,
            seconds: 10.0,
        };
        assert_eq!((met.quantile(0.5), met.quantile(0.99)), (50.0, 99.0));
        assert_eq!((met.rate(), met.error_rate()), (10.0, 0.2));
        assert_eq!(Met::default().quantile(0.99), 0.0);
    }

    /// A server that answers one at a time in 5 ms is asked every 2 ms: who measures from the
    /// moment of asking sees 5 ms, who measures from the moment at which it was due sees the queue.
    #[test]
    fn an_open_load_counts_the_wait_before_the_question() {
        let one = std::sync::Mutex::new(());
        let slow = |_| {
            let _turn = one.lock().unwrap();
            thread::sleep(Duration::from_millis(5));
            Ok(())
        };
        let lasts = Duration::from_millis(200);
        let next = AtomicU64::new(0);
        let closed = closed(1, lasts, &next, &slow);
        let open = open(1, 500.0, lasts, 1, &next, &slow);
        assert!(open.quantile(0.5) > 4.0 * closed.quantile(0.5), "{open:?}");
        assert!(open.seconds > 0.3);
    }

    #[test]
    fn failures_of_the_work_beside_are_errors() {
        let next = AtomicU64::new(0);
        let load = || closed(2, Duration::from_millis(60), &next, &|_| Ok(()));
        let met = beside(100.0, &|_| anyhow::bail!("locked"), load).unwrap();
        assert!(met.errors > 0);
    }
}
