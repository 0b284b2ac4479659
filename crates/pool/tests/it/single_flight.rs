//! One computation when many ask the same at once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cornu_pool::{CacheOptions, SemanticVectorCache};

use crate::cache::{Kept, key};

const LONG: Duration = Duration::from_secs(30);

fn cache() -> SemanticVectorCache<Kept> {
    SemanticVectorCache::new(&CacheOptions::default())
}

/// Until somebody waits or has passed by: followers cannot be seen from outside, so they get time.
fn pause() {
    thread::sleep(Duration::from_millis(60));
}

#[test]
fn many_who_ask_the_same_at_once_compute_it_once() {
    let (cache, computed, ready) = (cache(), AtomicUsize::new(0), Barrier::new(32));
    thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| {
                ready.wait();
                let value = cache.get_or_compute(
                    &key("q"),
                    LONG,
                    |_| true,
                    || {
                        computed.fetch_add(1, Ordering::SeqCst);
                        pause();
                        Ok::<_, ()>(Kept("value".to_owned()))
                    },
                );
                assert_eq!(value.unwrap().0, "value");
            });
        }
    });
    assert_eq!(computed.into_inner(), 1);
    let metrics = cache.metrics();
    assert_eq!((metrics.misses, metrics.hits + metrics.joined), (1, 31));
}

/// The first one fails, by `end`; how many of the eight then computed, and how long all took.
fn first_fails(end: impl Fn() -> Result<Kept, String> + Sync) -> (usize, Duration) {
    let (cache, computed, leads) = (cache(), AtomicUsize::new(0), Barrier::new(2));
    let start = Instant::now();
    thread::scope(|scope| {
        let leader = scope.spawn(|| {
            catch_unwind(AssertUnwindSafe(|| {
                cache.get_or_compute(
                    &key("q"),
                    LONG,
                    |_| true,
                    || {
                        leads.wait();
                        pause();
                        end()
                    },
                )
            }))
        });
        leads.wait();
        let followers: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let value = cache.get_or_compute(
                        &key("q"),
                        LONG,
                        |_| true,
                        || {
                            computed.fetch_add(1, Ordering::SeqCst);
                            Ok::<_, String>(Kept("value".to_owned()))
                        },
                    );
                    value.unwrap().0.clone()
                })
            })
            .collect();
        for follower in followers {
            assert_eq!(follower.join().unwrap(), "value");
        }
        assert!(!matches!(leader.join().unwrap(), Ok(Ok(_))));
    });
    (computed.into_inner(), start.elapsed())
}

#[test]
fn a_leader_that_panics_hangs_nobody() {
    let (computed, took) = first_fails(|| panic!("in the middle of a search"));
    assert!((1..=8).contains(&computed) && took < LONG);
}

/// An error is the leader's own: the others do not get it, and do not queue up behind one another
/// to get theirs.
#[test]
fn a_leader_that_fails_gives_its_error_to_nobody_else() {
    let (computed, took) = first_fails(|| Err("down".to_owned()));
    assert!((1..=8).contains(&computed) && took < LONG);
}

#[test]
fn a_follower_whose_patience_ends_computes_for_itself() {
    let (cache, leads, over) = (cache(), Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            let value = cache.get_or_compute(
                &key("q"),
                LONG,
                |_| true,
                || {
                    leads.wait();
                    over.wait();
                    Ok::<_, ()>(Kept("slow".to_owned()))
                },
            );
            assert_eq!(value.unwrap().0, "slow");
        });
        leads.wait();
        for patience in [Duration::ZERO, Duration::from_millis(5)] {
            let quick = || Ok::<_, ()>(Kept("quick".to_owned()));
            let value = cache.get_or_compute(&key("q"), patience, |_| true, quick);
            assert_eq!(value.unwrap().0, "quick");
            cache.clear();
        }
        over.wait();
    });
}

/// Two that lead and ask for each other's would wait for ever.
#[test]
fn who_leads_does_not_wait() {
    let (cache, both) = (cache(), Barrier::new(2));
    let start = Instant::now();
    thread::scope(|scope| {
        for (mine, other) in [("a", "b"), ("b", "a")] {
            let (cache, both) = (&cache, &both);
            scope.spawn(move || {
                let value = cache.get_or_compute(
                    &key(mine),
                    LONG,
                    |_| true,
                    || {
                        both.wait();
                        let inner = || Ok::<_, ()>(Kept(other.to_owned()));
                        let inner = cache.get_or_compute(&key(other), LONG, |_| true, inner)?;
                        assert_eq!(inner.0, other);
                        both.wait();
                        Ok::<_, ()>(Kept(mine.to_owned()))
                    },
                );
                assert_eq!(value.unwrap().0, mine);
            });
        }
    });
    assert!(start.elapsed() < LONG);
}

/// Everything at once, in a cache so small that entries come and go: whatever is given is the
/// key's own, and nobody hangs.
#[test]
fn a_crowd_over_a_small_cache_gets_each_its_own() {
    let options = CacheOptions {
        bytes: 3000,
        shards: 2,
        ..CacheOptions::default()
    };
    let cache = SemanticVectorCache::new(&options);
    let failures = AtomicUsize::new(0);
    thread::scope(|scope| {
        for thread in 0..8_usize {
            let (cache, failures) = (&cache, &failures);
            scope.spawn(move || {
                for round in 0..400_usize {
                    let name = ((thread * 7 + round * round) % 23).to_string();
                    let asked = catch_unwind(AssertUnwindSafe(|| {
                        cache.get_or_compute(
                            &key(&name),
                            LONG,
                            |kept: &Kept| kept.0 == name,
                            || match round % 50 {
                                17 => Err("down"),
                                33 => panic!("planned"),
                                _ => Ok(Kept(name.clone())),
                            },
                        )
                    }));
                    match asked {
                        Ok(Ok(value)) => assert_eq!(value.0, name),
                        _ => {
                            failures.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                }
            });
        }
    });
    let metrics = cache.metrics();
    assert_eq!(metrics.refused_hidden, 0);
    assert!(
        metrics.bytes <= 3000 && metrics.evictions > 0,
        "{metrics:?}"
    );
    assert!(failures.into_inner() <= 8 * 16);
}
