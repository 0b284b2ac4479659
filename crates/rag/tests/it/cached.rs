//! The cache in the journey of a query: the same bytes, never another's, never an old state's.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cornu::core::testing::proptest::prelude::*;
use cornu::core::{Embeddings, ProviderError};
use cornu::pool::{CacheMetrics, CacheOptions, SimilarOptions};
use cornu::text::{StopWords, Tokenizer};
use cornu::{
    Acl, Document, EmbeddingProvider, Fingerprint, LiveRagIndex, Principal, RagOptions,
    SameQuestion, Threshold,
};

use crate::suite::caught;
use crate::world::{
    Home, World, Write, cases, document, grants, holder, options, provider, scenario,
};

fn cached() -> RagOptions {
    RagOptions {
        cache: Some(CacheOptions::default()),
        ..options()
    }
}

/// The same file, with a cache.
fn beside(home: &Home, options: RagOptions) -> LiveRagIndex {
    let path = home.folder.path().join("index.db");
    LiveRagIndex::open(path, provider(), options).unwrap()
}

/// Everything that can be asked, as bytes.
fn all_of(index: &LiveRagIndex, who: &Principal, question: &str, k: usize) -> String {
    let dense = index.search_dense(who, question, k).unwrap();
    let sparse = index.search_sparse(who, question, k).unwrap();
    let hybrid = index.search_hybrid(who, question, k).unwrap();
    let trace = index.explain(who, question, k).unwrap();
    let answers: String = [-1.0, 0.2, 0.5]
        .into_iter()
        .map(|value| {
            let threshold = Threshold::by_hand(value, index.provider()).unwrap();
            index.answer(who, question, &threshold).unwrap().to_json()
        })
        .collect();
    let searches = [dense, sparse, hybrid].map(|found| found.to_json());
    format!("{}{trace}{answers}", searches.concat())
}

fn sum(index: &LiveRagIndex) -> CacheMetrics {
    let (dense, sparse) = index.cache_metrics().unwrap();
    let mut sum = dense;
    sum.hits += sparse.hits;
    sum.misses += sparse.misses;
    sum.refused_hidden += sparse.refused_hidden;
    sum
}

#[test]
fn a_question_asked_again_is_not_searched_again() {
    let home = Home::with(cached());
    let guide = document(
        "guide.md",
        "Call zero_grad before backward.\n",
        Acl::public(),
    );
    home.index.ingest(&guide).unwrap();
    let reader = Principal::public();
    let first = home.index.search_hybrid(&reader, "zero_grad", 3).unwrap();
    assert_eq!((sum(&home.index).misses, sum(&home.index).hits), (2, 0));
    for question in ["zero_grad", " zero_grad\n"] {
        assert_eq!(
            home.index.search_hybrid(&reader, question, 3).unwrap(),
            first
        );
    }
    assert_eq!((sum(&home.index).misses, sum(&home.index).hits), (2, 4));
    home.index.forget_questions();
    home.index.search_hybrid(&reader, "zero_grad", 3).unwrap();
    assert_eq!(sum(&home.index).misses, 4);
    assert!(Home::new().index.cache_metrics().is_none());
}

proptest! {
    #![proptest_config(cases(16))]

    /// With and without a cache, through any history, whoever asks in whatever order, asked once
    /// and again, in a cache that is small: the same bytes.
    #[test]
    fn no_byte_depends_on_the_cache(scenario in scenario(), small in any::<bool>()) {
        let home = Home::new();
        let mut options = cached();
        if small {
            options.cache = Some(CacheOptions { bytes: 6000, shards: 1, ..CacheOptions::default() });
        }
        let index = beside(&home, options);
        let everybody: Principal = scenario.writes.iter().filter_map(|write| match write {
            Write::Ingest(document) => Some(document.acl().grants().cloned()),
            Write::Remove(_) => None,
        }).flatten().collect();
        for write in &scenario.writes {
            match write {
                Write::Ingest(document) => { home.index.ingest(document).unwrap(); }
                Write::Remove(id) => { home.index.remove(id).unwrap(); }
            }
            for who in [&everybody, &scenario.principal, &Principal::public()] {
                let plain = all_of(&home.index, who, &scenario.question, 3);
                prop_assert_eq!(&plain, &all_of(&index, who, &scenario.question, 3));
                prop_assert_eq!(&plain, &all_of(&index, who, &scenario.question, 3));
            }
        }
        prop_assert_eq!(sum(&index).refused_hidden, 0);
    }
}

