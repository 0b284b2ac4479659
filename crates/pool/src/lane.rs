//! A number of places, lent in the order in which they are asked for, as long as those who wait come
//! when they are called.

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

/// How long those who wait are waited for, and how long they let others go before them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manners {
    /// How long a place that came back is kept for the one who was called. A thread that finds a core
    /// is there in ten to fifty microseconds, and where cores are busy with searches one is free after
    /// about as long; who is not there after this is taken to have none.
    pub(crate) grace: Duration,
    /// How long the first in the queue lets others go before it, when it is not there in time. The
    /// longest wait grows by this for each who stands before. As long as two short searches: with a
    /// longer one who waits beyond saturation waits longer, with a shorter one the threads that run
    /// are put to sleep more often, and fewer are answered.
    pub(crate) courtesy: Duration,
}

impl Default for Manners {
    fn default() -> Self {
        Self {
            grace: Duration::from_micros(100),
            courtesy: Duration::from_micros(200),
        }
    }
}

/// No wait is longer; an `Instant` cannot count much further on every platform.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Places for connections of one role.
///
/// A place that comes back is free, and the first in the queue is called to it. Who comes meanwhile
/// has to queue: so threads that run do not pass those that sleep, and where there are cores for those
/// who are called, all are served in the order of arrival.
///
/// But a call wakes a thread, and the system may let it wait for a core, for milliseconds where other
/// programs run, too. Kept for it all that time, places would lie idle while threads that do run queue
/// up, and a pool would serve the less the busier its machine is. So after [`grace`](Manners::grace)
/// a free place is anybody's; who was called keeps their turn. And whoever has been first for as long
/// as [`courtesy`](Manners::courtesy) is given the next place that comes back, and nobody can come in
/// between. So a call that finds `n` before it is served no later than `n + 1` times the courtesy and
/// a loan's end each.
pub(crate) struct Lane<C> {
    state: Mutex<State<C>>,
    /// Told when the last place of a closed lane has come back.
    drained: Condvar,
    manners: Manners,
}

struct State<C> {
    /// Empty places at the front, most recently used connections at the back.
    free: VecDeque<Place<C>>,
    /// By ticket, ascending. As many as places are free, from the first on, have been called.
    waiters: VecDeque<Waiter>,
    /// Places on their way to those who have left the queue for them.
    given: Vec<(u64, Place<C>)>,
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
    /// Since when a place waits for them, or did until somebody took it; they have not come yet.
    called: Option<Instant>,
    bell: Arc<Condvar>,
}

impl<C> Lane<C> {
    pub(crate) fn new(size: usize, manners: Manners) -> Self {
        Self {
            state: Mutex::new(State {
                free: (0..size).map(|_| None).collect(),
                waiters: VecDeque::new(),
                given: Vec::new(),
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
            manners,
        }
    }

    pub(crate) fn take(&self, timeout: Duration) -> Outcome<C> {
        let mut state = self.state.lock();
        if state.closed {
            return Err(Missed::Closed);
        }
        if let Some(place) = state.take_at_once(self.manners.grace, Instant::now) {
            state.metrics.waits.add(Duration::ZERO);
            return Ok(place);
        }
        let start = Instant::now();
        let deadline = start + timeout.min(LONGEST);
        let (ticket, bell) = state.queue(start);
        let (outcome, waited) = loop {
            let late = bell.wait_until(&mut state, deadline).timed_out();
            let now = Instant::now();
            if let Some(outcome) = state.outcome(ticket, late, self.manners.grace, now) {
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
        state.take_back(place, self.manners.courtesy, Instant::now);
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
            state.take_back(None, self.manners.courtesy, Instant::now);
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
    /// A place for who has just come: one more than are waited for, or one that waits in vain.
    fn take_at_once(&mut self, grace: Duration, now: impl FnOnce() -> Instant) -> Option<Place<C>> {
        if let Some(first) = self.waiters.front()
            && self.free.len() <= self.waiters.len()
        {
            let waits = now().saturating_duration_since(first.called?);
            if waits < grace {
                return None;
            }
        }
        self.take_free()
    }

    fn take_free(&mut self) -> Option<Place<C>> {
        let place = self.free.pop_back()?;
        self.metrics.in_use += 1;
        Some(place)
    }

    /// Gives a place to the first in the queue if they have been that for long, or calls the next who
    /// has not been called.
    fn take_back(&mut self, place: Place<C>, courtesy: Duration, now: impl FnOnce() -> Instant) {
        let now = (!self.waiters.is_empty()).then(now);
        if let Some(now) = now
            && now.saturating_duration_since(self.first_since) >= courtesy
            && let Some(first) = self.waiters.pop_front()
        {
            self.metrics.in_use += 1;
            self.given.push((first.ticket, place));
            first.bell.notify_one();
            self.first_left(now);
            return;
        }
        match place {
            Some(_) => self.free.push_back(place),
            None => self.free.push_front(place),
        }
        if let Some(now) = now {
            self.call(now);
        }
    }

    /// What a waiter finds when it wakes up; `None` when it has to wait on.
    fn outcome(
        &mut self,
        ticket: u64,
        late: bool,
        grace: Duration,
        now: Instant,
    ) -> Option<Outcome<C>> {
        let mine = self.given.iter().position(|(to, _)| *to == ticket);
        if let Some(at) = mine {
            return Some(Ok(self.given.swap_remove(at).1));
        }
        if self.closed {
            return Some(Err(Missed::Closed));
        }
        if let Ok(at) = self.place_in_queue(ticket) {
            if at < self.free.len()
                && let Some(place) = self.take_free()
            {
                self.leave(ticket, now);
                return Some(Ok(place));
            }
            // Somebody was faster, or nobody called.
            if let Some(waiter) = self.waiters.get_mut(at) {
                waiter.called = None;
            }
        }
        if !late {
            return None;
        }
        // With no time left they get what somebody who comes now would get.
        if let Some(place) = self.take_at_once(grace, || now) {
            self.leave(ticket, now);
            return Some(Ok(place));
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
            called: None,
            bell: Arc::clone(&bell),
        });
        (ticket, bell)
    }

    fn place_in_queue(&self, ticket: u64) -> Result<usize, usize> {
        self.waiters.binary_search_by_key(&ticket, |one| one.ticket)
    }

    fn leave(&mut self, ticket: u64, now: Instant) {
        if let Ok(at) = self.place_in_queue(ticket) {
            self.waiters.remove(at);
            if at == 0 {
                self.first_left(now);
            }
        }
    }

    fn first_left(&mut self, now: Instant) {
        self.first_since = now;
        self.call(now);
    }

    /// Wakes those for whom a place is free and who do not know it.
    fn call(&mut self, now: Instant) {
        let free = self.free.len();
        for waiter in self.waiters.iter_mut().take(free) {
            if waiter.called.is_none() {
                waiter.called = Some(now);
                waiter.bell.notify_one();
            }
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
mod tests;
