//! Many clients at once: how many answers a second, and how long each waits.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use parking_lot::{Condvar, Mutex};
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
    /// Questions that were answered while the clock ran.
    pub answers: u64,
    /// Questions that were answered with an error.
    pub errors: u64,
    /// How long the clock ran: from the first question, or where an open load begins to count, to the
    /// last answer.
    pub seconds: f64,
}

impl Met {
    /// Answers a second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.answers as f64 / self.seconds.max(f64::MIN_POSITIVE)
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

    /// What came of a question that was due at one moment and ended at another.
    fn note(&mut self, answer: &Result<()>, due: f64, ended: f64, counted: f64) {
        // A backlog from before is answered within the time, so it is part of the rate.
        self.answers += u64::from(answer.is_ok() && ended >= counted);
        match answer {
            _ if due < counted => {}
            Ok(()) => self.latencies.push(ended - due),
            Err(_) => self.errors += 1,
        }
    }

    /// Both together.
    pub fn add(&mut self, other: Self) {
        self.latencies.extend(other.latencies);
        self.answers += other.answers;
        self.errors += other.errors;
        self.seconds += other.seconds;
    }
}

/// Each client asks again as soon as it has its answer. `next` numbers the questions, so that
/// rounds can go on where others ended.
pub fn closed(clients: usize, lasts: Duration, next: &AtomicU64, ask: &Ask<'_>) -> Met {
    let client = |_, start: Instant| {
        let mut met = Met::default();
        while start.elapsed() < lasts {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let asked = Instant::now();
            match ask(number) {
                Ok(()) => {
                    met.latencies.push(asked.elapsed().as_secs_f64());
                    met.answers += 1;
                }
                Err(_) => met.errors += 1,
            }
        }
        met
    };
    together(clients, || first(next, ask), client)
}

/// Questions arrive at `rate` a second, at random moments (Poisson), whether or not earlier ones
/// have been answered. A latency counts from the moment at which the question was to be asked, so a
/// server that stalls is not excused from those who would have come meanwhile. It begins a tenth of a
/// second before what is counted.
///
/// The next question is asked by the client who has been idle for the shortest time, as workers
/// behind a socket are woken: sixty-four in turn would bring each question to a thread whose stack
/// and heap have left the caches, which is no part of the rate.
pub fn open(
    clients: usize,
    rate: f64,
    lasts: Duration,
    seed: u64,
    next: &AtomicU64,
    ask: &Ask<'_>,
) -> Met {
    let Times { counted, due } = Times::draw(rate, lasts, seed);
    let arrivals = Arrivals::new(due, clients);
    let take = |who: usize, start: Instant| {
        let due = arrivals.take(who)?;
        let early = due - start.elapsed().as_secs_f64();
        if early > 0.0 {
            thread::sleep(Duration::from_secs_f64(early));
        }
        arrivals.begin();
        Some(due)
    };
    arriving(clients, counted, next, ask, take)
}

/// As [`open`], but who waits for a question never sleeps: each of `threads` takes the next one and
/// looks at the clock until it is due, giving its core to whoever wants it meanwhile. So a server with
/// one such thread for each core does it; nobody has to be woken, and the caches stay as they were.
pub fn polled(
    threads: usize,
    rate: f64,
    lasts: Duration,
    seed: u64,
    next: &AtomicU64,
    ask: &Ask<'_>,
) -> Met {
    let Times { counted, due } = Times::draw(rate, lasts, seed);
    let taken = AtomicUsize::new(0);
    let take = |_, start: Instant| {
        let due = *due.get(taken.fetch_add(1, Ordering::Relaxed))?;
        while start.elapsed().as_secs_f64() < due {
            thread::yield_now();
        }
        Some(due)
    };
    arriving(threads, counted, next, ask, take)
}

/// Each client asks what it `take`s, which waits until that is due, until there is no more.
fn arriving(
    clients: usize,
    counted: f64,
    next: &AtomicU64,
    ask: &Ask<'_>,
    take: impl Fn(usize, Instant) -> Option<f64> + Sync,
) -> Met {
    let client = |who: usize, start: Instant| {
        let mut met = Met::default();
        sleep_precisely();
        while let Some(due) = take(who, start) {
            let answer = ask(next.fetch_add(1, Ordering::Relaxed));
            met.note(&answer, due, start.elapsed().as_secs_f64(), counted);
        }
        met
    };
    let mut met = together(clients, || first(next, ask), client);
    met.seconds = (met.seconds - counted).max(0.0);
    met
}

/// When questions arrive, in seconds from the start.
struct Times {
    /// From when on they count.
    counted: f64,
    due: Vec<f64>,
}

impl Times {
    fn draw(rate: f64, lasts: Duration, seed: u64) -> Self {
        let mut random = Pcg64::new(seed.into(), 3);
        let mut at = SETTLED.as_secs_f64();
        let counted = at + WARM.as_secs_f64();
        let end = counted + lasts.as_secs_f64();
        let due = std::iter::repeat_with(|| {
            at -= uniform(&mut random).ln() / rate;
            at
        })
        .take_while(|at| *at < end)
        .collect();
        Self { counted, due }
    }
}