/// The suite of non-interference sees a cache that does not have the view in its key.
#[test]
fn a_cache_by_question_alone_is_caught() {
    let leak = |world: &World, who: &Principal, question: &str| {
        let mut by_question: BTreeMap<String, String> = BTreeMap::new();
        for asker in [&world.owner(), who] {
            by_question.entry(question.to_owned()).or_insert_with(|| {
                let found = world.home.index.search_hybrid(asker, question, 3);
                found.unwrap().to_json()
            });
        }
        by_question.remove(question).unwrap()
    };
    assert!(caught(&leak) > 0);
}

fn version(at: usize) -> [Document; 3] {
    let text = |side: &str| format!("# State\n\nThe {side} half is at version {at}.\n");
    [
        document("a.md", &text("left"), Acl::public()),
        document("b.md", &text("right"), Acl::public()),
        document("c.md", &text("hidden"), grants(["hr"])),
    ]
}

/// While somebody writes, a cached answer is, byte for byte, that of an index which holds what the
/// asker sees of one state and nothing else; and never of a state before the last one that was
/// committed when the question was asked.
#[test]
fn cached_answers_beside_a_writer_are_those_of_the_present_state_and_view() {
    const QUESTION: &str = "Which half is at what version?";
    const LAST: usize = 116;
    let askers = [
        Principal::public(),
        holder(["public", "hr"]),
        holder(["sales"]),
    ];
    let expected: Vec<BTreeMap<String, usize>> = askers
        .iter()
        .map(|who| {
            let of = |at: usize| {
                let seen: Vec<Document> = version(at)
                    .into_iter()
                    .filter(|document| document.acl().admits(who))
                    .collect();
                (all_of(&Home::holding(&seen).index, who, QUESTION, 3), at)
            };
            (100..=LAST).map(of).collect()
        })
        .collect();
    let home = Home::with(cached());
    home.index.ingest_all(&version(100), |_| {}).unwrap();
    let committed = AtomicUsize::new(100);
    std::thread::scope(|scope| {
        for (who, expected) in askers.iter().zip(&expected).cycle().take(6) {
            let (home, committed) = (&home, &committed);
            scope.spawn(move || {
                loop {
                    let before = committed.load(Ordering::SeqCst);
                    let hybrid = home.index.search_hybrid(who, QUESTION, 3).unwrap();
                    let after = committed.load(Ordering::SeqCst);
                    let found = expected
                        .iter()
                        .filter(|(bytes, _)| bytes.contains(&hybrid.to_json()));
                    let states: Vec<usize> = found.map(|(_, at)| *at).collect();
                    // Who sees nothing gets the same of every state.
                    assert!(
                        states.iter().any(|at| (before..=after + 1).contains(at))
                            || (who.grants().all(|grant| grant.as_str() == "sales")
                                && !states.is_empty()),
                        "{before}..={after}: {states:?} {}",
                        hybrid.to_json()
                    );
                    if before == LAST {
                        let bytes = all_of(&home.index, who, QUESTION, 3);
                        assert!(expected.contains_key(&bytes));
                        break;
                    }
                }
            });
        }
        for at in 101..=LAST {
            home.index.ingest_all(&version(at), |_| {}).unwrap();
            committed.store(at, Ordering::SeqCst);
        }
    });
    let counts = sum(&home.index);
    assert!(counts.hits > 0 && counts.misses > 0, "{counts:?}");
    assert_eq!(counts.refused_hidden, 0);
}

fn payroll() -> Document {
    document("payroll.md", "张三的薪资是每月三万元。\n", grants(["hr"]))
}

const SALARY: &str = "张三的薪资是多少？";

fn answered(index: &LiveRagIndex, who: &Principal, question: &str) -> Option<String> {
    let threshold = Threshold::by_hand(0.2, index.provider()).unwrap();
    let response = index.answer(who, question, &threshold).unwrap();
    response.outcome.answer().map(ToString::to_string)
}

/// With the second level on, at a threshold that everything reaches.
fn loose() -> RagOptions {
    RagOptions {
        cache: Some(CacheOptions {
            similar: Some(SimilarOptions::new(-1.0, |_: &str, _: &str| true)),
            ..CacheOptions::default()
        }),
        ..options()
    }
}

/// PC-09: what Alice of hr was told is not told to Bob, at any similarity.
#[test]
fn pc_09_bob_does_not_get_alices_answer() {
    let home = Home::with(loose());
    home.index.ingest(&payroll()).unwrap();
    let handbook = document("handbook.md", "工资每月十日发放。\n", Acl::public());
    home.index.ingest(&handbook).unwrap();
    let (alice, bob) = (holder(["hr", "public"]), Principal::public());
    assert!(
        answered(&home.index, &alice, SALARY)
            .unwrap()
            .contains("三万")
    );
    for question in [SALARY, "张三的工资是多少？"] {
        let bobs = home.index.search_hybrid(&bob, question, 10).unwrap();
        assert!(!bobs.to_json().contains("payroll"));
        assert!(
            !answered(&home.index, &bob, question)
                .unwrap_or_default()
                .contains("三万")
        );
    }
    assert_eq!(sum(&home.index).refused_hidden, 0);
}

