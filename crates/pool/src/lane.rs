//! A number of places, handed out in the order in which they are asked for.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use parking_lot::{Condvar, Mutex};

use crate::metrics::LaneMetrics;

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

/// No wait is longer; an `Instant` cannot count much further on every platform.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Places for connections of one role.
///
/// Whoever returns a place gives it to the one who has waited longest, through a channel that
/// belongs to that one alone; nobody can come in between. So the order is first come, first
/// served, which a channel shared by all does not promise.
pub(crate) struct Lane<C> {
    state: Mutex<State<C>>,
    /// Told when the last place of a closed lane has come back.
    drained: Condvar,
}

struct State<C> {
    /// Empty places at the front, most recently used connections at the back.
    free: VecDeque<Place<C>>,
    waiters: VecDeque<Waiter<C>>,
    next_ticket: u64,
    /// Places that are out and will be given up when they come back.
    excess: usize,
    closed: bool,
    metrics: LaneMetrics,
}

struct Waiter<C> {
    ticket: u64,
    hand: Sender<Place<C>>,
}

impl<C> Lane<C> {
    pub(crate) fn new(size: usize) -> Self {
        Self {
            state: Mutex::new(State {
                free: (0..size).map(|_| None).collect(),
                waiters: VecDeque::new(),
                next_ticket: 0,
                excess: 0,
                closed: false,
                metrics: LaneMetrics {
                    size,
                    ..LaneMetrics::default()
                },
            }),
            drained: Condvar::new(),
        }
    }

    pub(crate) fn take(&self, timeout: Duration) -> Outcome<C> {
        let start = Instant::now();
        let (ticket, hand) = {
            let mut state = self.state.lock();
            if state.closed {
                return Err(Missed::Closed);
            }
            // Who waits is served first; with places free, nobody waits.
            if let Some(place) = state.free.pop_back() {
                state.metrics.in_use += 1;
                state.metrics.waits.add(Duration::ZERO);
                return Ok(place);
            }
            state.queue()
        };
        let deadline = start + timeout.min(LONGEST);
        let place = match hand.recv_deadline(deadline) {
            Ok(place) => Ok(place),
            Err(_) => self.give_up(ticket, &hand),
        };
        let mut state = self.state.lock();
        let waited = start.elapsed();
        state.metrics.longest_wait = state.metrics.longest_wait.max(waited);
        state.metrics.waits.add(waited);
        place
    }

    /// Takes a place back. `kept` is false when its connection was thrown away. What is given back
    /// in turn is a connection that nobody needs any more, to be closed outside of the lock.
    #[must_use]
    pub(crate) fn put(&self, place: Place<C>, kept: bool) -> Place<C> {
        let mut state = self.state.lock();
        if !kept {
            state.metrics.discarded += 1;
        }
        if state.closed || state.excess > 0 {
            state.excess = state.excess.saturating_sub(1);
            state.metrics.in_use -= 1;
            if state.closed && state.metrics.in_use == 0 {
                self.drained.notify_all();
            }
            return place;
        }
        if let Some(place) = state.hand_over(place) {
            state.metrics.in_use -= 1;
            match place {
                Some(_) => state.free.push_back(place),
                None => state.free.push_front(place),
            }
        }
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
            state.metrics.in_use += 1;
            if let Some(place) = state.hand_over(None) {
                state.metrics.in_use -= 1;
                state.free.push_front(place);
            }
        }
        closed
    }

    /// Lends nothing from now on, and sends away who waits. Gives the connections that are free.
    #[must_use]
    pub(crate) fn close(&self) -> Vec<C> {
        let mut state = self.state.lock();
        state.closed = true;
        // Who waits on a channel without a sender is told at once.
        state.waiters.clear();
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

    /// Leaves the queue; a place that was handed over at the last moment still counts.
    fn give_up(&self, ticket: u64, hand: &Receiver<Place<C>>) -> Outcome<C> {
        let mut state = self.state.lock();
        if let Ok(place) = hand.try_recv() {
            return Ok(place);
        }
        if state.closed {
            return Err(Missed::Closed);
        }
        state.waiters.retain(|waiter| waiter.ticket != ticket);
        state.metrics.timeouts += 1;
        Err(Missed::Late {
            in_use: state.metrics.in_use,
            waiting: state.waiters.len(),
        })
    }
}

impl<C> State<C> {
    /// Gives a place to the one who has waited longest; back again when nobody waits.
    fn hand_over(&mut self, place: Place<C>) -> Option<Place<C>> {
        let mut place = place;
        while let Some(waiter) = self.waiters.pop_front() {
            match waiter.hand.try_send(place) {
                Ok(()) => return None,
                // Cannot happen while a waiter leaves the queue before its receiver goes.
                Err(refused) => place = refused.into_inner(),
            }
        }
        Some(place)
    }

    fn queue(&mut self) -> (u64, Receiver<Place<C>>) {
        let (hand, receiver) = bounded(1);
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.waiters.push_back(Waiter { ticket, hand });
        (ticket, receiver)
    }

    fn snapshot(&self) -> LaneMetrics {
        LaneMetrics {
            waiting: self.waiters.len(),
            ..self.metrics
        }
    }
}
