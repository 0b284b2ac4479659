//! Every order in which a few threads can take their steps.

use std::sync::Arc;
use std::time::Duration;

use cornu_core::{Fingerprint, Principal, View};
use loom::thread;

use crate::cache::{CacheKey, CacheOptions, Scope, SemanticVectorCache, Weigh};

struct Number(u32);

impl Weigh for Number {
    fn bytes(&self) -> usize {
        4
    }
}

const LONG: Duration = Duration::from_secs(60);

fn key(question: &str) -> CacheKey {
    let name = Arc::new(Fingerprint::new("model"));
    let view = View::resolve(&Principal::public(), 1, []);
    CacheKey::new(Scope::new(&view, &name, 1, &name), question)
}

/// One shard, so that everything meets; room for `entries` of these.
fn cache(entries: usize) -> Arc<SemanticVectorCache<Number>> {
    Arc::new(SemanticVectorCache::new(&CacheOptions {
        bytes: entries * (key("a").bytes() + 64 + 4),
        shards: 1,
        ..CacheOptions::default()
    }))
}

fn ask(
    cache: &SemanticVectorCache<Number>,
    question: &str,
    computed: Result<u32, ()>,
) -> Result<u32, ()> {
    let value = cache.get_or_compute(&key(question), LONG, |_| true, || computed.map(Number));
    value.map(|value| value.0)
}

/// Two ask the same: one value, computed once, and both end.
#[test]
fn two_who_ask_the_same_get_one_value() {
    loom::model(|| {
        let cache = cache(4);
        let other = Arc::clone(&cache);
        let thread = thread::spawn(move || ask(&other, "a", Ok(1)));
        let mine = ask(&cache, "a", Ok(2));
        assert_eq!(thread.join().unwrap(), mine);
        let metrics = cache.metrics();
        assert_eq!((metrics.misses, metrics.hits + metrics.joined), (1, 1));
    });
}

/// One of two fails: it alone has the error, the other its own value, and nobody waits for ever.
#[test]
fn a_failure_leaves_the_other_with_a_value() {
    loom::model(|| {
        let cache = cache(4);
        let other = Arc::clone(&cache);
        let thread = thread::spawn(move || ask(&other, "a", Err(())));
        assert_eq!(ask(&cache, "a", Ok(2)), Ok(2));
        // It failed, or it came when the value was there or on its way.
        assert!(matches!(thread.join().unwrap(), Err(()) | Ok(2)));
        assert_eq!(ask(&cache, "a", Ok(3)), Ok(2));
    });
}

/// A cache with room for one, and two that push each other out: each gets its own.
#[test]
fn entries_that_push_each_other_out_are_not_mixed_up() {
    loom::model(|| {
        let cache = cache(1);
        let other = Arc::clone(&cache);
        let thread = thread::spawn(move || (ask(&other, "b", Ok(2)), ask(&other, "a", Ok(1))));
        assert_eq!(ask(&cache, "a", Ok(1)), Ok(1));
        assert_eq!(ask(&cache, "b", Ok(2)), Ok(2));
        assert_eq!(thread.join().unwrap(), (Ok(2), Ok(1)));
        assert_eq!(cache.metrics().entries, 1);
    });
}
