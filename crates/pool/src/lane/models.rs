//! The orders in which a few threads can take their steps. Time stands still, so each model runs
//! three times: a free place waits for whom it was called for; it waits for nobody; and there is none,
//! since each that comes back is given away.

use std::time::Duration;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::{Lane, Manners, Missed};

const LONG: Duration = Duration::from_secs(60);

/// Switches of threads at other points than where one blocks; with more, the largest of the models
/// takes minutes.
const PREEMPTIONS: usize = 3;

fn all(model: impl Fn(Manners) + Send + Sync + Clone + 'static) {
    const NEVER: Duration = Duration::MAX;
    for (grace, courtesy) in [
        (NEVER, NEVER),
        (Duration::ZERO, NEVER),
        (NEVER, Duration::ZERO),
    ] {
        let model = model.clone();
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(PREEMPTIONS);
        builder.check(move || model(Manners { grace, courtesy }));
    }
}

/// Takes a place, makes sure that no more than `places` are out, and gives it back.
fn visit(lane: &Lane<u32>, out: &AtomicUsize, places: usize) -> bool {
    match lane.take(LONG) {
        Ok(place) => {
            assert!(out.fetch_add(1, Ordering::SeqCst) < places);
            out.fetch_sub(1, Ordering::SeqCst);
            assert!(lane.put(place.or(Some(7)), true).is_none());
            true
        }
        Err(Missed::Closed) => false,
        Err(Missed::Late { .. }) => unreachable!("time stands still"),
    }
}

/// Nobody sleeps on while a place is free, and no place is lent twice.
#[test]
fn everybody_is_served() {
    all(|manners| {
        let lane = Arc::new((Lane::new(1, manners), AtomicUsize::new(0)));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let lane = Arc::clone(&lane);
                thread::spawn(move || assert!(visit(&lane.0, &lane.1, 1)))
            })
            .collect();
        assert!(visit(&lane.0, &lane.1, 1));
        for thread in threads {
            thread.join().unwrap();
        }
        let metrics = lane.0.metrics();
        assert_eq!((metrics.in_use, metrics.waiting), (0, 0));
        assert_eq!(metrics.waits.count(), 3);
    });
}

/// Two places come back while two wait, and neither gives theirs back before both have one: the
/// signal for one does not stand for both.
#[test]
fn two_places_serve_two_who_wait() {
    all(|manners| {
        let lane = Arc::new(Lane::new(2, manners));
        let first = lane.take(LONG).ok().unwrap();
        let second = lane.take(LONG).ok().unwrap();
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let lane = Arc::clone(&lane);
                thread::spawn(move || lane.take(LONG).ok().unwrap())
            })
            .collect();
        for place in [first, second] {
            assert!(lane.put(place.or(Some(7)), true).is_none());
        }
        for thread in threads {
            let place = thread.join().unwrap();
            assert!(lane.put(place, true).is_none());
        }
        assert_eq!(lane.metrics().in_use, 0);
    });
}

/// One who takes and returns again and again, and one who waits for the place: both end.
#[test]
fn one_who_comes_again_and_one_who_waits() {
    all(|manners| {
        let lane = Arc::new((Lane::new(1, manners), AtomicUsize::new(0)));
        let other = Arc::clone(&lane);
        let thread = thread::spawn(move || assert!(visit(&other.0, &other.1, 1)));
        for _ in 0..2 {
            assert!(visit(&lane.0, &lane.1, 1));
        }
        thread.join().unwrap();
        assert_eq!(lane.0.metrics().in_use, 0);
    });
}

/// A lane that is closed while one waits, one holds and the place comes back: whoever got it gives
/// it back, the other is sent away, and all places are waited for.
#[test]
fn closing_beside_a_loan_and_a_waiter() {
    all(|manners| {
        let lane = Arc::new(Lane::<u32>::new(1, manners));
        let held = lane.take(LONG).ok().unwrap();
        let other = Arc::clone(&lane);
        let waiter = thread::spawn(move || match other.take(LONG) {
            Ok(place) => assert!(other.put(place, true).is_none()),
            Err(missed) => assert!(matches!(missed, Missed::Closed)),
        });
        let other = Arc::clone(&lane);
        let closer = thread::spawn(move || assert!(other.close().is_empty()));
        assert!(lane.put(held, true).is_none());
        closer.join().unwrap();
        assert_eq!(lane.wait_for_all(std::time::Instant::now()), 0);
        waiter.join().unwrap();
        assert!(matches!(lane.take(LONG), Err(Missed::Closed)));
    });
}

/// A lane that grows beside one who waits.
#[test]
fn growing_serves_who_waits() {
    all(|manners| {
        let lane = Arc::new(Lane::<u32>::new(1, manners));
        let held = lane.take(LONG).ok().unwrap();
        let other = Arc::clone(&lane);
        let waiter = thread::spawn(move || {
            let place = other.take(LONG).ok().unwrap();
            assert!(other.put(place, true).is_none());
        });
        assert!(lane.resize(2).is_empty());
        waiter.join().unwrap();
        assert!(lane.put(held, true).is_none());
        let metrics = lane.metrics();
        assert_eq!((metrics.size, metrics.in_use), (2, 0));
    });
}
