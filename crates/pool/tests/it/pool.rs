//! The pool under threads, panics and deadlines.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cornu_pool::{Manager, PoolError, Role, Size, ThreadSafeVecPool};

/// Numbers its connections from 1; fails, or recycles nothing, when told to.
#[derive(Default)]
pub(crate) struct Numbered {
    opened: AtomicUsize,
    pub(crate) closed: Arc<AtomicUsize>,
    refuse: AtomicBool,
    cannot_recycle: AtomicBool,
}

pub(crate) struct Connection {
    pub(crate) number: usize,
    dirty: bool,
    pub(crate) closed: Arc<AtomicUsize>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.closed.fetch_add(1, Ordering::SeqCst);
    }
}

impl Manager for Numbered {
    type Connection = Connection;
    type Error = String;

    fn open(&self, role: Role) -> Result<Connection, String> {
        if self.refuse.load(Ordering::SeqCst) {
            return Err(format!("no {role} today"));
        }
        Ok(Connection {
            number: self.opened.fetch_add(1, Ordering::SeqCst) + 1,
            dirty: false,
            closed: Arc::clone(&self.closed),
        })
    }

    fn recycle(&self, connection: &mut Connection) -> bool {
        connection.dirty = false;
        !self.cannot_recycle.load(Ordering::SeqCst)
    }
}

pub(crate) const SOON: Duration = Duration::from_millis(20);
pub(crate) const LONG: Duration = Duration::from_secs(20);

pub(crate) fn pool(readers: usize) -> ThreadSafeVecPool<Numbered> {
    ThreadSafeVecPool::new(
        "test.db",
        Numbered::default(),
        Size::readers(readers).unwrap(),
    )
}

#[test]
fn connections_are_opened_once_and_reused() {
    let pool = pool(3);
    for _ in 0..10 {
        assert_eq!(pool.reader(SOON).unwrap().number, 1);
    }
    let (first, second) = (pool.reader(SOON).unwrap(), pool.reader(SOON).unwrap());
    assert_eq!((first.number, second.number), (1, 2));
    assert_eq!(pool.metrics().readers.in_use, 2);
    drop((first, second));
    let metrics = pool.metrics();
    assert_eq!((metrics.readers.in_use, metrics.readers.opened), (0, 2));
    assert_eq!(metrics.writer.opened, 0);
}

/// PC-07: who holds a connection and asks for another is told, in the configured time.
#[test]
fn pc_07_nested_borrow_ends_in_an_error_that_names_the_pool() {
    let pool = pool(1);
    let held = pool.reader(SOON).unwrap();
    let start = Instant::now();
    let Err(PoolError::Timeout {
        pool: name,
        role,
        in_use,
        waiting,
        waited,
    }) = pool.reader(SOON)
    else {
        panic!("a second reader of a pool of one");
    };
    assert!(waited >= SOON && start.elapsed() < LONG);
    assert_eq!(
        (name.as_str(), role, in_use, waiting),
        ("test.db", Role::Reader, 1, 0)
    );
    assert_eq!(pool.metrics().readers.timeouts, 1);
    drop(held);
    assert!(pool.reader(SOON).is_ok());
}

