//! The cache by itself: what is given to whom, for how long, within how many bytes.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cornu_core::{Acl, ContentHash, DocId, Fingerprint, Principal, View, ViewEntry};
use cornu_pool::{
    CacheKey, CacheOptions, Clock, Scope, SemanticVectorCache, SimilarOptions, Weigh, normalised,
};
use proptest::prelude::*;

/// A value that says for which question it was computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept(pub(crate) String);

impl Weigh for Kept {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.0.len()
    }
}

pub(crate) fn view(documents: &[&str], epoch: u64) -> View {
    let ids: Vec<DocId> = documents
        .iter()
        .map(|name| DocId::new(name).unwrap())
        .collect();
    let (content, acl) = (ContentHash::of(b""), Acl::public());
    let entries = ids.iter().zip(0..).map(|(id, ordinal)| ViewEntry {
        ordinal,
        id,
        content: &content,
        acl: &acl,
    });
    View::resolve(&Principal::public(), epoch, entries)
}

pub(crate) fn scope(epoch: u64) -> Scope {
    let name = Arc::new(Fingerprint::new("test"));
    Scope::new(&view(&["a.md"], epoch), &name, 10, &name)
}

pub(crate) fn key(question: &str) -> CacheKey {
    CacheKey::new(scope(1), question)
}

type Cache<S> = SemanticVectorCache<Kept, S>;

/// The value for the key; computed ones name the question.
fn ask<S: BuildHasher>(cache: &Cache<S>, key: &CacheKey) -> String {
    let compute = || Ok::<_, ()>(Kept(key.question().to_owned()));
    let value = cache.get_or_compute(key, Duration::ZERO, |_| true, compute);
    value.unwrap().0.clone()
}

fn held<S: BuildHasher>(cache: &Cache<S>, key: &CacheKey) -> Option<String> {
    cache.get(key, |_| true).map(|kept| kept.0.clone())
}

/// Every key meets every other.
#[derive(Default)]
struct OneHash;

impl Hasher for OneHash {
    fn finish(&self) -> u64 {
        42
    }
    fn write(&mut self, _: &[u8]) {}
}

fn one_hash(options: &CacheOptions) -> Cache<BuildHasherDefault<OneHash>> {
    SemanticVectorCache::with_hasher(options, BuildHasherDefault::default())
}

#[test]
fn the_same_question_is_computed_once() {
    let cache = SemanticVectorCache::new(&CacheOptions::default());
    for _ in 0..3 {
        assert_eq!(ask(&cache, &key("How?")), "How?");
    }
    let metrics = cache.metrics();
    assert_eq!((metrics.misses, metrics.hits, metrics.entries), (1, 2, 1));
    assert_eq!(metrics.hit_rate(), Some(2.0 / 3.0));
    cache.clear();
    assert_eq!(held(&cache, &key("How?")), None);
    assert_eq!((cache.metrics().entries, cache.metrics().bytes), (0, 0));
}

/// PC-15: case and inner white space are part of a question.
#[test]
fn pc_15_only_white_space_around_and_composition_are_folded() {
    let different = ["US 政策", "us 政策", "grep -E 'A  B'", "grep -E 'A B'"];
    let cache = SemanticVectorCache::new(&CacheOptions::default());
    for question in different {
        assert_eq!(ask(&cache, &key(question)), question);
    }
    assert_eq!((cache.metrics().misses, cache.metrics().hits), (4, 0));
    for same in [" US 政策", "US 政策\n", "\u{3000}US 政策"] {
        assert_eq!(ask(&cache, &key(same)), "US 政策");
    }
    assert_eq!(key("cafe\u{301}"), key("caf\u{e9}"));
    // Compatibility forms are other characters: ² is not 2.
    assert_ne!(normalised("m²"), normalised("m2"));
    assert_eq!(cache.metrics().misses, 4);
}

/// PC-16: parts that would join to the same text stay apart, and where two keys do meet in their
/// hash, the whole key decides.
#[test]
fn pc_16_parts_do_not_run_together_and_a_collision_is_a_miss() {
    let name = Arc::new(Fingerprint::new("model"));
    let joined = |setting: &str, question: &str| {
        let settings = Arc::new(Fingerprint::new("search").with("by", setting));
        CacheKey::new(Scope::new(&view(&[], 1), &name, 10, &settings), question)
    };
    let (one, other) = (joined("a:b", "c"), joined("a", "b:c"));
    assert_ne!(one, other);
    let cache = one_hash(&CacheOptions::default());
    for _ in 0..3 {
        assert_eq!(ask(&cache, &one), "c");
        assert_eq!(held(&cache, &other), None);
        assert_eq!(ask(&cache, &other), "b:c");
        assert_eq!(held(&cache, &one), None);
    }
    let metrics = cache.metrics();
    assert_eq!((metrics.misses, metrics.hits, metrics.entries), (6, 0, 1));
    assert!(metrics.collisions >= 6, "{metrics:?}");
}