/// PC-10: whose cache is read follows from the principal; what a request says of groups is text.
#[test]
fn pc_10_a_request_cannot_name_its_groups() {
    let home = Home::with(loose());
    home.index.ingest(&payroll()).unwrap();
    assert!(answered(&home.index, &holder(["hr"]), SALARY).is_some());
    let sales = holder(["sales"]);
    for question in [
        SALARY.to_owned(),
        format!("{{\"groups\": [\"hr\"]}} {SALARY}"),
        format!("hr\u{0}{SALARY}"),
    ] {
        assert!(answered(&home.index, &sales, &question).is_none());
        let found = home.index.search_hybrid(&sales, &question, 5).unwrap();
        assert!(found.hits.is_empty());
    }
}

/// PC-12: an answer does not outlive the document it cites.
#[test]
fn pc_12_a_changed_or_removed_document_is_answered_anew() {
    let home = Home::with(cached());
    let who = Principal::public();
    let limit = |days: u32| {
        let text = format!("The limit of leave is {days} days a year.\n");
        document("policy.md", &text, Acl::public())
    };
    let ask = || answered(&home.index, &who, "limit of leave");
    home.index.ingest(&limit(10)).unwrap();
    assert!(ask().unwrap().contains("10 days"));
    assert!(ask().unwrap().contains("10 days"));
    home.index.ingest(&limit(20)).unwrap();
    let second = ask().unwrap();
    assert!(second.contains("20 days") && !second.contains("10 days"));
    home.index.remove(limit(20).id()).unwrap();
    assert_eq!(ask(), None);
}

/// PC-19: who loses a group loses what was found for it.
#[test]
fn pc_19_a_group_that_is_lost_is_lost_at_once() {
    let home = Home::with(loose());
    home.index.ingest(&payroll()).unwrap();
    assert!(answered(&home.index, &holder(["hr", "staff"]), SALARY).is_some());
    assert!(answered(&home.index, &holder(["staff"]), SALARY).is_none());
    // And the other way round: the document changes hands.
    let moved = document(
        "payroll.md",
        "张三的薪资是每月三万元。\n",
        grants(["board"]),
    );
    home.index.ingest(&moved).unwrap();
    assert!(answered(&home.index, &holder(["hr", "staff"]), SALARY).is_none());
}

/// PC-20: a refusal is forgotten when the document comes.
#[test]
fn pc_20_a_refusal_is_not_kept() {
    let home = Home::with(cached());
    let hr = holder(["hr"]);
    let other = document("other.md", "Weather of yesterday.\n", grants(["hr"]));
    home.index.ingest(&other).unwrap();
    for _ in 0..2 {
        assert_eq!(answered(&home.index, &hr, SALARY), None);
    }
    home.index.ingest(&payroll()).unwrap();
    assert!(answered(&home.index, &hr, SALARY).unwrap().contains("三万"));
}

/// A provider that fails when told to, and counts.
struct Moody {
    within: Arc<dyn EmbeddingProvider>,
    asked: AtomicUsize,
    down: std::sync::atomic::AtomicBool,
}

impl EmbeddingProvider for Moody {
    fn dimension(&self) -> usize {
        self.within.dimension()
    }
    fn fingerprint(&self) -> &Fingerprint {
        self.within.fingerprint()
    }
    fn embed_counted(&self, texts: &[&str]) -> Result<Embeddings, ProviderError> {
        self.within.embed_counted(texts)
    }
    fn embed_query(&self, text: &str) -> Result<ndarray::Array1<f32>, ProviderError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.down.load(Ordering::SeqCst) {
            return Err(ProviderError::Unavailable {
                provider: "moody".to_owned(),
                reason: "down".to_owned(),
                remedy: "wait".to_owned(),
            });
        }
        self.within.embed_query(text)
    }
}

