//! A number of places, lent in about the order in which they are asked for.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[cfg(all(test, loom))]
mod models;

use crate::metrics::LaneMetrics;
use crate::sync::{Condvar, Mutex};

/// A place in the pool: with a connection, or empty until somebody opens one.
pub(crate) type Place<C> = Option<C>;

/// A place, or why there is none.
pub(crate) type Outcome<C> = Result<Place<C>, Missed>;

/// Why a call got no place.
pub(crate) enum Missed {
    /// Its time was over; who held and who waited then.
    Late { in_use: usize, waiting: usize },
    /// The lane was closed.
    Closed,
}

/// How long the first in the queue lets others go before it. The longest wait grows by this for each
/// who stands before; a connection that changes threads costs a sleep and a wake, tens of
/// microseconds, so that few changes in this time cost little of it.
pub(crate) const COURTESY: Duration = Duration::from_micros(500);

/// No wait is longer; an `Instant` cannot count much further on every platform.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Places for connections of one role.
///
/// A place that comes back is free, and a thread that runs may take it before one that sleeps has
/// woken up: handed to a sleeper each time, it would lie idle for as long as a wake takes, and each
/// loan would cost a change of threads. But who has been first in the queue for [`COURTESY`] is given
/// the next place that comes back, and nobody can come in between. So a call that finds `n` before
/// it is served no later than `n + 1` times that and a loan's end each; among those who wait, first
/// come is first served.
pub(crate) struct Lane<C> {
    state: Mutex<State<C>>,
    /// Told when the last place of a closed lane has come back.
    drained: Condvar,
    courtesy: Duration,
}

struct State<C> {
    /// Empty places at the front, most recently used connections at the back.
    free: VecDeque<Place<C>>,
    /// By ticket, ascending.
    waiters: VecDeque<Waiter>,
    /// Places on their way to those who have left the queue for them.
    given: Vec<(u64, Place<C>)>,
    /// Whom a free place waits for. While one is on their way nobody else is woken; while a place
    /// is free and somebody waits, one is.
    called: Option<u64>,
    /// Since when the first in the queue is that.
    first_since: Instant,
    next_ticket: u64,
    /// Places that are out and will be given up when they come back.
    excess: usize,
    closed: bool,
    metrics: LaneMetrics,
}

struct Waiter {
    ticket: u64,
    bell: Arc<Condvar>,
}

impl<C> Lane<C> {
    pub(crate) fn new(size: usize, courtesy: Duration) -> Self {
        Self {
            state: Mutex::new(State {
                free: (0..size).map(|_| None).collect(),
                waiters: VecDeque::new(),
                given: Vec::new(),
                called: None,
                first_since: Instant::now(),
                next_ticket: 0,
                excess: 0,
                closed: false,
                metrics: LaneMetrics {
                    size,
                    ..LaneMetrics::default()
                },
            }),
            drained: Condvar::new(),
            courtesy,
        }
    }

    pub(crate) fn take(&self, timeout: Duration) -> Outcome<C> {
        let mut state = self.state.lock();
        if state.closed {
            return Err(Missed::Closed);
        }
        if let Some(place) = state.take_free() {
            state.metrics.waits.add(Duration::ZERO);
            return Ok(place);
        }
        let start = Instant::now();
        let deadline = start + timeout.min(LONGEST);
        let (ticket, bell) = state.queue(start);
        let (outcome, waited) = loop {
            let late = bell.wait_until(&mut state, deadline).timed_out();
            let now = Instant::now();
            if let Some(outcome) = state.outcome(ticket, late, now) {
                break (outcome, now.saturating_duration_since(start));
            }
        };
        state.metrics.longest_wait = state.metrics.longest_wait.max(waited);
        state.metrics.waits.add(waited);
        outcome
    }

    /// Takes a place back. `kept` is false when its connection was thrown away. What is given back
    /// in turn is a connection that nobody needs any more, to be closed outside of the lock.
    #[must_use]
    pub(crate) fn put(&self, place: Place<C>, kept: bool) -> Place<C> {
        let mut state = self.state.lock();
        if !kept {
            state.metrics.discarded += 1;
        }
        state.metrics.in_use -= 1;
        if state.closed || state.excess > 0 {
            state.excess = state.excess.saturating_sub(1);
            if state.closed && state.metrics.in_use == 0 {
                self.drained.notify_all();
            }
            return place;
        }
        state.take_back(place, self.courtesy, Instant::now);
        None
    }