/// Each part of the scope alone makes another key.
#[test]
fn every_part_of_the_key_counts() {
    let name = |name: &str| Arc::new(Fingerprint::new(name));
    let (model, settings, seen) = (name("m"), name("s"), view(&["a.md"], 1));
    let base = Scope::new(&seen, &model, 10, &settings);
    let others = [
        Scope::new(&view(&["a.md", "b.md"], 1), &model, 10, &settings),
        Scope::new(&view(&["a.md"], 2), &model, 10, &settings),
        Scope::new(&seen, &name("m2"), 10, &settings),
        Scope::new(&seen, &model, 11, &settings),
        Scope::new(&seen, &model, 10, &name("s2")),
    ];
    let cache = one_hash(&CacheOptions::default());
    assert_eq!(ask(&cache, &CacheKey::new(base.clone(), "q")), "q");
    for other in others {
        assert_eq!(held(&cache, &CacheKey::new(other, "q")), None);
    }
    assert!(held(&cache, &CacheKey::new(base, "q")).is_some());
}

/// PC-09, PC-10, PC-19: a view is not named by who asks but resolved from what he may see, and no
/// similarity reaches across views: not even the same vector and a guard that takes everything.
#[test]
fn pc_09_pc_10_pc_19_no_similarity_crosses_a_view() {
    let options = CacheOptions {
        similar: Some(SimilarOptions::new(-1.0, |_: &str, _: &str| true)),
        ..CacheOptions::default()
    };
    let cache = SemanticVectorCache::new(&options);
    let name = Arc::new(Fingerprint::new("test"));
    let of = |documents: &[&str], question: &str| {
        CacheKey::new(Scope::new(&view(documents, 1), &name, 3, &name), question)
    };
    let alice = of(&["payroll.md", "guide.md"], "张三的薪资是多少？");
    ask(&cache, &alice);
    cache.introduce(&alice, &[1.0, 0.0]);
    let bob = of(&["guide.md"], "张三的工资是多少？");
    assert!(cache.similar(&bob, &[1.0, 0.0], |_| true).is_none());
    // Alice herself, asking in other words.
    let again = of(&["payroll.md", "guide.md"], "张三的工资是多少？");
    let found = cache.similar(&again, &[1.0, 0.0], |_| true);
    assert_eq!(found.unwrap().0, "张三的薪资是多少？");
    // And once she has lost the group.
    let left = of(&["guide.md"], "张三的薪资是多少？");
    assert_eq!(held(&cache, &left), None);
    assert!(cache.similar(&left, &[1.0, 0.0], |_| true).is_none());
}

#[test]
fn the_second_level_needs_threshold_and_guard_and_is_off_by_default() {
    let guard = |asked: &str, kept: &str| asked.contains('2') == kept.contains('2');
    let on = CacheOptions {
        similar: Some(SimilarOptions::new(0.9, guard)),
        ..CacheOptions::default()
    };
    let off = SemanticVectorCache::new(&CacheOptions::default());
    let cache = SemanticVectorCache::new(&on);
    for cache in [&off, &cache] {
        ask(cache, &key("budget of 2023"));
        cache.introduce(&key("budget of 2023"), &[1.0, 0.0]);
    }
    let similar = |cache: &Cache<_>, question: &str, vector: [f32; 2], seen: bool| {
        let found = cache.similar(&key(question), &vector, |_| seen);
        found.map(|kept| kept.0.clone())
    };
    assert_eq!(similar(&off, "the budget of 2023", [1.0, 0.0], true), None);
    assert_eq!(
        similar(&cache, "the budget of 2023", [0.96, 0.28], true),
        Some("budget of 2023".to_owned())
    );
    assert_eq!(
        similar(&cache, "the budget of 2023", [0.8, 0.6], true),
        None
    );
    assert_eq!(similar(&cache, "the budget", [1.0, 0.0], true), None);
    assert_eq!(
        similar(&cache, "the budget of 2023", [1.0, 0.0], false),
        None
    );
    let metrics = cache.metrics();
    assert_eq!(
        (
            metrics.similar_hits,
            metrics.refused_similar,
            metrics.refused_hidden
        ),
        (1, 1, 1)
    );
    // What is not kept any more is not found either.
    cache.clear();
    assert_eq!(
        similar(&cache, "the budget of 2023", [1.0, 0.0], true),
        None
    );
}