/// From the moment at which all clients are let go to that from which questions arrive: sixty-four
/// threads that wake at once keep the cores busy for some milliseconds.
const SETTLED: Duration = Duration::from_millis(20);

/// For how long questions arrive before they count: what another system has left in the caches, and
/// each client's first turns, are no part of a load that goes on.
const WARM: Duration = Duration::from_millis(100);

/// Clients who sleep until a question of theirs arrives. Some, so that the next does not have to be
/// woken by who asks; few, so that those who asked last ask again.
const READY: usize = 4;

/// When questions arrive, and who asks them.
struct Arrivals {
    due: Vec<f64>,
    clients: Mutex<Clients>,
    bells: Vec<Condvar>,
}

#[derive(Default)]
struct Clients {
    /// The next question that nobody has taken.
    next: usize,
    /// Clients who have taken one that they have not begun with.
    ready: usize,
    /// Clients who have taken none; who came last is called first.
    idle: Vec<usize>,
}

impl Arrivals {
    fn new(due: Vec<f64>, clients: usize) -> Self {
        Self {
            due,
            clients: Mutex::default(),
            bells: (0..clients).map(|_| Condvar::new()).collect(),
        }
    }

    /// Takes the next question, as soon as too few stand ready; when it is due. `None` when all have
    /// been taken.
    fn take(&self, who: usize) -> Option<f64> {
        let mut clients = self.clients.lock();
        while clients.ready >= READY && clients.next < self.due.len() {
            clients.idle.push(who);
            while clients.idle.contains(&who) {
                self.bells.get(who)?.wait(&mut clients);
            }
        }
        let Some(&due) = self.due.get(clients.next) else {
            // So that all come to know.
            self.call(&mut clients);
            return None;
        };
        clients.next += 1;
        clients.ready += 1;
        Some(due)
    }

    /// A client begins with the question that it has taken.
    fn begin(&self) {
        let mut clients = self.clients.lock();
        clients.ready -= 1;
        if clients.ready == 0 {
            self.call(&mut clients);
        }
    }

    fn call(&self, clients: &mut Clients) {
        if let Some(bell) = clients.idle.pop().and_then(|who| self.bells.get(who)) {
            bell.notify_one();
        }
    }
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
    client: impl Fn(usize, Instant) -> Met + Sync,
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
            .map(|who| {
                let (client, start) = (&client, &start);
                scope.spawn(move || client(who, start()))
            })
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
            answers: 100,
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
        for open in [open, polled] {
            let met = open(1, 500.0, lasts, 1, &next, &slow);
            assert!(met.quantile(0.5) > 4.0 * closed.quantile(0.5), "{met:?}");
            // Those who waited since before are answered, too.
            assert!(met.answers > met.latencies.len() as u64 && met.seconds > 0.3);
        }
    }

    #[test]
    fn no_question_of_an_open_load_is_asked_before_it_is_due() {
        for open in [open, polled] {
            let next = AtomicU64::new(0);
            let met = open(2, 200.0, Duration::from_millis(200), 3, &next, &|_| Ok(()));
            assert!(met.latencies.len() > 10, "{met:?}");
            assert!(met.latencies.iter().all(|took| *took >= 0.0), "{met:?}");
        }
    }

    /// Who waits for others does so in the server; who has nothing to do lies still.
    #[test]
    fn few_clients_ask_where_answers_are_quick_and_all_where_they_are_slow() {
        let askers = |takes: Duration| {
            let who = std::sync::Mutex::new(std::collections::HashSet::new());
            let ask = |number| {
                // Each client asks one before the load.
                if number >= 32 {
                    who.lock().unwrap().insert(thread::current().id());
                    thread::sleep(takes);
                }
                Ok(())
            };
            let next = AtomicU64::new(0);
            let met = open(32, 400.0, Duration::from_millis(250), 2, &next, &ask);
            let counted = met.latencies.len() as u64;
            assert!(counted > 50 && counted < next.into_inner() - 32);
            who.into_inner().unwrap().len()
        };
        let (quick, slow) = (askers(Duration::ZERO), askers(Duration::from_millis(200)));
        assert!(quick < slow, "{quick} {slow}");
        assert_eq!(slow, 32);
    }

    #[test]
    fn who_lay_down_last_is_called_first() {
        let arrivals = Arrivals::new(Vec::new(), 3);
        let mut clients = arrivals.clients.lock();
        clients.idle = vec![1, 0, 2];
        arrivals.call(&mut clients);
        assert_eq!(clients.idle, [1, 0]);
    }

    #[test]
    fn failures_of_the_work_beside_are_errors() {
        let next = AtomicU64::new(0);
        let load = || closed(2, Duration::from_millis(60), &next, &|_| Ok(()));
        let met = beside(100.0, &|_| anyhow::bail!("locked"), load).unwrap();
        assert!(met.errors > 0);
    }
}