    /// Has so many places from now on. Gives back connections that are free and too many; those
    /// that are out and too many are given up when they come back.
    #[must_use]
    pub(crate) fn resize(&self, size: usize) -> Vec<C> {
        let mut state = self.state.lock();
        let mut closed = Vec::new();
        while state.metrics.size > size {
            state.metrics.size -= 1;
            match state.free.pop_front() {
                Some(place) => closed.extend(place),
                None => state.excess += 1,
            }
        }
        while state.metrics.size < size {
            state.metrics.size += 1;
            if state.excess > 0 {
                state.excess -= 1;
                continue;
            }
            state.take_back(None, self.courtesy, Instant::now);
        }
        closed
    }

    /// Lends nothing from now on, and sends away who waits. Gives the connections that are free.
    #[must_use]
    pub(crate) fn close(&self) -> Vec<C> {
        let mut state = self.state.lock();
        state.closed = true;
        for waiter in state.waiters.drain(..) {
            waiter.bell.notify_one();
        }
        state.free.drain(..).flatten().collect()
    }

    /// Waits until all places of a closed lane are back; how many are not.
    pub(crate) fn wait_for_all(&self, deadline: Instant) -> usize {
        let mut state = self.state.lock();
        while state.metrics.in_use > 0 {
            if self.drained.wait_until(&mut state, deadline).timed_out() {
                break;
            }
        }
        state.metrics.in_use
    }

    pub(crate) fn count_opened(&self) {
        let mut state = self.state.lock();
        let metrics = &mut state.metrics;
        metrics.opened += 1;
        if metrics.replaced < metrics.discarded {
            metrics.replaced += 1;
        }
    }

    pub(crate) fn metrics(&self) -> LaneMetrics {
        self.state.lock().snapshot()
    }
}

impl<C> State<C> {
    fn take_free(&mut self) -> Option<Place<C>> {
        let place = self.free.pop_back()?;
        self.metrics.in_use += 1;
        Some(place)
    }

    /// Gives a place to the first in the queue if they have been that for long, or lets it lie for
    /// whoever comes first.
    fn take_back(&mut self, place: Place<C>, courtesy: Duration, now: impl Fn() -> Instant) {
        if !self.waiters.is_empty() {
            let now = now();
            if now.saturating_duration_since(self.first_since) >= courtesy
                && let Some(first) = self.waiters.pop_front()
            {
                self.metrics.in_use += 1;
                self.given.push((first.ticket, place));
                first.bell.notify_one();
                self.first_left(first.ticket, now);
                return;
            }
        }
        match place {
            Some(_) => self.free.push_back(place),
            None => self.free.push_front(place),
        }
        self.call();
    }

    /// What a waiter finds when it wakes up; `None` when it has to wait on.
    fn outcome(&mut self, ticket: u64, late: bool, now: Instant) -> Option<Outcome<C>> {
        let mine = self.given.iter().position(|(to, _)| *to == ticket);
        if let Some(at) = mine {
            return Some(Ok(self.given.swap_remove(at).1));
        }
        if self.closed {
            return Some(Err(Missed::Closed));
        }
        if self.called == Some(ticket) {
            self.called = None;
            if let Some(place) = self.take_free() {
                self.leave(ticket, now);
                return Some(Ok(place));
            }
        }
        if !late {
            return None;
        }
        self.leave(ticket, now);
        self.metrics.timeouts += 1;
        Some(Err(Missed::Late {
            in_use: self.metrics.in_use,
            waiting: self.waiters.len(),
        }))
    }

    fn queue(&mut self, now: Instant) -> (u64, Arc<Condvar>) {
        if self.waiters.is_empty() {
            self.first_since = now;
        }
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        let bell = Arc::new(Condvar::new());
        self.waiters.push_back(Waiter {
            ticket,
            bell: Arc::clone(&bell),
        });
        (ticket, bell)
    }

    fn leave(&mut self, ticket: u64, now: Instant) {
        if let Ok(at) = self.waiters.binary_search_by_key(&ticket, |one| one.ticket) {
            self.waiters.remove(at);
            if at == 0 {
                self.first_left(ticket, now);
            }
        }
    }