#[test]
fn pc_07_four_threads_that_nest_four_connections_do_not_hang() {
    let pool = pool(4);
    let errors = thread::scope(|scope| {
        let nest = || {
            let _outer = pool.reader(LONG).unwrap();
            thread::sleep(SOON);
            pool.reader(SOON).is_err()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(nest)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect::<Vec<_>>()
    });
    assert_eq!(errors.len(), 4);
    assert!(errors.contains(&true));
    assert_eq!(pool.metrics().readers.in_use, 0);
}

/// Waiters that arrive one after another are served one after another, and a thread that takes
/// and returns without pause cannot starve them: it has the pool for the courtesy of the lane at
/// most (whose bound is a property there), and the eight are served before their time is over.
#[test]
fn waiters_are_served_in_order_of_arrival() {
    let pool = pool(1);
    let served = parking_lot::Mutex::new(Vec::new());
    thread::scope(|scope| {
        let held = pool.reader(SOON).unwrap();
        for place in 0..8 {
            let (pool, served) = (&pool, &served);
            scope.spawn(move || {
                let guard = pool.reader(LONG).unwrap();
                served.lock().push(place);
                thread::sleep(Duration::from_millis(1));
                drop(guard);
            });
            while pool.metrics().readers.waiting <= place {
                thread::yield_now();
            }
        }
        drop(held);
        while served.lock().len() < 8 {
            drop(pool.reader(LONG).unwrap());
        }
    });
    assert_eq!(*served.lock(), (0..8).collect::<Vec<_>>());
}

#[test]
fn pc_01_the_connection_of_a_thread_that_panicked_is_thrown_away() {
    let pool = pool(1);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut reader = pool.reader(SOON).unwrap();
        reader.dirty = true;
        panic!("in the middle of a transaction");
    }));
    assert!(panicked.is_err());
    let next = pool.reader(SOON).unwrap();
    assert_eq!((next.number, next.dirty), (2, false));
    assert_eq!(pool.metrics().readers.discarded, 1);
    assert_eq!(pool.manager().closed.load(Ordering::SeqCst), 1);
}

#[test]
fn pc_02_what_cannot_be_recycled_is_replaced_and_the_pool_recovers() {
    let pool = pool(1);
    pool.manager().cannot_recycle.store(true, Ordering::SeqCst);
    for number in 1..=50 {
        assert_eq!(pool.writer(SOON).unwrap().number, number);
    }
    pool.manager().cannot_recycle.store(false, Ordering::SeqCst);
    for _ in 0..50 {
        assert_eq!(pool.writer(SOON).unwrap().number, 51);
    }
    assert_eq!(pool.metrics().writer.discarded, 50);
}

#[test]
fn a_connection_marked_broken_is_replaced() {
    let pool = pool(1);
    pool.reader(SOON).unwrap().mark_broken();
    assert_eq!(pool.reader(SOON).unwrap().number, 2);
}

#[test]
fn a_connection_that_cannot_be_opened_costs_no_place() {
    let pool = pool(1);
    pool.manager().refuse.store(true, Ordering::SeqCst);
    for _ in 0..5 {
        assert_eq!(
            pool.writer(SOON).unwrap_err(),
            PoolError::Open("no writer today".to_owned())
        );
    }
    pool.manager().refuse.store(false, Ordering::SeqCst);
    assert!(pool.writer(SOON).is_ok());
    assert_eq!(pool.metrics().writer.in_use, 0);
}

#[test]
fn there_is_one_writer_beside_the_readers() {
    let pool = pool(2);
    let writer = pool.writer(SOON).unwrap();
    assert!(pool.writer(SOON).is_err());
    let _readers = (pool.reader(SOON).unwrap(), pool.reader(SOON).unwrap());
    drop(writer);
    assert!(pool.writer(SOON).is_ok());
}

/// Timeouts and hand-overs race; no place is lost and none is there twice.
#[test]
fn no_place_is_lost_when_deadlines_meet_returns() {
    let pool = pool(2);
    let out = AtomicUsize::new(0);
    let (taken, late) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for round in 0..300 {
                    match pool.reader(Duration::from_micros(round % 60)) {
                        Ok(_guard) => {
                            assert!(out.fetch_add(1, Ordering::SeqCst) < 2);
                            thread::sleep(Duration::from_micros(20));
                            out.fetch_sub(1, Ordering::SeqCst);
                            taken.fetch_add(1, Ordering::SeqCst);
                        }
                        Err(PoolError::Timeout { .. }) => {
                            late.fetch_add(1, Ordering::SeqCst);
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    assert_eq!(taken.into_inner() + late.into_inner(), 2400);
    let metrics = pool.metrics().readers;
    assert_eq!((metrics.in_use, metrics.waiting), (0, 0));
    let _all = (pool.reader(SOON).unwrap(), pool.reader(SOON).unwrap());
}