/// What the asker does not see is not given, whatever the key says, and is computed anew.
#[test]
fn a_hit_is_checked_again() {
    let cache = SemanticVectorCache::new(&CacheOptions::default());
    ask(&cache, &key("q"));
    let fresh = || Ok::<_, ()>(Kept("fresh".to_owned()));
    let seen = |kept: &Kept| kept.0 == "fresh";
    let value = cache.get_or_compute(&key("q"), Duration::ZERO, seen, fresh);
    assert_eq!(value.unwrap().0, "fresh");
    assert_eq!(held(&cache, &key("q")), Some("fresh".to_owned()));
    assert!(cache.get(&key("q"), |_| false).is_none());
    assert_eq!(held(&cache, &key("q")), None);
    assert_eq!(cache.metrics().refused_hidden, 2);
}

/// PC-20: an error is not an answer to the next one who asks.
#[test]
fn pc_20_errors_are_not_kept() {
    let cache = SemanticVectorCache::new(&CacheOptions::default());
    for _ in 0..2 {
        let failed = cache.get_or_compute(&key("q"), Duration::ZERO, |_| true, || Err("down"));
        assert_eq!(failed.unwrap_err(), "down");
    }
    assert_eq!(ask(&cache, &key("q")), "q");
    assert_eq!(cache.metrics().misses, 3);
}

#[derive(Default)]
struct Hands(AtomicU64);

impl Clock for Hands {
    fn now(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::SeqCst))
    }
}

#[test]
fn what_is_too_old_goes_and_a_clock_that_is_set_back_keeps_nothing_longer() {
    let hands = Arc::new(Hands::default());
    let options = CacheOptions {
        ttl: Some(Duration::from_secs(60)),
        clock: hands.clone(),
        ..CacheOptions::default()
    };
    let cache = SemanticVectorCache::new(&options);
    let at = |seconds| hands.0.store(seconds, Ordering::SeqCst);
    at(10_000);
    ask(&cache, &key("q"));
    at(10_059);
    assert!(held(&cache, &key("q")).is_some());
    at(10_060);
    assert!(held(&cache, &key("q")).is_none());
    ask(&cache, &key("q"));
    // An hour back: an entry of the future would otherwise live for an hour and a minute.
    at(10_060 - 3600);
    assert!(held(&cache, &key("q")).is_none());
    ask(&cache, &key("q"));
    assert!(held(&cache, &key("q")).is_some());
    at(u64::MAX);
    assert!(held(&cache, &key("q")).is_none());
    assert_eq!(cache.metrics().expired, 3);
}

#[test]
fn what_is_asked_often_stays_when_much_is_asked_once() {
    let options = CacheOptions {
        bytes: 20_000,
        shards: 1,
        ..CacheOptions::default()
    };
    let cache = SemanticVectorCache::new(&options);
    for round in 0..2000 {
        ask(&cache, &key("often"));
        ask(&cache, &key(&format!("once {round}")));
    }
    let metrics = cache.metrics();
    assert!(metrics.bytes <= 20_000, "{metrics:?}");
    assert!(metrics.evictions > 1500, "{metrics:?}");
    assert_eq!(metrics.hits, 1999, "{metrics:?}");
}

#[test]
fn what_is_larger_than_a_shard_is_given_and_not_kept() {
    for bytes in [0, 500] {
        let options = CacheOptions {
            bytes,
            shards: 1,
            ..CacheOptions::default()
        };
        let cache = SemanticVectorCache::new(&options);
        let long = "long ".repeat(100);
        assert_eq!(ask(&cache, &key(&long)), long.trim());
        let metrics = cache.metrics();
        assert_eq!((metrics.entries, metrics.too_large), (0, 1));
    }
}

#[derive(Clone, Debug)]
enum Step {
    Ask { question: u8, epoch: u64 },
    Look { question: u8, epoch: u64 },
    Hide { question: u8 },
    Clear,
    Turn(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0_u8..12, 0_u64..3).prop_map(|(question, epoch)| Step::Ask { question, epoch }),
        4 => (0_u8..12, 0_u64..3).prop_map(|(question, epoch)| Step::Look { question, epoch }),
        1 => (0_u8..12).prop_map(|question| Step::Hide { question }),
        1 => Just(Step::Clear),
        2 => (0_u64..200).prop_map(Step::Turn),
    ];
    proptest::collection::vec(step, 1..120)
}

/// Few hashes, so that keys meet.
#[derive(Clone)]
struct Few(std::hash::RandomState);

