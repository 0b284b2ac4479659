//! A pool that grows, shrinks, closes, and is asked by very many.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cornu_pool::{PoolError, Size};

use crate::pool::{LONG, SOON, pool};

#[test]
fn who_waits_is_served_when_the_pool_grows() {
    let pool = pool(1);
    let held = pool.reader(SOON).unwrap();
    thread::scope(|scope| {
        let waiters: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| pool.reader(LONG).map(|guard| guard.number).unwrap()))
            .collect();
        while pool.metrics().readers.waiting < 2 {
            thread::yield_now();
        }
        pool.resize(Size::readers(2).unwrap());
        for waiter in waiters {
            assert!(waiter.join().unwrap() > 1);
        }
    });
    drop(held);
    let metrics = pool.metrics().readers;
    assert_eq!((metrics.size, metrics.in_use, metrics.opened), (2, 0, 2));
    let all = (pool.reader(SOON).unwrap(), pool.reader(SOON).unwrap());
    assert!(pool.reader(SOON).is_err());
    drop(all);
}

#[test]
fn a_pool_that_shrinks_closes_what_is_free_and_later_what_comes_back() {
    let pool = pool(4);
    let mut held: Vec<_> = (0..4).map(|_| pool.reader(SOON).unwrap()).collect();
    let closed = || pool.manager().closed.load(Ordering::SeqCst);
    drop(held.pop());
    pool.resize(Size::readers(2).unwrap());
    assert_eq!((pool.metrics().readers.size, closed()), (2, 1));
    // Three are out and two may be: nothing is lent, and the first that comes back is closed.
    assert!(pool.reader(SOON).is_err());
    drop(held.pop());
    assert_eq!(closed(), 2);
    assert!(pool.reader(SOON).is_err());
    drop(held.pop());
    assert_eq!(closed(), 2);
    drop(pool.reader(SOON).unwrap());
    // Smaller and larger again while something is out: it stays.
    pool.resize(Size::readers(1).unwrap());
    pool.resize(Size::readers(3).unwrap());
    drop(held);
    let all: Vec<_> = (0..3).map(|_| pool.reader(SOON).unwrap()).collect();
    assert!(pool.reader(SOON).is_err());
    drop(all);
    assert_eq!(pool.metrics().readers.in_use, 0);
}

#[test]
fn closing_sends_waiters_away_and_waits_for_what_is_out() {
    let pool = pool(2);
    let (one, other) = (pool.reader(SOON).unwrap(), pool.reader(SOON).unwrap());
    drop(pool.writer(SOON).unwrap());
    thread::scope(|scope| {
        let waiter = scope.spawn(|| pool.reader(LONG).map(drop));
        while pool.metrics().readers.waiting < 1 {
            thread::yield_now();
        }
        let start = Instant::now();
        assert_eq!(pool.close(SOON), 2);
        let gone = PoolError::Closed {
            pool: "test.db".to_owned(),
        };
        assert_eq!(waiter.join().unwrap(), Err(gone.clone()));
        assert!(start.elapsed() < LONG);
        assert_eq!(pool.writer(LONG).map(drop), Err(gone));
        // One comes back by itself, the other while it is waited for.
        drop(one);
        scope.spawn(move || {
            thread::sleep(SOON);
            drop(other);
        });
        assert_eq!(pool.close(LONG), 0);
    });
    assert_eq!(pool.manager().closed.load(Ordering::SeqCst), 3);
}

#[test]
fn what_was_thrown_away_is_counted_when_it_is_replaced() {
    let pool = pool(2);
    for _ in 0..3 {
        pool.reader(SOON).unwrap().mark_broken();
    }
    let metrics = pool.metrics().readers;
    assert_eq!(
        (metrics.opened, metrics.discarded, metrics.replaced),
        (3, 3, 2)
    );
    drop(pool.reader(SOON).unwrap());
    assert_eq!(pool.metrics().readers.replaced, 3);
}

#[test]
fn waits_are_counted_by_their_length() {
    let pool = pool(1);
    for _ in 0..5 {
        drop(pool.reader(SOON).unwrap());
    }
    let held = pool.reader(SOON).unwrap();
    assert!(pool.reader(SOON).is_err());
    drop(held);
    let metrics = pool.metrics().readers;
    assert_eq!(metrics.waits.count(), 7);
    assert_eq!(metrics.waits.at_most(0.8), Some(Duration::from_micros(1)));
    assert!(metrics.waits.at_most(1.0).unwrap() > SOON);
    assert!(metrics.longest_wait >= SOON);
    let shown: u64 = metrics.waits.iter().map(|(_, count)| count).sum();
    assert_eq!(shown, 7);
}

/// Ten thousand at once: each is served once, in turn, and nobody waits much longer than the whole
/// takes. In short form: clients are few threads each of which stands for many.
#[test]
fn ten_thousand_clients_are_all_served() {
    const THREADS: usize = 500;
    const EACH: usize = 20;
    let pool = pool(2);
    let (served, out) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            let builder = thread::Builder::new().stack_size(128 * 1024);
            let client = || {
                for _ in 0..EACH {
                    let guard = pool.reader(LONG * 3).unwrap();
                    assert!(out.fetch_add(1, Ordering::SeqCst) < 2);
                    thread::yield_now();
                    out.fetch_sub(1, Ordering::SeqCst);
                    drop(guard);
                    served.fetch_add(1, Ordering::SeqCst);
                }
            };
            builder.spawn_scoped(scope, client).unwrap();
        }
    });
    let took = start.elapsed();
    assert_eq!(served.into_inner(), THREADS * EACH);
    let metrics = pool.metrics().readers;
    assert_eq!(
        (metrics.in_use, metrics.waiting, metrics.timeouts),
        (0, 0, 0)
    );
    assert!(metrics.opened <= 2 && metrics.longest_wait <= took);
}

/// In full: `cargo test -p cornu-pool -- --ignored`.
#[test]
#[ignore = "10,000 threads at once"]
fn ten_thousand_threads_wait_at_once() {
    const THREADS: usize = 10_000;
    let pool = pool(2);
    let served = AtomicUsize::new(0);
    thread::scope(|scope| {
        let held = (pool.reader(SOON).unwrap(), pool.reader(SOON).unwrap());
        for _ in 0..THREADS {
            let builder = thread::Builder::new().stack_size(64 * 1024);
            let client = || {
                drop(pool.reader(LONG * 6).unwrap());
                served.fetch_add(1, Ordering::SeqCst);
            };
            builder.spawn_scoped(scope, client).unwrap();
        }
        while pool.metrics().readers.waiting < THREADS {
            thread::yield_now();
        }
        drop(held);
    });
    assert_eq!(served.into_inner(), THREADS);
    assert_eq!(pool.metrics().readers.timeouts, 0);
}
