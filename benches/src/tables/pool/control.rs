//! A server that holds nothing of ours: what a load meets in it is the machine's and the generator's.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// As many places as the pool has, given strictly in the order of arrival, and a place is held for
/// as long as a core needs to count to a number.
pub(super) struct Control {
    places: Mutex<Places>,
    steps: u64,
}

struct Places {
    free: usize,
    waiting: VecDeque<Arc<Waiter>>,
}

struct Waiter {
    thread: Thread,
    called: AtomicBool,
}

impl Control {
    /// `service` is what one question takes on a core that nobody else wants.
    pub(super) fn new(places: usize, service: Duration, pace: Pace) -> Self {
        Self {
            places: Mutex::new(Places {
                free: places,
                waiting: VecDeque::new(),
            }),
            steps: (service.as_secs_f64() * pace.0) as u64,
        }
    }

    pub(super) fn serve(&self) {
        self.enter();
        count(self.steps);
        self.leave();
    }

    fn enter(&self) {
        let waiter = {
            let mut places = self.places.lock();
            if places.free > 0 {
                places.free -= 1;
                return;
            }
            let waiter = Arc::new(Waiter {
                thread: thread::current(),
                called: AtomicBool::new(false),
            });
            places.waiting.push_back(Arc::clone(&waiter));
            waiter
        };
        while !waiter.called.load(Ordering::Acquire) {
            thread::park();
        }
    }

    fn leave(&self) {
        let mut places = self.places.lock();
        match places.waiting.pop_front() {
            Some(next) => {
                drop(places);
                next.called.store(true, Ordering::Release);
                next.thread.unpark();
            }
            None => places.free += 1,
        }
    }
}

/// Steps of [`count`] a second, on a core of this machine that nobody else wants.
#[derive(Clone, Copy)]
pub(super) struct Pace(f64);

impl Pace {
    /// The best of many short tries: others can only slow it down.
    pub(super) fn measure() -> Self {
        const STEPS: u64 = 100_000;
        let once = || {
            let start = Instant::now();
            count(STEPS);
            STEPS as f64 / start.elapsed().as_secs_f64()
        };
        Self((0..200).map(|_| once()).fold(1.0, f64::max))
    }
}

/// Takes time of a core, and not only time: who is put aside meanwhile is not done any sooner.
fn count(steps: u64) {
    for step in 0..steps {
        black_box(step);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn no_more_are_inside_than_there_are_places_and_all_come_out() {
        let control = Control::new(2, Duration::ZERO, Pace(1.0));
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        control.enter();
                        let now = inside.fetch_add(1, Ordering::SeqCst) + 1;
                        most.fetch_max(now, Ordering::SeqCst);
                        thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        control.leave();
                    }
                });
            }
        });
        assert!(most.into_inner() <= 2);
        let places = control.places.lock();
        assert_eq!((places.free, places.waiting.len()), (2, 0));
    }

    #[test]
    fn the_first_who_waits_is_called_first() {
        let control = Control::new(1, Duration::ZERO, Pace(1.0));
        control.enter();
        let order = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for place in 0..4 {
                let (control, order) = (&control, &order);
                scope.spawn(move || {
                    control.enter();
                    order.lock().push(place);
                    control.leave();
                });
                while control.places.lock().waiting.len() <= place {
                    thread::yield_now();
                }
            }
            control.leave();
        });
        assert_eq!(order.into_inner(), [0, 1, 2, 3]);
    }
}
