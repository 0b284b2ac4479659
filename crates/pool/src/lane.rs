//! A fixed number of places, handed out in the order in which they are asked for.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use parking_lot::Mutex;

use crate::metrics::LaneMetrics;

/// A place in the pool: with a connection, or empty until somebody opens one.
pub(crate) type Place<C> = Option<C>;

/// A place, or what the lane looked like when the time was over.
pub(crate) type Outcome<C> = Result<Place<C>, LaneMetrics>;

/// No wait is longer; an `Instant` cannot count much further on every platform.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Places for connections of one role.
///
/// Whoever returns a place gives it to the one who has waited longest, through a channel that
/// belongs to that one alone; nobody can come in between. So the order is first come, first
/// served, which a channel shared by all does not promise.
pub(crate) struct Lane<C> {
    state: Mutex<State<C>>,
}

struct State<C> {
    /// Empty places at the front, most recently used connections at the back.
    free: VecDeque<Place<C>>,
    waiters: VecDeque<Waiter<C>>,
    next_ticket: u64,
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
                metrics: LaneMetrics {
                    size,
                    ..LaneMetrics::default()
                },
            }),
        }
    }

    pub(crate) fn take(&self, timeout: Duration) -> Outcome<C> {
        let start = Instant::now();
        let (ticket, hand) = {
            let mut state = self.state.lock();
            // Who waits is served first; with places free, nobody waits.
            if let Some(place) = state.free.pop_back() {
                state.metrics.in_use += 1;
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
        place
    }

    /// Takes a place back. `kept` is false when its connection was thrown away.
    pub(crate) fn put(&self, place: Place<C>, kept: bool) {
        let mut state = self.state.lock();
        if !kept {
            state.metrics.discarded += 1;
        }
        let mut place = place;
        while let Some(waiter) = state.waiters.pop_front() {
            match waiter.hand.try_send(place) {
                Ok(()) => return,
                // Cannot happen while a waiter leaves the queue before its receiver goes.
                Err(refused) => place = refused.into_inner(),
            }
        }
        state.metrics.in_use -= 1;
        match place {
            Some(_) => state.free.push_back(place),
            None => state.free.push_front(place),
        }
    }

    pub(crate) fn count_opened(&self) {
        self.state.lock().metrics.opened += 1;
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
        state.waiters.retain(|waiter| waiter.ticket != ticket);
        state.metrics.timeouts += 1;
        Err(state.snapshot())
    }
}

impl<C> State<C> {
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