impl BuildHasher for Few {
    type Hasher = FewOf;
    fn build_hasher(&self) -> FewOf {
        FewOf(self.0.build_hasher())
    }
}

struct FewOf(std::hash::DefaultHasher);

impl Hasher for FewOf {
    fn finish(&self) -> u64 {
        (self.0.finish() % 5) << 32
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Against a table that remembers everything: whatever the cache gives is the latest value of
    /// that very key, and it never holds more than it may.
    #[test]
    fn whatever_is_given_is_the_keys_own_and_the_bytes_stay_within_the_limit(
        steps in steps(), bytes in 0_usize..4000, shards in 0_usize..4, limited in any::<bool>()
    ) {
        let hands = Arc::new(Hands::default());
        let options = CacheOptions {
            bytes,
            shards,
            ttl: limited.then_some(Duration::from_secs(50)),
            clock: hands.clone(),
            ..CacheOptions::default()
        };
        let cache: Cache<Few> = SemanticVectorCache::with_hasher(&options, Few(std::hash::RandomState::new()));
        let mut latest: HashMap<CacheKey, (String, u64)> = HashMap::new();
        let keyed = |question: u8, epoch: u64| CacheKey::new(scope(epoch), &question.to_string());
        for (version, step) in steps.into_iter().enumerate() {
            let now = hands.0.load(Ordering::SeqCst);
            let young = |since: u64| !limited || (since <= now && now < since + 50);
            match step {
                Step::Ask { question, epoch } => {
                    let key = keyed(question, epoch);
                    let mut computed = None;
                    let given = cache.get_or_compute(&key, Duration::ZERO, |_| true, || {
                        let value = format!("{question} {epoch} {version}");
                        computed = Some(value.clone());
                        Ok::<_, ()>(Kept(value))
                    }).unwrap();
                    if let Some(value) = computed {
                        latest.insert(key, (value, now));
                    } else {
                        let (value, since) = &latest[&key];
                        prop_assert_eq!(&given.0, value);
                        prop_assert!(young(*since));
                    }
                }
                Step::Look { question, epoch } => {
                    let key = keyed(question, epoch);
                    if let Some(given) = held(&cache, &key) {
                        let (value, since) = &latest[&key];
                        prop_assert_eq!(&given, value);
                        prop_assert!(young(*since));
                    }
                }
                Step::Hide { question } => {
                    let key = keyed(question, 0);
                    prop_assert!(cache.get(&key, |_| false).is_none());
                    prop_assert!(held(&cache, &key).is_none());
                }
                Step::Clear => cache.clear(),
                Step::Turn(to) => hands.0.store(to, Ordering::SeqCst),
            }
            let metrics = cache.metrics();
            prop_assert!(metrics.bytes <= bytes, "{:?}", metrics);
        }
    }
}

#[test]
fn any_number_of_parts_will_do() {
    for shards in [0, 1, 1_000_000_000, usize::MAX] {
        let options = CacheOptions {
            shards,
            ..CacheOptions::default()
        };
        let cache = SemanticVectorCache::new(&options);
        for question in ["a", "b", "a"] {
            assert_eq!(ask(&cache, &key(question)), question);
        }
        assert_eq!(cache.metrics().hits, 1, "{shards}");
    }
}

/// A product says how similar two questions are where both vectors are of norm 1.
#[test]
fn vectors_that_are_not_of_norm_1_find_nothing_and_are_not_found() {
    let options = CacheOptions {
        similar: Some(SimilarOptions::new(0.9, |_: &str, _: &str| true)),
        ..CacheOptions::default()
    };
    let cache: Cache<_> = SemanticVectorCache::new(&options);
    let odd: [&[f32]; 6] = [
        &[f32::INFINITY, 0.0],
        &[f32::NAN, 0.0],
        &[7.0, 7.0],
        &[0.0, 0.0],
        &[],
        &[0.6, 0.8, 0.0],
    ];
    for (at, vector) in odd.iter().enumerate() {
        let odd = key(&format!("odd {at}"));
        ask(&cache, &odd);
        cache.introduce(&odd, vector);
    }
    let similar = |vector: &[f32]| {
        let found = cache.similar(&key("asked"), vector, |_| true);
        found.map(|kept| kept.0.clone())
    };
    assert_eq!(similar(&[1.0, 0.0]), None);
    let good = key("good");
    ask(&cache, &good);
    cache.introduce(&good, &[1.0, 0.0]);
    assert_eq!(similar(&[1.0, 0.0]), Some("good".to_owned()));
    for vector in odd {
        assert_eq!(
            similar(vector),
            if vector.len() == 3 {
                Some("odd 5".to_owned())
            } else {
                None
            }
        );
    }
}