    fn first_left(&mut self, ticket: u64, now: Instant) {
        self.first_since = now;
        if self.called == Some(ticket) {
            self.called = None;
        }
        self.call();
    }

    /// Wakes the first in the queue when a place is free and nobody is on the way to it.
    fn call(&mut self) {
        if self.called.is_some() || self.free.is_empty() {
            return;
        }
        if let Some(first) = self.waiters.front() {
            self.called = Some(first.ticket);
            first.bell.notify_one();
        }
    }

    fn snapshot(&self) -> LaneMetrics {
        LaneMetrics {
            waiting: self.waiters.len(),
            ..self.metrics
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COURTESY: Duration = Duration::from_micros(500);

    proptest! {
        /// The worst that can be: whoever waits wakes too late for every free place, since somebody
        /// who runs takes it the moment it is there.
        #[test]
        fn nobody_waits_longer_than_the_bound(
            places in 1usize..4,
            loans in prop::collection::vec(1u64..3000, 1..40),
            gaps in prop::collection::vec(0u64..2000, 1..20),
        ) {
            let lane: Lane<()> = Lane::new(places, COURTESY);
            let mut state = lane.state.lock();
            let began = Instant::now();
            let at = |micros: u64| began + Duration::from_micros(micros);
            let mut loans = loans.iter().copied().cycle();
            let longest_loan = std::cell::Cell::new(0);
            let mut loan = |now: u64| {
                let loan = loans.next().unwrap_or(1);
                longest_loan.set(longest_loan.get().max(loan));
                now + loan
            };
            // When each place comes back, and who waits: ticket, since when, the bound in turns.
            let mut back: Vec<u64> = Vec::new();
            for _ in 0..places {
                prop_assert!(state.take_free().is_some());
                back.push(loan(0));
            }
            let mut waiting: Vec<(u64, u64, u64)> = Vec::new();
            let mut arrivals = gaps.iter().scan(0, |now, gap| {
                *now += gap;
                Some(*now)
            }).peekable();
            while arrivals.peek().is_some() || !waiting.is_empty() {
                let next_back = back.iter().copied().min().unwrap_or(u64::MAX);
                if let Some(now) = arrivals.next_if(|&arrival| arrival <= next_back) {
                    let (ticket, _) = state.queue(at(now));
                    waiting.push((ticket, now, waiting.len() as u64 + 1));
                    continue;
                }
                let now = next_back;
                let place = back.iter().position(|&one| one == now).unwrap_or(0);
                state.metrics.in_use -= 1;
                state.take_back(Some(()), COURTESY, || at(now));
                for (_, since, turns) in &waiting {
                    let (waited, bound) = (now - since, turns * (500 + longest_loan.get()));
                    prop_assert!(waited <= bound, "{waited} µs of at most {bound}");
                }
                match state.given.pop() {
                    Some((ticket, _)) => {
                        prop_assert_eq!(ticket, waiting.remove(0).0, "first come, first served");
                    }
                    None => prop_assert!(state.take_free().is_some()),
                }
                back[place] = loan(now);
            }
        }
    }

    /// A place that was let lie is not forgotten when the one who was called for it gives up.
    #[test]
    fn who_leaves_passes_the_call_on() {
        let lane: Lane<()> = Lane::new(1, Duration::MAX);
        let mut state = lane.state.lock();
        let now = Instant::now();
        let place = state.take_free().unwrap();
        let (first, _) = state.queue(now);
        let (second, _) = state.queue(now);
        state.metrics.in_use -= 1;
        state.take_back(place, Duration::MAX, || now);
        assert_eq!(state.called, Some(first));
        // Somebody was faster, gave it back, and the first's time is over.
        let place = state.take_free().unwrap();
        assert!(state.outcome(first, false, now).is_none());
        assert_eq!(state.called, None);
        state.metrics.in_use -= 1;
        state.take_back(place, Duration::MAX, || now);
        assert_eq!(state.called, Some(first));
        state.leave(first, now);
        assert_eq!(state.called, Some(second));
        assert!(matches!(state.outcome(second, true, now), Some(Ok(_))));
    }
}