/// PC-20: an error is not kept either, and a kept question needs no provider.
#[test]
fn pc_20_an_error_is_not_kept_and_a_hit_asks_no_model() {
    let folder = tempfile::tempdir().unwrap();
    let moody = Arc::new(Moody {
        within: provider(),
        asked: AtomicUsize::new(0),
        down: true.into(),
    });
    let path = folder.path().join("index.db");
    let index = LiveRagIndex::open(path, moody.clone(), cached()).unwrap();
    let page = document("a.md", "some words\n", Acl::public());
    index.ingest(&page).unwrap();
    let ask = || index.search_hybrid(&Principal::public(), "words", 3);
    assert!(ask().is_err() && ask().is_err());
    moody.down.store(false, Ordering::SeqCst);
    let found = ask().unwrap();
    assert_eq!(found.hits.len(), 1);
    moody.down.store(true, Ordering::SeqCst);
    assert_eq!(ask().unwrap(), found);
    assert_eq!(moody.asked.load(Ordering::SeqCst), 3);
}

/// Another process commits: the epoch is read from the file.
#[test]
fn a_commit_through_another_handle_is_seen() {
    let home = Home::with(cached());
    let other = beside(&home, options());
    let page = |text: &str| document("a.md", text, Acl::public());
    home.index.ingest(&page("the old words\n")).unwrap();
    let ask = || {
        let found = home.index.search_sparse(&Principal::public(), "words", 3);
        found.unwrap().hits[0].chunk.text.clone()
    };
    assert!(ask().contains("old"));
    other.ingest(&page("the new words\n")).unwrap();
    assert!(ask().contains("new"));
}

/// Threads of rayon's that ask the same at once do not wait for one another.
#[test]
fn rayon_threads_that_ask_the_same_do_not_hang() {
    use rayon::prelude::*;
    let home = Home::with(cached());
    let pages: Vec<Document> = (0..40)
        .map(|at| {
            document(
                &format!("{at:02}.md"),
                &format!("page {at} of words\n"),
                Acl::public(),
            )
        })
        .collect();
    home.index.ingest_all(&pages, |_| {}).unwrap();
    for round in 0..10 {
        let question = format!("words of page {round}");
        let found: Vec<String> = (0..8)
            .into_par_iter()
            .map(|_| {
                let found = home.index.search_hybrid(&Principal::public(), &question, 5);
                found.unwrap().to_json()
            })
            .collect();
        assert!(found.iter().all(|one| *one == found[0]));
    }
}

/// A similar question lends its candidates, never its scores: the cosines are the asker's own.
#[test]
fn a_similar_question_lends_candidates_and_no_scores() {
    let tokenizer = Tokenizer::builder().stop_words(StopWords::Common).build();
    let similar = SimilarOptions::new(-1.0, SameQuestion::new(tokenizer));
    let lending = RagOptions {
        cache: Some(CacheOptions {
            similar: Some(similar),
            ..CacheOptions::default()
        }),
        ..options()
    };
    let home = Home::with(lending);
    let plain = beside(&home, options());
    let pages: Vec<Document> = (0..6)
        .map(|at| {
            let text = format!("Gradients are cleared by step {at}.\n");
            document(&format!("{at}.md"), &text, Acl::public())
        })
        .collect();
    home.index.ingest_all(&pages, |_| {}).unwrap();
    let who = Principal::public();
    for (question, lent) in [
        ("How are the gradients cleared?", 0),
        ("How do I clear gradients that were cleared?", 1),
        ("How are gradients not cleared?", 1),
    ] {
        let found = home.index.search_dense(&who, question, 6).unwrap();
        let (dense, sparse) = home.index.cache_metrics().unwrap();
        assert_eq!(
            (dense.similar_hits, sparse.similar_hits),
            (lent, 0),
            "{question} {dense:?}"
        );
        // All six are candidates, so the scores and their order are those of a search.
        assert_eq!(found, plain.search_dense(&who, question, 6).unwrap());
    }
    assert!(home.index.cache_metrics().unwrap().0.refused_similar > 0);
}

/// What was lent is not lent on: from question to question the candidates would drift away.
#[test]
fn candidates_that_were_lent_are_not_lent_on() {
    let number = |question: &str| question.split(' ').next().unwrap().parse::<i32>().unwrap();
    let neighbours = move |one: &str, other: &str| (number(one) - number(other)).abs() == 1;
    let home = Home::with(RagOptions {
        cache: Some(CacheOptions {
            similar: Some(SimilarOptions::new(-1.0, neighbours)),
            ..CacheOptions::default()
        }),
        ..options()
    });
    let page = document("a.md", "some words\n", Acl::public());
    home.index.ingest(&page).unwrap();
    for (question, lent) in [
        ("1 word", 0),
        ("2 words", 1),
        ("3 words", 1),
        ("4 words", 2),
    ] {
        let who = Principal::public();
        home.index.search_dense(&who, question, 3).unwrap();
        let (dense, _) = home.index.cache_metrics().unwrap();
        assert_eq!(dense.similar_hits, lent, "{question}");
    }
}
